#include "tune/program/program_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "base/file.h"
#include "base/ranges.h"
#include "base/stopwatch.h"
#include "plan/policy.h"
#include "tune/services/given_arguments.h"

namespace hone::tune {
namespace {

constexpr char kEachPlaceOnce[] =
    "branches or loops decide how often kernels are launched, and it is not known: each place in "
    "the program counts once";

// Whether of any two columns one is greater in each row by kFarApart or more.
bool are_far_apart(const std::vector<std::vector<double>>& rows) {
  const std::size_t columns = rows.front().size();
  const auto is_far_above = [&](std::size_t a, std::size_t b) {
    return std::ranges::all_of(
        rows, [&](const std::vector<double>& row) { return row[a] >= plan::kFarApart * row[b]; });
  };
  for (std::size_t a = 0; a < columns; ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (!is_far_above(a, b) && !is_far_above(b, a)) return false;
  return columns > 1;
}

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

Result<std::vector<std::vector<double>>> time_rounds(
    const provider::ProgramRuntime& runtime, const std::vector<provider::ProgramCall>& calls,
    const ProgramRounds& request, Observer& observer) {
  std::vector<std::size_t> order(calls.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 generator(request.seed);
  std::vector<std::vector<double>> times;
  provider::ProgramTimers timers = runtime.timers(calls.front().device);
  const Stopwatch watch;
  std::size_t rounds = request.rounds;
  std::string described;  // before the first round
  for (std::size_t round = 0; round < rounds; ++round) {
    Progress progress;
    progress.stage = Stage::kProgramRounds;
    progress.step = "timing the whole program, round";
    progress.tried = round;
    if (round > 0) {
      const double each = watch.seconds() / static_cast<double>(round);
      const double fit =
          std::clamp(request.most_seconds / each, 1.0, static_cast<double>(request.rounds));
      rounds =
          std::max({static_cast<std::size_t>(fit), std::min(request.least, request.rounds), round});
      if (round == rounds || (round == request.if_far_apart && are_far_apart(times))) break;
      progress.seconds_left = each * static_cast<double>(rounds - round);
    }
    progress.planned = rounds;
    observer.progress(progress);
    if (request.time != nullptr) {
      std::string before = request.time->describe(fmt::format("round {} of {}", round + 1, rounds));
      if (round == 0) described = std::move(before);
    }
    std::shuffle(order.begin(), order.end(), generator);
    // Calls of one round share a process, so that they can be compared. Rounds of several processes
    // show both times, as the user's processes will.
    if (round > 0 && timers.short_calls_vary &&
        std::ranges::min(times.front()) < plan::kSteadyCallSeconds)
      timers = runtime.timers(calls.front().device);
    std::vector<double>& row = times.emplace_back(calls.size());
    for (const std::size_t c : order) {
      HONE_ASSIGN(row[c], timers.programs(calls[c], request.seconds));
    }
  }
  if (request.time != nullptr) request.time->describe(std::move(described));
  return times;
}

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
      context.programs->runtime().timers(context.options.place().address).kernels;
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
