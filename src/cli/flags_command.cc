// hone flags: searches the compiler flags that make a program fastest, before any kernel is tuned.
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "output/json_text.h"
#include "output/screen.h"
#include "output/table.h"
#include "session/places.h"
#include "session/runtime_options.h"
#include "session/sessions.h"
#include "tune/program/flag_search.h"
#include "tune/services/function_choice.h"
#include "tune/services/load_program.h"
#include "tune/services/session_steps.h"

namespace hone::cli {
namespace {

using enum output::Align;

std::string outcome_of(const tune::FlagTrial& trial) {
  if (!trial.failure.empty()) return trial.failure;
  if (!trial.same_as.empty()) return fmt::format("unchanged (same code as '{}')", trial.same_as);
  return trial.known ? "of an earlier run" : "";
}

// Lists the fastest first, and flags without a time last.
output::Table table_of(const tune::FoundFlags& found) {
  output::Table table({{"variant", "flags of"},
                       {"speedup", "speedup", kRight},
                       {"seconds", "ms", kRight},
                       {"rounds", "rounds", kRight},
                       {"outcome", ""}});
  std::vector<const tune::FlagTrial*> trials;
  for (const tune::FlagTrial& trial : found.trials) trials.push_back(&trial);
  std::ranges::stable_sort(trials, {}, [](const tune::FlagTrial* trial) {
    return trial->ratio.value_or(std::numeric_limits<double>::infinity());
  });
  for (const tune::FlagTrial* trial : trials) {
    output::Cell speedup{nullptr, "-"}, time = speedup;
    if (trial->ratio) speedup = output::number_cell(1 / *trial->ratio, "x", 2);
    if (trial->ratio && !trial->seconds.empty()) {
      const double fastest = std::ranges::min(trial->seconds);
      time = {fastest, fmt::format("{:.3g}", fastest * 1e3)};
    }
    table.add({{trial->label, ""},
               speedup,
               time,
               {trial->rounds, ""},
               {outcome_of(*trial), output::in_one_line(outcome_of(*trial))}});
  }
  return table;
}

nlohmann::json document_of(const SessionOptions& options, const tune::FoundFlags& found,
                           const std::vector<std::string>& flags) {
  nlohmann::json not_tried = nlohmann::json::array();
  for (const provider::FlagChoice& choice : found.not_tried)
    not_tried.push_back(
        {{"name", choice.name}, {"flags", choice.flags}, {"reason", choice.why_not}});
  const tune::VerifiedBuild best{tune::Build{.label = found.best.name, .flags = found.best.flags}};
  return {{"program", options.tuning.input},
          {"threads", options.tuning.place().address.cores.size()},
          {"best", found.best.name},
          {"compile_flags", flags},
          {"proof", found.verdict ? tune::json_of(*found.verdict, best) : nlohmann::json()},
          {"flags", table_of(found).to_json()},
          {"not_tried", not_tried}};
}

// The verdict first, then the flags that were tried and at most kMostNotTried that were not.
void print(const tune::FoundFlags& found, const std::string& program,
           const std::filesystem::path& file) {
  constexpr std::size_t kMostNotTried = 5;
  const std::size_t width = output::screen_width();
  if (!found.verdict) {
    fmt::print("Nothing is faster than the default flags.\n");
  } else {
    const measure::PairedComparison& gain = found.verdict->chosen.at_sizes.front();
    fmt::print(
        "{}",
        output::wrapped(fmt::format("{}: {}, {:.2f}x the default's speed (95 % CI {:.2f}-{:.2f})\n",
                                    found.best.name, measure::name_of(gain.verdict), 1 / gain.ratio,
                                    1 / gain.interval.high, 1 / gain.interval.low),
                        width));
  }
  fmt::print("use it: {}\n\n{}",
             output::wrapped(
                 fmt::format("iree-compile {} @{}", shell_word(program), shell_word(file.string())),
                 width - std::min<std::size_t>(width, 8), "    ", " \\"),
             table_of(found).to_text(width));
  const std::size_t listed = std::min(found.not_tried.size(), kMostNotTried);
  if (listed > 0) fmt::print("\nnot tried:\n");
  for (std::size_t i = 0; i < listed; ++i)
    fmt::print("{}\n", output::cut_at_end(fmt::format("  {}: {}", found.not_tried[i].name,
                                                      found.not_tried[i].why_not),
                                          width));
  if (found.not_tried.size() > listed)
    fmt::print("  {} more (--json)\n", found.not_tried.size() - listed);
}

CommandResult search_flags(SessionOptions& options) {
  HONE_TRY(read_flags(options.toolchain));
  options.command_line = "hone flags " + shell_word(options.tuning.input);
  if (options.budget.empty()) options.budget = "2m";
  HONE_ASSIGN(const std::vector<problem::SizeSet> sizes,
              problem::given_size_sets(options.toolchain.sizes));
  if (sizes.size() > 1) return input_error("--dim: hone flags takes one size of each dimension");
  options.toolchain.sizes.clear();
  // The compile_flags.txt of a tuning names the spec beside it.
  if (std::filesystem::exists(options.tuning.out / "tuning_spec.mlir"))
    return input_error(
        "'{}' holds the spec and the flags of a tuning; name another folder with --out",
        options.tuning.out.string());
  return with_program_session(options, [&](ProgramSession& session) -> CommandResult {
    tune::Context& context = session.context;
    const tune::Options& tuning = session.options.tuning;
    HONE_TRY(check_runs_programs(tuning.place()));
    HONE_ASSIGN(const std::string bytes, read_file(tuning.input));
    tune::begin_budget(context);
    HONE_ASSIGN(const problem::Program program,
                context.compiler.load_program(
                    {tuning.input,
                     bytes,
                     tuning.flags,
                     {},
                     tune::sizes_given(sizes.front(), tuning.function, tuning.inputs)}));
    context.state->deadline.loaded();
    const Result<problem::Function> function =
        tune::function_to_call(program, tuning.function, tuning.inputs);
    if (!function && function.error().kind == ErrorKind::kFailure)
      return input_error("'{}': {}", tuning.input, function.error().message);
    if (!function) return tl::unexpected(function.error());
    store::Run row = run_row(session.options);
    HONE_ASSIGN(row.program,
                context.store.intern(store::ProgramRow{0, program.hash, tuning.input, "{}"}));
    HONE_TRY(context.store.begin_run(row));
    Result<tune::FoundFlags> found = tune::search_flags(
        context, program, bytes, *function, {.seconds = tuning.budget_seconds, .compiles = 0});
    session.status.clear();
    HONE_TRY(tune::end_run(context, found ? Status() : tl::unexpected(found.error())));
    if (!found) return tl::unexpected(session.stopped(found.error()));

    const bool faster =
        found->verdict && found->verdict->recommended != tune::Recommended::kDefault;
    std::vector<std::string> flags = tuning.flags;
    if (faster) flags.insert(flags.end(), found->best.flags.begin(), found->best.flags.end());
    const std::filesystem::path file = tuning.out / "compile_flags.txt";
    HONE_TRY(write_file_atomically(file, response_file(flags)));
    if (session.options.json)
      output::print_document(document_of(session.options, *found, flags));
    else
      print(*found, tuning.input, file);
    return 0;
  });
}

}  // namespace

void add_flags_command(CLI::App& app, Action& run) {
  const auto [command, options] = add_command<SessionOptions>(
      app, run, "flags", "Find the fastest compiler flags of a program", search_flags);
  tune::Options& tuning = options.tuning;
  command.add_option("INPUT", tuning.input, "program (.mlir, .onnx)")->required();
  add_toolchain_options(command, options.toolchain);
  add_default_option(command, "--out", tuning.out, "folder for compile_flags.txt");
  add_default_option(command, "--store", options.store, "keep every result in this SQLite file");
  command.add_option("--budget", options.budget, "time to search, before the proof: 90s, 10m [2m]");
  add_runtime_options(command, options.runtime, "the first");
  add_default_option(command, "--seed", tuning.seed, "seed of generated inputs and of the order");
  add_device_option(command, options.device);
  add_core_options(command, options.cores);
  add_screen_options(command, options);
  command.footer(
      "hone tries each flag set alone, then on top of the best, and compares outputs\n"
      "with the default's. docs/flags.md lists the flag sets.\n"
      "Exit code 0 also if nothing is faster than the default.");
}

}  // namespace hone::cli
