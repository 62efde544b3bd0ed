#include "cli/core_options.h"

#include <algorithm>

#include "device/cpu/target.h"

namespace hone::cli {

void add_core_options(CLI::App& command, CoreOptions& options) {
  command.add_option("--threads", options.threads, "cores to run on (default: all)")
      ->check(CLI::PositiveNumber);
  command
      .add_option(
          "--cores", options.cores,
          "which ones: 0,1; compiling stays on them too, so that another hone may have the others")
      ->delimiter(',');
}

Result<std::vector<int>> choose_cores(const CoreOptions& options) {
  std::vector<int> available = device::cpu::available_cores();
  if (!options.cores.empty()) {
    for (const int core : options.cores)
      if (std::find(available.begin(), available.end(), core) == available.end())
        return input_error("--cores {}: this process may run on {} only", core,
                           fmt::join(available, ", "));
    return options.cores;
  }
  if (options.threads > static_cast<int>(available.size()))
    return input_error("--threads {}: this process may run on {} cores", options.threads,
                       available.size());
  if (options.threads > 0) available.resize(static_cast<std::size_t>(options.threads));
  return available;
}

}  // namespace hone::cli
