// hone tune --dry-run: what would be tuned, and what it would cost in time and disk.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>

#include "base/file.h"
#include "base/text.h"
#include "cli/tune_options.h"
#include "output/json_text.h"
#include "output/screen.h"
#include "output/table.h"
#include "output/tuning_summary.h"
#include "plan/work_plan.h"
#include "tune/program_tuning.h"
#include "tune/services/session_steps.h"

namespace hone::cli {
namespace {

using enum output::Align;

// Part of the budget that measuring the defaults may take.
constexpr double kWeighing = 0.5;
// Time of a run beside its budget (docs/commands.md, "Budgets").
constexpr double kBeside = 0.25, kSecondsBeside = 60;
constexpr std::size_t kMostDispatches = 20;

std::string state_of(plan::State state) {
  switch (state) {
    case plan::State::kWaiting:
      return "tuned";
    case plan::State::kLeftOut:
      return "no budget left";
    case plan::State::kBeyond:
      return "below --coverage or --top";
    case plan::State::kFinished:
      break;
  }
  return "finished before";
}

// A row per dispatch, the largest share of the time first.
output::Table plan_table(const plan::WorkPlan& plan, double budget) {
  output::Table table({{"dispatch", "dispatch"},
                       {"share_percent", "share", kRight},
                       {"gain_percent", "can save", kRight},
                       {"seconds", "time for it", kRight},
                       {"plan", "plan"}});
  std::vector<std::size_t> places(plan.items().size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
  std::ranges::stable_sort(places, std::greater(),
                           [&](std::size_t i) { return plan.items()[i].weight.share; });
  for (const std::size_t i : places) {
    const plan::Item& item = plan.items()[i];
    const bool is_tuned = item.state == plan::State::kWaiting;
    table.add(
        {{item.name, ""},
         output::number_cell(100 * plan.share_of(i), " %", 1),
         output::number_cell(100 * item.weight.gain / plan.time(), " %", 1),
         output::time_cell(is_tuned ? std::optional(plan.seconds_for(i, budget)) : std::nullopt),
         {state_of(item.state), ""}});
  }
  return table;
}

struct PlanCost {
  double seconds = 0;      // at most, proof included
  double candidates = 0;   // at most, all dispatches together
  double store_bytes = 0;  // that these add to the store
};

std::uintmax_t bytes_of(const std::string& store) {
  std::uintmax_t bytes = 0;
  for (const char* const part : {"", "-wal"}) {
    std::error_code code;
    if (const auto size = std::filesystem::file_size(store + part, code); !code) bytes += size;
  }
  return bytes;
}

// Scales what the defaults took: each is one compile, and one artifact in the store.
PlanCost cost_of(const ProgramSession& session, double grown_bytes, std::size_t tuned) {
  const tune::Options& tuning = session.options.tuning;
  double compile_seconds = 0;
  std::size_t compiled = 0;
  for (const trial::TimeRow& row : session.context.state->time.rows()) {
    if (row.of != trial::kCompilingTime) continue;
    compile_seconds += row.seconds;
    compiled = std::max(compiled, row.count);
  }
  PlanCost cost{.seconds = (1 + kBeside) * tuning.budget_seconds + kSecondsBeside};
  if (compiled == 0 || compile_seconds <= 0) return cost;
  const auto count = static_cast<double>(compiled);
  cost.candidates =
      tuning.budget_seconds * static_cast<double>(tuning.compile_jobs) / (compile_seconds / count);
  if (tuning.candidates)
    cost.candidates = std::min(
        cost.candidates, static_cast<double>(*tuning.candidates * std::max<std::size_t>(1, tuned)));
  cost.store_bytes = cost.candidates * grown_bytes / count;
  return cost;
}

void print(const ProgramSession& session, const tune::ProgramTuning& program,
           const plan::WorkPlan& plan, const PlanCost& cost) {
  const std::size_t width = std::min(output::screen_width(), output::kSummaryWidth);
  const double budget = session.options.tuning.budget_seconds;
  const std::size_t tuned = plan.count(plan::State::kWaiting);
  const double gain = plan.gain() / plan.time();
  std::string text = fmt::format(
      "{} of {} dispatches would be tuned ({:.0f} % of the time) with --budget {}\n", tuned,
      plan.items().size(),
      100 * (1 - plan.share_of(plan::State::kLeftOut) - plan.share_of(plan::State::kBeyond)),
      plan::as_budget(budget));
  text += fmt::format("gain:       at most {:.2f}x, if all of them ran at this machine's peak\n",
                      1 / std::max(1e-3, 1 - gain));
  text += fmt::format("detectable: differences above {:.1f} %, at this machine's noise\n",
                      100 * session.context.state->noise);
  text += fmt::format("time:       at most {}, proof included, and one compile and call more\n",
                      format_duration(cost.seconds));
  if (cost.candidates > 0)
    text += fmt::format("disk:       at most {:.0f} MB in {} ({:.0f} candidates)\n",
                        std::ceil(cost.store_bytes / 1e6), session.options.store, cost.candidates);
  if (const std::string enough = plan.sufficient_budget(budget, 1); !enough.empty())
    text += fmt::format("budget:     too small for all of them; --budget {} would do\n", enough);
  fmt::print("{}\n{}\n{}", output::wrapped(text, width, "            "),
             plan_table(plan, budget).first_text(kMostDispatches, width, " (--json)"),
             output::skipped_text(program.result().not_tuned, width));
}

}  // namespace

CommandResult print_tuning_plan(ProgramSession& session,
                                const std::vector<problem::SizeSet>& sizes) {
  if (sizes.size() > 1)
    return input_error("--dry-run plans for one set of sizes: give each --dim one size");
  tune::Context& context = session.context;
  const tune::Options& tuning = session.options.tuning;
  const auto before = static_cast<double>(bytes_of(session.options.store));
  tune::begin_budget(context);
  tune::ProgramTuning program(context, sizes.front(), "");
  HONE_ASSIGN(std::string bytes, read_file(tuning.input));
  HONE_TRY(program.load(std::make_shared<const std::string>(std::move(bytes))));
  store::Run row = run_row(session.options);
  row.program = program.result().program_id;
  HONE_ASSIGN(row.id, context.store.begin_run(row));
  Status done;
  if (const Result<tune::MachineCheck> machine = tune::look_at_machine(context); !machine)
    done = tl::unexpected(machine.error());
  if (done) done = program.weigh(kWeighing * tuning.budget_seconds, row);
  session.status.clear();
  HONE_TRY(tune::end_run(context, done));
  plan::WorkPlan plan = program.plan();
  plan.deal(tuning.budget_seconds);
  const double grown = static_cast<double>(bytes_of(session.options.store)) - before;
  const PlanCost cost = cost_of(session, std::max(0.0, grown), plan.count(plan::State::kWaiting));
  if (session.options.json)
    output::print_document({{"program", tuning.input},
                            {"budget_seconds", tuning.budget_seconds},
                            {"noise", context.state->noise},
                            {"most_seconds", cost.seconds},
                            {"candidates", cost.candidates},
                            {"store_bytes", cost.store_bytes},
                            {"dispatches", plan_table(plan, tuning.budget_seconds).to_json()}});
  else
    print(session, program, plan, cost);
  return 0;
}

}  // namespace hone::cli
