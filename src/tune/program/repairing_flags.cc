#include "tune/program/repairing_flags.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/file.h"
#include "plan/policy.h"
#include "tune/program/flag_search.h"
#include "tune/services/load_program.h"

namespace hone::tune {
namespace {

// Begins to compile the program under each choice, where that neither disturbs nor takes too much
// memory.
void begin_to_compile(Context& context, const std::string& bytes,
                      std::span<const provider::FlagChoice> choices) {
  if (context.options.traits().compiling_disturbs ||
      bytes.size() * choices.size() > plan::kCompileBytesAtOnce)
    return;
  for (const provider::FlagChoice& each : choices)
    context.compiler.prefetch_compile(
        {context.options.input, bytes, joined(context.options.flags, each.flags)});
}

}  // namespace

Result<std::optional<RepairingFlags>> find_repair(Context& context, const problem::Program& program,
                                                  const std::string& bytes,
                                                  const problem::Function& function,
                                                  const problem::GivenSizes& given) {
  const auto span = context.spend(trial::Activity::kProgram);
  HONE_ASSIGN(std::vector<provider::FlagChoice> choices, choices_with_files(context, program));
  std::erase_if(choices, [](const provider::FlagChoice& each) { return !each.why_not.empty(); });
  // Regions put other operations in the place of those that the compiler fails at.
  const auto others = std::ranges::stable_partition(choices, [](const provider::FlagChoice& each) {
    return each.changes == provider::DispatchChange::kRegions;
  });
  const std::string why_default_fails = context.state->default_failure;
  if (!choices.empty() && !context.options.traits().compiling_disturbs)
    context.compiler.prefetch_compile_in_f32(
        {context.options.input, bytes, context.options.reference_flags});
  std::optional<RepairingFlags> found;
  for (const provider::FlagChoice& choice : choices) {
    if (!context.state->deadline.has(context.state->deadline.next_compile())) continue;
    if (!others.empty() && choice.name == others.front().name)
      begin_to_compile(context, bytes, others);
    if (choice.changes == provider::DispatchChange::kRegions &&
        !context.options.traits().compiling_disturbs) {
      const ProgramsToLoad programs = programs_to_load(context, bytes, choice.flags, given);
      context.compiler.prefetch_load(programs.tuned);
      context.compiler.prefetch_load(programs.reference);
    }
    HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-repair-"));
    HONE_ASSIGN(BuildBench builds,
                BuildBench::create(context, program, bytes, function, folder.path()));
    const Status works = builds.add({Build{.label = choice.name, .flags = choice.flags}});
    context.state->default_failure = why_default_fails;
    HONE_TRY(all_but_failure(works));
    if (!works) continue;
    const Result<double> error = builds.error_of_first();
    HONE_TRY(all_but_failure(error));
    RepairingFlags repair{{choice.name, choice.flags}, ""};
    if (!error)
      repair.not_proved = error.error().message;
    else if (!(*error <= plan::kMostErrorOfRepair))
      repair.not_proved = fmt::format(
          "its outputs are off by {:.2g} of them from those of an independent compile", *error);
    if (!found || repair.not_proved.empty()) found = std::move(repair);
    if (found->not_proved.empty()) break;
  }
  return found;
}

}  // namespace hone::tune
