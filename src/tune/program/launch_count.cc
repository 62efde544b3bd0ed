#include "tune/program/launch_count.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/file.h"
#include "base/ranges.h"
#include "tune/services/given_arguments.h"

namespace hone::tune {
namespace {

constexpr char kEachPlaceOnce[] =
    "branches or loops decide how often kernels are launched, and it is not known: each place in "
    "the program counts once";

Result<provider::ProgramTimes> watch_one_call(Context& context, const provider::KernelTimer& timer,
                                              const trial::ProgramToCompile& compiled,
                                              const problem::Function& function) {
  context.observer.progress({.step = "counting launches"});
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-launches-"));
  HONE_ASSIGN(const provider::ProgramCall call,
              compiled_call(context, compiled, function, folder.path()));
  return timer(call, 0);
}

}  // namespace

Result<provider::ProgramCall> compiled_call(Context& context,
                                            const trial::ProgramToCompile& program,
                                            const problem::Function& function,
                                            const std::filesystem::path& folder) {
  const Options& options = context.options;
  provider::ProgramCall call{.module = folder / "program.vmfb",
                             .function = function,
                             .inputs = {},
                             .device = options.place().address,
                             .runtime_flags = options.runtime_flags,
                             .stop_fd = context.stop_fd};
  if (const auto most = context.state->deadline.most_call()) call.most_seconds = *most;
  HONE_ASSIGN(call.inputs, write_argument_files(function, options.inputs, folder, options.seed));
  HONE_ASSIGN(const std::vector<trial::CompiledModule> compiled,
              context.compiler.compile_each({program}));
  const trial::CompiledModule& module = compiled.front();
  if (!module) return failure("the program does not compile: {}", module.error().message);
  HONE_TRY(write_file_atomically(call.module, *module));
  return call;
}

bool has_varying_launches(const problem::Program& program) {
  return std::ranges::any_of(program.dispatches, &problem::Dispatch::launches_vary);
}

void take_launches(const std::vector<provider::KernelTime>& kernels, problem::Program& program) {
  if (kernels.empty()) return;
  std::map<std::string, int> places;
  for (const problem::Dispatch& each : program.dispatches)
    places[each.name] += each.launches_per_call;
  for (problem::Dispatch& each : program.dispatches) {
    if (!each.launches_vary || each.launches_per_call == 0) continue;
    const auto* const kernel = find_by(kernels, each.name, &provider::KernelTime::name);
    if (kernel == nullptr) {
      each.launches_per_call = 0;
      continue;
    }
    const double share = static_cast<double>(each.launches_per_call) / places.at(each.name);
    const double launches = share * static_cast<double>(kernel->launches);
    each.launches_per_call = std::max(1, static_cast<int>(std::lround(launches)));
  }
}

Status count_launches(Context& context, const trial::ProgramToCompile& compiled,
                      const problem::Function& function, problem::Program& program) {
  if (!has_varying_launches(program)) return {};
  const provider::KernelTimer timer =
      context.programs->timers(context.options.place().address).kernels;
  if (!timer) {
    context.note_once(kEachPlaceOnce);
    return {};
  }
  const auto times = watch_one_call(context, timer, compiled, function);
  HONE_TRY(all_but_failure(times));
  if (!times)
    context.note_once("{}: {}", kEachPlaceOnce, times.error().message);
  else
    take_launches(times->kernels, program);
  return {};
}

}  // namespace hone::tune
