#include "tune/tuning_run.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "base/ranges.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "plan/policy.h"
#include "tune/dispatch/finished_work.h"
#include "tune/flag_baseline.h"
#include "tune/program/flag_search.h"
#include "tune/program/repairing_flags.h"
#include "tune/services/function_choice.h"
#include "tune/services/given_arguments.h"

namespace hone::tune {
namespace {

class TuningRun {
 public:
  TuningRun(Context& context, const std::vector<problem::SizeSet>& sizes)
      : context_(context), sizes_(sizes) {}

  Result<TuningResult> run(store::Run run_row) {
    HONE_ASSIGN(std::string bytes, read_file(context_.options.input));
    bytes_ = std::make_shared<const std::string>(std::move(bytes));
    begin_budget(context_);
    HONE_TRY(load());
    context_.state->deadline.loaded();
    run_row.program = first_tuning().result().program_id;
    HONE_ASSIGN(result_.run, context_.store.begin_run(run_row));
    if (context_.options.part.leaves_more()) {
      HONE_TRY(end_run(context_, part_steps(run_row)));
      return std::move(result_);
    }
    Status done = steps(run_row);
    if (done) done = is_worth_tuning_repaired() ? tune_repaired(run_row) : conclude();
    HONE_TRY(end_run(context_, done));
    return std::move(result_);
  }

 private:
  Status load() {
    bases_.emplace_back(context_, sizes_);
    result_.baseline = context_.baseline;
    // The default, with which everything is compared, compiles while the program is split.
    const Options& options = context_.options;
    if (options.prove && !options.part.is_shard() && !options.traits().compiling_disturbs)
      context_.compiler.prefetch_compile({options.input, *bytes_, options.flags});
    HONE_TRY(begin_to_judge());
    return bases_.back().load({}, bytes_);
  }

  // An earlier run of the program may have chosen the flags.
  Status begin_to_judge() {
    if (!may_search_flags() || uses_kept_flags()) return {};
    HONE_ASSIGN(const std::vector<store::ProgramRow> known, context_.store.programs());
    if (find_by(known, content_hash(*bytes_), &store::ProgramRow::hash) != nullptr) return {};
    return begin_to_judge_fusion(context_, *bytes_, first_tuning().given());
  }

  bool may_search_flags() const {
    return context_.options.search_flags && context_.options.prove && sizes_.size() == 1;
  }

  // Shards, and the proof after them, share one choice of flags: that in the store, or none.
  bool uses_kept_flags() const {
    return !context_.options.part.is_whole() &&
           context_.options.part.kind != plan::Part::Kind::kFlags;
  }

  // Steps of a part that others go on from: the flag search, or the dispatches of a shard.
  Status part_steps(const store::Run& run) {
    HONE_TRY(read_starter_spec());
    if (!context_.options.compiles_only) {
      HONE_ASSIGN(result_.machine, look_at_machine(context_));
    }
    HONE_TRY(search_flags(run));
    if (!context_.options.part.is_shard()) return {};
    HONE_TRY(load_bases());
    HONE_TRY(tune_shard(run));
    const bool has_tuned =
        any_tuning([](const ProgramTuningResult& result) { return !result.tuned.empty(); });
    if (has_tuned) HONE_TRY(record_peak(context_));
    for (FlagBaseline& base : bases_)
      for (ProgramTuning& tuning : base.tunings())
        result_.at_sizes.push_back(std::move(tuning.result()));
    result_.whole_program = false;
    return {};
  }

  // Tunes the own dispatches under each baseline in turn, within their share of the budget.
  Status tune_shard(const store::Run& run) {
    double share = 0;
    for (FlagBaseline& base : bases_) {
      HONE_TRY(base.add_sums());
      HONE_TRY(
          base.weigh(context_.options.budget_seconds / static_cast<double>(bases_.size()), run));
      share += base.shard_share() / static_cast<double>(bases_.size());
    }
    context_.state->deadline.take_share(share);
    const double searching = std::max(0.0, context_.state->deadline.left());
    const std::vector<double> parts = parts_by_gain();
    for (std::size_t i = 0; i < bases_.size(); ++i)
      HONE_TRY(bases_[i].tune_shard(searching * parts[i]));
    return {};
  }

  Status steps(const store::Run& run) {
    HONE_TRY(read_starter_spec());
    if (runs_kernels_here()) {
      HONE_ASSIGN(result_.machine, look_at_machine(context_));
    }
    HONE_TRY(search_flags(run));
    // Without a working default, no result could be compared with it or used.
    if (!context_.state->default_failure.empty()) return repair();
    HONE_TRY(load_bases());
    HONE_TRY(tune_bases(run));
    if (runs_kernels_here() &&
        any_tuning([](const ProgramTuningResult& result) { return !result.tuned.empty(); }))
      HONE_TRY(record_peak(context_));
    chosen_ = bases_.size() - 1;
    HONE_TRY(recommend());
    chosen_ = base_of(result_.best && result_.best->uses_spec() ? result_.best : result_.candidate);
    for (FlagBaseline& base : bases_)
      HONE_TRY(&base == &bases_[chosen_] ? base.record(result_.best)
                                         : base.record_as_rival(result_.best));
    result_.baseline = bases_[chosen_].baseline();
    HONE_TRY(learn_gains());
    return emit();
  }

  // False if all that is to be known of kernels was measured on another machine.
  bool runs_kernels_here() const { return context_.options.prove || !context_.options.measured_by; }

  // Whether the default has no rival: no other flags were tried, before the proof or in it, and no
  // dispatch was searched.
  bool has_tried_nothing() const {
    return flags_tried_ == 0 && !any_tuning([](const ProgramTuningResult& result) {
             return !result.tuned.empty() || result.proven.builds.size() > 1;
           });
  }

  bool any_tuning(const std::function<bool(const ProgramTuningResult&)>& is_so) const {
    return std::ranges::any_of(bases_, [&](const FlagBaseline& base) {
      return std::ranges::any_of(
          base.tunings(), [&](const ProgramTuning& tuning) { return is_so(tuning.result()); });
    });
  }

  // Fills in the result, and stores the verdict.
  Status conclude() {
    if (context_.options.prove && context_.state->not_proved.empty() &&
        context_.state->default_failure.empty() && has_tried_nothing())
      context_.state->not_proved = fmt::format(
          "the budget leaves time for the default alone: --budget {:.0f}s leaves some for others",
          std::max(context_.state->deadline.sufficient(), 2 * context_.options.budget_seconds));
    for (ProgramTuning& tuning : bases_[chosen_].tunings())
      result_.at_sizes.push_back(std::move(tuning.result()));
    result_.whole_program = context_.options.prove;
    const SessionState& state = *context_.state;
    result_.default_failure = state.default_failure;
    result_.not_proved = state.not_proved;
    result_.wrong_by_default = state.wrong_by_default;
    result_.unchecked_outputs = state.unchecked_outputs;
    result_.unverified_dispatches = state.unverified_dispatches;
    result_.outcome = verdict_of(result_);
    if (context_.options.place().facts.emulated)
      result_.outcome = on_emulator(std::move(result_.outcome));
    return context_.store.log_event("verdict",
                                    nlohmann::json{{"outcome", name_of(result_.outcome.outcome)},
                                                   {"reason", result_.outcome.reason}}
                                        .dump());
  }

  // Looks for flags that make a failing default program work.
  Status repair() {
    context_.observer.note(context_.state->default_failure);
    remove_outputs();
    const problem::Program& program = first_tuning().result().program;
    HONE_ASSIGN(const problem::Function function,
                function_to_call(program, context_.options.function, context_.options.inputs));
    HONE_ASSIGN(const std::optional<RepairingFlags> found,
                find_repair(context_, program, *bytes_, function, first_tuning().given()));
    if (!found) return {};
    context_.state->not_proved = found->not_proved;
    result_.best = VerifiedBuild{Build{.label = found->flags.name, .flags = found->flags.flags}};
    return write_file_atomically(context_.options.out / "compile_flags.txt",
                                 response_file(recommended_flags({})));
  }

  bool is_worth_tuning_repaired() const {
    const SessionState& state = *context_.state;
    return !state.default_failure.empty() && result_.best && state.not_proved.empty() &&
           state.deadline.left() >= plan::kLeastDispatchSeconds;
  }

  // Tunes with the flags that repair the program: they are the default for the rest of the budget.
  Status tune_repaired(const store::Run& run) {
    std::string& default_failure = context_.state->default_failure;
    const std::string failure = std::exchange(default_failure, "");
    Options options = context_.options;
    for (std::vector<std::string>* flags : {&options.flags, &options.reference_flags})
      *flags = joined(std::move(*flags), result_.best->flags);
    context_.note("with {} it works: that is the default from here on", result_.best->label);
    HONE_ASSIGN(Context context, context_.with_options(options));
    TuningRun repaired(context, sizes_);
    repaired.bytes_ = bytes_;
    repaired.result_.run = result_.run;
    repaired.result_.repaired_by = result_.best->label;
    Status done = repaired.load();
    if (done) done = repaired.steps(run);
    default_failure = failure;
    if (!done && done.error().kind == ErrorKind::kFailure) return conclude();
    HONE_TRY(done);
    HONE_TRY(repaired.conclude());
    result_ = std::move(repaired.result_);
    return {};
  }

  // Deletes the output files of an earlier run.
  void remove_outputs() const {
    std::error_code code;
    for (const char* const file : {"tuning_spec.mlir", "compile_flags.txt", "run.sh"})
      std::filesystem::remove(context_.options.out / file, code);
    remove_proof_files(context_.options.out);
  }

  // Reads the starter spec before anything is measured, so that the user learns of a parse error at
  // once.
  Status read_starter_spec() {
    const std::filesystem::path& path = context_.options.starter_spec;
    if (path.empty()) return {};
    HONE_ASSIGN(std::string text, read_file(path));
    HONE_ASSIGN(const provider::jobs::SpecFile spec,
                context_.compiler.ask(provider::jobs::kReadSpec, {path.string(), text}));
    context_.state->starter_spec = std::move(text);
    context_.note(
        "'{}' has {} entries: none is applied while dispatches are tuned, and what is found comes "
        "before them",
        path.string(), spec.entries.size());
    return {};
  }

  ProgramTuning& first_tuning() { return bases_.front().tunings().front(); }

  // Loads every baseline whose flags compile, the first instead of the default. Where its flags
  // do not, the default stays as it was loaded at first: the time for another load may be used up.
  Status load_bases() {
    for (std::size_t i = 0; i < flags_.size(); ++i) {
      if (i == 0 && flags_[i].flags.empty()) continue;
      HONE_ASSIGN(const bool loaded, load(bases_.emplace_back(context_, sizes_), flags_[i]));
      if (!loaded)
        bases_.pop_back();
      else if (i == 0)
        bases_.pop_front();
    }
    return {};
  }

  // Tunes the baselines in turn, each with time in proportion to its possible gain. Which one is
  // fastest with a spec is known only once each has one. The last proof compares all of them with
  // the flag sets that have no baseline.
  Status tune_bases(const store::Run& run) {
    // The flag search may have used up the time, or the proof may need the rest.
    const bool has_time = !context_.options.prove ||
                          context_.state->deadline.has(plan::kLeastDispatchSeconds +
                                                       plan::kCompilesOfSpec *
                                                           context_.state->deadline.next_compile());
    for (FlagBaseline& base : bases_) {
      if (has_time) HONE_TRY(base.add_sums());
      HONE_TRY(base.weigh(for_dispatches() / static_cast<double>(bases_.size()), run));
    }
    const std::vector<FlagSet> compared = std::exchange(context_.state->flag_sets, {});
    const double searching = for_dispatches();
    const std::vector<double> parts = parts_by_gain();
    for (std::size_t i = 0; i < bases_.size(); ++i) {
      FlagBaseline& base = bases_[i];
      const bool is_last = i + 1 == bases_.size();
      if (is_last) context_.state->flag_sets = compared;
      const auto later = static_cast<std::ptrdiff_t>(i) + 1;
      context_.state->deadline.keep_for_bases(
          bases_.size() - i - 1,
          searching * std::accumulate(parts.begin() + later, parts.end(), 0.0));
      if (bases_.size() > 1)
        context_.note("tuning {} of {}, {}", i + 1, bases_.size(),
                      base.baseline().extra_flags.flags.empty()
                          ? "with no flags of its own"
                          : "with " + base.baseline().extra_flags.name);
      const bool is_done = base.possible_gain() == 0;  // by a run before, perhaps
      if (context_.options.measured_by) {
        HONE_TRY(base.leave_out("it was not measured", rivals_));
      } else if (has_time && (parts[i] > 0 || is_done)) {
        HONE_TRY(base.tune(std::min(searching * parts[i], for_dispatches()), rivals_));
      } else if (has_time) {
        const std::string reason =
            fmt::format("too little to gain: at this machine's peak all would take {:.0f} % less",
                        100 * base.possible_gain() / base.seconds_of_a_call());
        context_.observer.note("nothing is searched here, " + reason);
        HONE_TRY(base.leave_out(reason, rivals_));
      } else {
        context_.note_once("no time is left for dispatches: each keeps its default");
        HONE_TRY(base.leave_out(std::string(kNoBudgetLeft), rivals_));
      }
      if (is_last) break;
      HONE_ASSIGN(std::optional<VerifiedBuild> rival, base.best_build_for_comparison());
      if (rival) rivals_.push_back(std::move(*rival));
    }
    return {};
  }

  // Seconds of the budget that are left for dispatches.
  double for_dispatches() const {
    const Deadline& deadline = context_.state->deadline;
    return context_.options.prove ? deadline.for_search() : std::max(0.0, deadline.left());
  }

  // Each baseline's share of the time, by possible gain. A baseline that the compiler already tiles
  // well is near the peak. Configurations save less there than in another baseline, so it gets
  // nothing.
  std::vector<double> parts_by_gain() const {
    const auto gain = [](const FlagBaseline& base) { return base.possible_gain(); };
    const double most = gain(*std::ranges::max_element(bases_, {}, gain));
    std::vector<double> parts;
    for (const FlagBaseline& base : bases_) {
      const bool is_worth_it = gain(base) == most || base.is_begun() ||
                               gain(base) >= plan::kWorthTuningShare * base.seconds_of_a_call();
      parts.push_back(is_worth_it ? gain(base) : 0);
    }
    const double all = std::accumulate(parts.begin(), parts.end(), 0.0);
    for (double& part : parts) part = all > 0 ? part / all : 1 / static_cast<double>(bases_.size());
    return parts;
  }

  // Loads the baseline with `flags`; false if the program cannot be split or tuned under them. Such
  // flags compete as a whole build with the tuned ones.
  Result<bool> load(FlagBaseline& base, const FlagSet& flags) {
    const Status loaded = base.load(flags, bytes_);
    if (loaded) return true;
    HONE_TRY(interruption(loaded));
    context_.note("flags: with {} the dispatches cannot be tuned: {}", flags.name,
                  loaded.error().message);
    context_.state->flag_sets.push_back({flags.name, flags.flags, /*is_whole=*/true});
    return false;
  }

  // Searches flags before dispatches: flags decide which dispatches there are.
  Status search_flags(const store::Run& run) {
    const Options& options = context_.options;
    ProgramTuning& tuning = first_tuning();
    const Result<problem::Function> function =
        function_to_call(tuning.result().program, options.function, options.inputs);
    if (!function && function.error().kind == ErrorKind::kInput && options.prove &&
        sizes_.size() == 1)
      return tl::unexpected(function.error());
    if (!may_search_flags() || !function) return {};
    // A run keeps one choice: that of the program as it is.
    const bool keeps = result_.repaired_by.empty();
    std::optional<ChosenFlags> kept;
    if (keeps) {
      HONE_ASSIGN(kept, kept_flags(context_, run, tuning.result().program_id));
    }
    // A continued run keeps the chosen flags, and so the same dispatches, however long it could
    // search.
    if (kept) {
      // The kept flags may name files that were removed since.
      HONE_TRY(choices_with_files(context_, tuning.result().program));
      HONE_TRY(keep_flags(context_, *kept));
      take(*kept);
      return {};
    }
    if (uses_kept_flags()) {
      context_.note("flags: no choice is in the store, so that dispatches are tuned with none");
      return {};
    }
    const FlagSearchRequest request{
        .seconds = plan::kFlagShare * options.budget_seconds,
        .compiles = options.budget_seconds >= plan::kWholeSessionSeconds ? plan::kFlagCompiles : 0,
        .for_tuning = true,
        .prove = false,
        .given = tuning.given()};
    Result<FoundFlags> found =
        tune::search_flags(context_, tuning.result().program, *bytes_, *function, request);
    // Dispatches are tuned even when whole programs cannot be run here.
    if (!found && (found.error().kind == ErrorKind::kFailure ||
                   found.error().kind == ErrorKind::kEnvironment)) {
      // The proof will name what is missing.
      if (context_.state->default_failure.empty())
        context_.observer.warn("the compiler's flags are not searched: " +
                               (found.error().kind == ErrorKind::kEnvironment
                                    ? "the program cannot be run here"
                                    : found.error().message));
      return {};
    }
    if (!found) return tl::unexpected(found.error());
    const auto say = [&](std::string_view what, const FlagSet& set) {
      if (set.flags.empty()) return;
      const std::optional<double> speedup = found->speedup(set);
      context_.note("flags: {} {} ({}; {})", what, set.name, fmt::join(set.flags, " "),
                    speedup ? fmt::format("{:.2f}x by the rounds that chose it", *speedup)
                            : std::string("the proof times it"));
    };
    const auto timed = std::ranges::count_if(
        found->trials, [](const FlagTrial& trial) { return trial.ratio.has_value(); });
    if (found->best.flags.empty() && timed > 1)
      context_.note("flags: none of {} seems faster", timed - 1);
    ChosenFlags chosen{found->best, found->bases, {}};
    if (!is_base(chosen, found->best)) say("competing with tuning:", found->best);
    for (const FlagSet& base : found->bases) say("dispatches are tuned with", base);
    for (const FlagTrial& trial : found->trials) chosen.tried.push_back(trial.flags);
    if (keeps) HONE_TRY(keep_flags(context_, chosen));
    take(chosen);
    return {};
  }

  static bool is_base(const ChosenFlags& chosen, const FlagSet& set) {
    return std::ranges::count(chosen.bases, set.flags, &FlagSet::flags) > 0;
  }

  void take(const ChosenFlags& chosen) {
    std::erase_if(context_.state->flag_sets, [&](const FlagSet& set) {
      return std::ranges::count(chosen.tried, set.flags) > 0;
    });
    // Flags without a baseline can be checked by the program's outputs only.
    if (context_.state->unchecked_outputs.empty() && !chosen.best.flags.empty() &&
        !is_base(chosen, chosen.best))
      context_.state->flag_sets.push_back({chosen.best.name, chosen.best.flags, /*is_whole=*/true});
    flags_ = chosen.bases;
    flags_tried_ = chosen.tried.size() - std::min<std::size_t>(1, chosen.tried.size());
  }

  // Picks the build by the rounds of the proof; fresh rounds give the verdict.
  Status recommend() {
    std::vector<std::vector<VerifiedBuild>> builds;
    for (const ProgramTuning& tuning : bases_.back().tunings())
      builds.push_back(tuning.result().proven.builds);
    HONE_ASSIGN(const std::optional<VerifiedBuild> promising, most_promising(builds));
    if (!promising) {
      recommend_rival();
      return {};
    }
    context_.state->not_proved.clear();  // of a base before, perhaps
    const VerifiedBuild& base = builds.front().front();
    result_.best = promising->repairs.empty() ? base : *promising;
    if (promising->id() == base.id()) return {};
    result_.candidate = promising;
    const auto span = context_.spend(trial::Activity::kProgram);
    const Status proved = prove(*promising);
    // A build that could not be verified does not replace the default.
    if (!context_.state->unverified_dispatches.empty() && result_.best->repairs.empty())
      result_.best = base;
    if (proved || proved.error().kind != ErrorKind::kFailure) return proved;
    context_.observer.note(result_.best->label +
                           " is recommended, since what seemed faster could not be timed again: " +
                           proved.error().message);
    return {};
  }

  // Recommends the best build of an earlier baseline if the last one could not be compared with it.
  void recommend_rival() {
    if (rivals_.empty()) return;
    result_.best = rivals_.back();
    context_.state->not_proved =
        fmt::format("'{}' is faster by the rounds that chose it, and has none of its own: {}",
                    result_.best->label, context_.state->not_proved);
  }

  Status prove(const VerifiedBuild& promising) {
    for (ProgramTuning& tuning : bases_.back().tunings()) {
      ProvenProgram& proven = tuning.result().proven;
      HONE_ASSIGN(ProvingRounds at_size,
                  prove_build(context_, *proven.bench, *FlagBaseline::find(tuning, promising)));
      result_.rounds.push_back(std::move(at_size));
    }
    HONE_ASSIGN(result_.verdict, verdict_of(result_.rounds, promising.repairs));
    HONE_TRY(
        context_.store.log_event("program proof", json_of(*result_.verdict, promising).dump()));
    if (result_.verdict->recommended == Recommended::kChosen) result_.best = promising;
    if (result_.verdict->recommended == Recommended::kFlags) {
      // A starter spec was there before tuning, so it stays.
      const VerifiedBuild* const known =
          FlagBaseline::find(bases_.back().tunings().front(), *promising.without_spec);
      result_.best = known != nullptr ? *known : VerifiedBuild{*promising.without_spec};
    }
    return {};
  }

  // Learns each kernel's gain in the candidate, whether it is recommended or not: a rejected
  // candidate raises the most questions. The timed programs are the last baseline's, the dispatches
  // the chosen one's.
  Status learn_gains() {
    if (!result_.verdict || !result_.candidate->uses_spec() || !context_.state->deadline.has(0))
      return {};
    const auto span = context_.spend(trial::Activity::kProgram);
    for (std::size_t i = 0; i < result_.rounds.size(); ++i) {
      ProgramTuning& timed = bases_.back().tunings()[i];
      const ProgramTuning& tuned = bases_[chosen_].tunings()[i];
      auto gain = gain_of(bases_[chosen_].context(), *timed.result().proven.bench,
                          *FlagBaseline::find(timed, *result_.candidate), result_.rounds[i],
                          tuned.result().tuned);
      HONE_TRY(all_but_failure(gain));
      if (!gain) {
        context_.observer.note("the gain of each kernel in the program is not known: " +
                               gain.error().message);
        result_.gains.clear();
        return {};
      }
      HONE_TRY(context_.store.log_event("program gain", json_of(*gain).dump()));
      result_.gains.push_back(std::move(*gain));
    }
    return {};
  }

  Status emit() {
    const ProgramTuning& tuning = bases_[chosen_].tunings().front();
    result_.spec = tuning.result().proven.spec;
    result_.replaced = tuning.result().proven.replaced;
    if (result_.best && result_.best->uses_spec()) {
      result_.spec = result_.best->spec;
      result_.replaced = result_.best->replaced;
    }
    HONE_TRY(emit_replaced());
    const std::filesystem::path spec = context_.options.out / "tuning_spec.mlir";
    std::error_code code;
    if (result_.spec.empty())
      std::filesystem::remove(spec, code);  // one of an earlier run must not be taken for this one
    else
      HONE_TRY(write_file_atomically(spec, result_.spec));
    const std::vector<std::string> flags = recommended_flags(spec);
    HONE_TRY(context_.store.log_event(
        "compile flags",
        nlohmann::json{{"variant", result_.best ? result_.best->label + tuning.label() : ""},
                       {"flags", flags}}
            .dump()));
    const std::filesystem::path file = context_.options.out / "compile_flags.txt";
    HONE_TRY(write_file_atomically(file, response_file(flags)));
    HONE_TRY(emit_proof_script(file));
    return emit_proof_files();
  }

  // Deletes kernels of an earlier run: the compiler takes each file that is named like one of the
  // program's executables. Other files in the folder stay.
  Status emit_replaced() {
    std::error_code code;
    for (const FlagBaseline& base : bases_)
      for (const problem::Dispatch& dispatch : base.tunings().front().result().program.dispatches)
        std::filesystem::remove(kernels() / file_of_replaced(dispatch.executable), code);
    return result_.replaced.empty() ? Status() : write_replaced(kernels(), result_.replaced);
  }
  std::filesystem::path kernels() const { return context_.options.out / "kernels"; }

  // Deletes the run.sh of an earlier run, and writes one if there is a proof to repeat.
  Status emit_proof_script(const std::filesystem::path& flags_file) {
    const Options& options = context_.options;
    const std::filesystem::path file = options.out / "run.sh";
    std::error_code code;
    std::filesystem::remove(file, code);
    const problem::Program& program = first_tuning().result().program;
    const Result<problem::Function> function =
        function_to_call(program, options.function, options.inputs);
    const auto write_script = context_.programs->facts().proof_script;
    if (!result_.best || !function || sizes_.size() > 1 || write_script == nullptr) return {};
    provider::ProofScript script;
    script.folder = std::filesystem::relative(".", options.out, code);
    script.program = options.input;
    script.environment = options.environment;
    script.default_flags = options.flags;
    script.flags_file = flags_file;
    script.call.function = *function;
    script.call.device = options.place().address;
    script.call.runtime_flags = options.runtime_flags;
    script.default_is_wrong = !result_.best->repairs.empty();
    for (const measure::ArrayDifference& each : result_.best->differences)
      script.tolerances.push_back(plan::kRunToleranceTimes * each.largest);
    const std::filesystem::path inputs = options.out / "inputs";
    std::filesystem::create_directories(inputs, code);
    HONE_ASSIGN(script.call.inputs,
                write_argument_files(*function, options.inputs, inputs, options.seed));
    HONE_ASSIGN(const std::string text, write_script(script));
    HONE_TRY(write_file_atomically(file, text));
    result_.proof_script = file;
    script_inputs_ = std::move(script.call.inputs);
    return {};
  }

  // Writes what repeats the proof without a compiler, if something is recommended that fresh rounds
  // of one size proved.
  Status emit_proof_files() {
    remove_proof_files(context_.options.out);
    if (!result_.verdict || result_.verdict->recommended == Recommended::kDefault ||
        sizes_.size() > 1 || context_.options.place().facts.emulated)
      return {};
    const auto& bench = bases_.back().tunings().front().result().proven.bench;
    Result<ProofFiles> files =
        write_proof_files(bench->builds, *result_.best, script_inputs_, context_.options.out);
    HONE_TRY(all_but_failure(files));
    if (files)
      result_.proof_files = std::move(*files);
    else
      context_.observer.note("hone recheck cannot repeat the proof: " + files.error().message);
    return {};
  }

  std::vector<std::string> recommended_flags(const std::filesystem::path& spec) const {
    // If nothing could be run, the spec ships with the flags that it was found with.
    const bool is_tuned = !result_.spec.empty() || !result_.replaced.empty();
    const bool uses_spec = result_.best ? result_.best->uses_spec() : is_tuned;
    std::vector<std::string> flags = context_.options.flags;
    if (result_.best)
      flags = joined(std::move(flags), result_.best->flags);
    else if (uses_spec)
      flags = bases_[chosen_].flags();
    if (uses_spec && !result_.spec.empty())
      flags = context_.programs->specs().with_spec(std::move(flags), spec);
    if (uses_spec && !result_.replaced.empty())
      flags = context_.programs->specs().with_replaced(std::move(flags), kernels());
    return flags;
  }

  // Returns the baseline that found `best`: the first that has it, since later ones have the builds
  // of earlier ones too. Without `best`, returns the last.
  std::size_t base_of(const std::optional<VerifiedBuild>& best) const {
    for (std::size_t i = 0; best && i < bases_.size(); ++i)
      if (FlagBaseline::find(bases_[i].tunings().front(), *best) != nullptr) return i;
    return bases_.size() - 1;
  }

  Context& context_;
  const std::vector<problem::SizeSet>& sizes_;
  std::shared_ptr<const std::string> bytes_;  // of the program's file
  std::vector<FlagSet> flags_{{}};            // one without a name, or what FoundFlags::bases says
  std::size_t flags_tried_ = 0;               // sets, beside the default's
  std::deque<FlagBaseline> bases_;
  std::vector<VerifiedBuild> rivals_;  // the best of each base but the last, where it has a spec
  std::size_t chosen_ = 0;             // of bases_: what the result is about
  std::vector<std::filesystem::path> script_inputs_;  // of run.sh
  TuningResult result_;
};

}  // namespace

Result<TuningResult> tune_program(Context& context, store::Run run_row,
                                  const std::vector<problem::SizeSet>& sizes) {
  return TuningRun(context, sizes).run(std::move(run_row));
}

}  // namespace hone::tune
