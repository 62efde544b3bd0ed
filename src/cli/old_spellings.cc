#include "cli/old_spellings.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace hone::cli {
namespace {

// Flags of tune_gemm, the SDXL scripts and SHARK's tuner, with hone's spellings. Flags with equal
// spellings (-m, --jobs, --compare) are not listed.
constexpr std::pair<std::string_view, std::string_view> kSpellings[] = {
    {"-col_a", "--col-a"},
    {"-col_b", "--col-b"},
    {"-dtype_a", "--dtype-a"},
    {"-dtype_b", "--dtype-b"},
    {"-dtype_c", "--dtype-c"},
    {"--gpu_ids", "--gpu-ids"},
    {"--num_threads", "--num-threads"},
    {"--gemm_size_file", "--gemm-size-file"},
    {"--tuning_results_file", "--tuning-results-file"},
    {"--compare_wo_tuning", "--compare-wo-tuning"},
    {"--init_type", "--init-type"},
    {"--rotating_tensor", "--rotating-tensor"},
    {"--icache_flush", "--icache-flush"},
    {"--bias_vector", "--bias-vector"},
    {"--time_breakdown", "--time-breakdown"},
    {"--no_warmup", "--no-warmup"},
    {"--devices", "--device"},
    {"--num-candidates", "--candidates"},
    {"--max-cpu-workers", "--jobs"},
    {"--model-tuner-num-dispatch-candidates", "--model-candidates"},
    {"--model-tuner-num-model-candidates", "--model-candidates"},
    {"--model-benchmark-flags-file", "--runtime-flags-file"},
    {"--search-space-shuffle-seed", "--seed"},
};

}  // namespace

std::vector<std::string> with_new_spellings(std::vector<std::string> arguments) {
  if (arguments.empty() || arguments.front() != "tune") return arguments;
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    const std::string name = argument.substr(0, argument.find('='));
    const auto found =
        std::ranges::find(kSpellings, name, [](const auto& each) { return each.first; });
    if (found != std::end(kSpellings))
      argument = std::string(found->second) + argument.substr(name.size());
  }
  return arguments;
}

}  // namespace hone::cli
