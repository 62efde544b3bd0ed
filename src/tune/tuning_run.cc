#include "tune/tuning_run.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/file.h"
#include "base/response_file.h"
#include "base/stopwatch.h"
#include "tune/finished_work.h"
#include "tune/flag_search.h"
#include "tune/function_choice.h"
#include "tune/session_steps.h"
#include "tune/size_choice.h"
#include "tune/spec_entries.h"
#include "tune/sums.h"

namespace hone::tune {
namespace {

// Of the budget, for the compiler's flags.
constexpr double kFlagShare = 0.2;
// With a whole session's time so many compiles are tried, however long they take.
constexpr double kWholeSession = 600;
constexpr std::size_t kFlagCompiles = 15;

// Of the budget, where one configuration must serve several sizes, or several dispatches that no
// matcher of a spec tells apart: for searching. The rest is for measuring what each one's winner
// does to the others.
constexpr double kSearchShare = 0.75;

class TuningRun {
 public:
  TuningRun(Context& context, const std::vector<problem::SizeSet>& sizes) : context_(context) {
    sessions_.reserve(sizes.size());
    for (const problem::SizeSet& set : sizes)
      sessions_.emplace_back(context, set,
                             sizes.size() > 1 ? ", " + problem::to_string(set) : std::string());
  }

  Result<TuningResult> run(store::Run run_row) {
    for (Session& session : sessions_) HONE_TRY(session.load());
    run_row.program = sessions_.front().result().program_id;
    HONE_ASSIGN(result_.run, context_.store.begin_run(run_row));
    HONE_TRY(end_run(context_, steps(run_row.command)));
    for (Session& session : sessions_) result_.at_sizes.push_back(std::move(session.result()));
    return std::move(result_);
  }

 private:
  Status steps(const std::string& command) {
    HONE_ASSIGN(result_.machine, look_at_machine(context_));
    HONE_ASSIGN(const double spent, search_flags(command));
    HONE_TRY(add_flags());
    const auto sizes = static_cast<double>(sessions_.size());
    const double budget = (context_.options.budget_seconds - spent) / sizes;
    const bool several = one_configuration_for_several();
    const double part = several ? kSearchShare : 1;
    for (Session& session : sessions_)
      HONE_TRY(session.search(budget * part, part / sizes, command));
    if (several) HONE_TRY(choose_for_all(context_.options.budget_seconds * (1 - kSearchShare)));
    if (std::any_of(sessions_.begin(), sessions_.end(),
                    [](const Session& session) { return !session.result().tuned.empty(); }))
      HONE_TRY(record_peak(context_));
    HONE_TRY(prove());
    HONE_TRY(recommend());
    for (Session& session : sessions_) HONE_TRY(session.record(best_at(session)));
    return emit();
  }

  // What they decide is which dispatches there are. The seconds of the budget that it took.
  Result<double> search_flags(const std::string& command) {
    const Options& options = context_.options;
    const Session& session = sessions_.front();
    const Result<problem::Function> function =
        function_to_call(session.result().program, options.function, options.inputs);
    if (!options.search_flags || !options.prove || sessions_.size() > 1 || !function) return 0.0;
    HONE_ASSIGN(const std::optional<ChosenFlags> kept,
                kept_flags(context_, command, session.result().program_id));
    // A run that goes on must find the dispatches of the one before, however long it could search.
    if (kept) {
      HONE_TRY(keep_flags(context_, *kept));
      HONE_TRY(use(*kept));
      return 0.0;
    }
    const Stopwatch watch(context_.clock);
    const FlagSearchRequest request{
        .seconds = kFlagShare * options.budget_seconds,
        .compiles = options.budget_seconds >= kWholeSession ? kFlagCompiles : 0,
        .for_tuning = true,
        .prove = false};
    Result<FoundFlags> found =
        tune::search_flags(context_, session.result().program, session.bytes(), *function, request);
    // Where programs cannot be run here, their dispatches are tuned all the same.
    if (!found && (found.error().kind == ErrorKind::kFailure ||
                   found.error().kind == ErrorKind::kEnvironment)) {
      context_.observer.note("the compiler's flags are not searched: " + found.error().message);
      return 0.0;
    }
    if (!found) return tl::unexpected(found.error());
    const auto say = [&](std::string_view what, const FlagSet& set) {
      if (set.name.empty()) return;
      context_.observer.note(fmt::format("flags: {} {} ({}; {:.2f}x by the rounds that chose it)",
                                         what, set.name, fmt::join(set.flags, " "),
                                         found->speedup(set)));
    };
    if (found->best.name.empty())
      context_.observer.note(
          fmt::format("flags: none of {} seems faster", found->trials.size() - 1));
    if (found->best.name != found->tunable.name) say("what competes with tuning:", found->best);
    say("the dispatches are tuned with", found->tunable);
    ChosenFlags chosen{found->best, found->tunable, {}};
    for (const FlagTrial& trial : found->trials) chosen.tried.push_back(trial.flags);
    HONE_TRY(keep_flags(context_, chosen));
    HONE_TRY(use(chosen));
    return std::min(watch.seconds(), kFlagShare * options.budget_seconds);
  }

  Status use(const ChosenFlags& chosen) {
    std::erase_if(context_.flag_sets, [&](const FlagSet& set) {
      return std::ranges::count(chosen.tried, set.flags) > 0;
    });
    if (!chosen.best.name.empty() && chosen.best.name != chosen.tunable.name)
      context_.flag_sets.push_back({chosen.best.name, chosen.best.flags, /*is_whole=*/true});
    if (chosen.tunable.name.empty()) return {};
    const FlagSet before = context_.added;
    const store::Id build = context_.build;
    HONE_TRY(add(chosen.tunable));
    const Status loaded = sessions_.front().load();
    if (loaded || loaded.error().kind == ErrorKind::kInterrupted) return loaded;
    // Under these flags nothing can be tuned, or taken apart: they compete with what can without.
    context_.observer.note(fmt::format("flags: with {} the dispatches cannot be tuned: {}",
                                       chosen.tunable.name, loaded.error().message));
    context_.added = before;
    context_.build = build;
    context_.flag_sets.push_back({chosen.tunable.name, chosen.tunable.flags, /*is_whole=*/true});
    return sessions_.front().load();
  }

  Status add(const FlagSet& set) {
    FlagSet& added = context_.added;
    added.name += (added.name.empty() ? "" : " + ") + set.name;
    added.flags.insert(added.flags.end(), set.flags.begin(), set.flags.end());
    HONE_ASSIGN(store::Build build, context_.store.build(context_.build));
    build.flags = nlohmann::json(context_.flags()).dump();
    HONE_ASSIGN(context_.build, context_.store.intern(build));
    return {};
  }

  // The build is another one then: what is compiled, stored and found again has these flags.
  Status add_flags() {
    const bool sums = std::any_of(sessions_.begin(), sessions_.end(), [](const Session& session) {
      const auto& chosen = session.chosen();
      return std::any_of(chosen.begin(), chosen.end(), [](const problem::Dispatch* dispatch) {
        return adds_along_vectors(*dispatch);
      });
    });
    const FlagSet& set = context_.options.sums;
    const std::vector<std::string>& flags = context_.added.flags;
    const bool has_it = std::ranges::all_of(
        set.flags, [&](const std::string& flag) { return std::ranges::count(flags, flag) > 0; });
    if (!sums || has_it) return {};
    HONE_TRY(add(set));
    context_.observer.note(fmt::format(
        "the program adds up floating-point numbers: it is tuned with {} ({}), the default of each "
        "dispatch included; the whole program is compared without it too",
        fmt::join(set.flags, " "), set.name));
    return {};
  }

  // The dispatches of these names at each size; fewer where one was not tuned at a size.
  std::vector<DispatchAtSize> at_each(const std::vector<std::string>& names) {
    std::vector<DispatchAtSize> found;
    for (Session& session : sessions_)
      for (TunedDispatch& tuned : session.result().tuned) {
        if (std::count(names.begin(), names.end(), tuned.dispatch->name) == 0) continue;
        std::vector<std::string> where;
        // Launch sets of one kernel have its name: their sizes tell them apart.
        const std::string& name = tuned.dispatch->name;
        const bool one_of_several_sets = std::ranges::count(names, name) > 1;
        if (names.size() > 1)
          where.push_back(one_of_several_sets ? problem::describe(tuned.dispatch->root) : name);
        if (sessions_.size() > 1) where.push_back(problem::to_string(session.result().sizes));
        found.push_back({&tuned, session.reference_of(*tuned.dispatch),
                         fmt::format("{}", fmt::join(where, " at "))});
      }
    return found;
  }
  std::vector<DispatchAtSize> at_each(const std::string& name) {
    return at_each(std::vector<std::string>{name});
  }

  // The names of tuned dispatches, those together that one entry of a spec is for.
  std::vector<std::vector<std::string>> spec_classes() {
    std::vector<std::vector<std::string>> classes;
    std::set<std::string> known;  // of the sessions before
    // Within a session, since neighbours have the sizes of theirs.
    for (const Session& session : sessions_) {
      std::vector<std::pair<const problem::Dispatch*, std::size_t>> first_of;  // of each class
      for (const problem::Dispatch* dispatch : session.chosen()) {
        if (known.contains(dispatch->name)) continue;
        const auto same = std::find_if(first_of.begin(), first_of.end(), [&](const auto& first) {
          return one_entry_for(*context_.programs, *dispatch, *first.first);
        });
        if (same == first_of.end()) {
          first_of.emplace_back(dispatch, classes.size());
          classes.push_back({dispatch->name});
        } else {
          classes[same->second].push_back(dispatch->name);
        }
      }
      for (const std::vector<std::string>& names : classes)
        known.insert(names.begin(), names.end());
    }
    return classes;
  }

  bool one_configuration_for_several() {
    const auto classes = spec_classes();
    return sessions_.size() > 1 || std::any_of(classes.begin(), classes.end(),
                                               [](const auto& names) { return names.size() > 1; });
  }

  // Of each class of dispatches, over all sizes: what a spec says of one it says of all.
  Status choose_for_all(double seconds) {
    std::vector<std::vector<DispatchAtSize>> shared;
    std::size_t measured = 0;
    for (const std::vector<std::string>& names : spec_classes()) {
      if (sessions_.size() > 1)
        for (const std::string& name : names)
          if (const auto at = at_each(name); at.size() < sessions_.size())
            for (const DispatchAtSize& each : at)
              each.tuned->keep_default("it could not be tuned at every size");
      std::vector<DispatchAtSize> at = at_each(names);
      if (at.size() < 2) continue;
      measured += at.size();
      shared.push_back(std::move(at));
    }
    for (const std::vector<DispatchAtSize>& at : shared)
      HONE_TRY(choose_for_all_sizes(context_, at, seconds / static_cast<double>(measured)));
    return {};
  }

  // What the program at one size has no use for ships for none.
  Status prove() {
    do {
      for (Session& session : sessions_) HONE_TRY(session.prove());
    } while (drop_what_one_leaves_out());
    for (Session& session : sessions_) {
      std::vector<LeftOut>& left_out = session.result().proven.left_out;
      left_out.insert(left_out.end(), dropped_.begin(), dropped_.end());
    }
    return {};
  }

  // One entry at a time: what it leaves behind may ship then.
  bool drop_what_one_leaves_out() {
    for (const TunedDispatch& tuned : sessions_.front().result().tuned) {
      const std::string& name = tuned.dispatch->name;
      const std::vector<DispatchAtSize> at = at_each(name);
      if (at.size() < sessions_.size()) continue;
      std::size_t shipping = 0;
      std::string reason;
      for (const Session& session : sessions_) {
        const ProvenProgram& proven = session.result().proven;
        const bool ships = std::ranges::any_of(at, [&](const DispatchAtSize& each) {
          return std::ranges::count(proven.shipped, each.tuned->id) > 0;
        });
        if (ships) ++shipping;
        for (const LeftOut& left_out : proven.left_out)
          if (left_out.dispatch == name)
            reason = fmt::format("at {}: {}", problem::to_string(session.result().sizes),
                                 left_out.reason);
      }
      if (shipping == 0 || shipping == sessions_.size()) continue;
      for (const DispatchAtSize& each : at) each.tuned->keep_default(reason);
      dropped_.push_back({name, reason});
      return true;
    }
    return false;
  }

  // By name: the dispatches of a session have numbers of their own.
  static const RightVariant* variant_of(const Session& session, const std::string& name) {
    for (const RightVariant& variant : session.result().proven.variants)
      if (variant.name == name) return &variant;
    return nullptr;
  }
  const RightVariant* best_at(const Session& session) const {
    if (!result_.best || !result_.best->uses_spec()) return result_.best ? &*result_.best : nullptr;
    return variant_of(session, result_.best->name);
  }

  // The choice by the rounds of the proof, the verdict by rounds that it is made for.
  Status recommend() {
    std::vector<std::vector<RightVariant>> variants;
    for (const Session& session : sessions_) variants.push_back(session.result().proven.variants);
    HONE_ASSIGN(const std::optional<RightVariant> promising, most_promising(variants));
    if (!promising) return {};
    const RightVariant& base = variants.front().front();
    result_.best = base;
    if (promising->name == base.name) return {};
    result_.candidate = promising;
    const TimeBudget::Span span(context_.time, Phase::kProgram);
    const Status proved = prove(*promising);
    if (proved || proved.error().kind != ErrorKind::kFailure) return proved;
    context_.observer.note(
        "the default is recommended, since what seemed faster could not be timed "
        "again: " +
        proved.error().message);
    return {};
  }

  Status prove(const RightVariant& promising) {
    std::vector<ProvingRounds> rounds;
    for (Session& session : sessions_) {
      ProvenProgram& proven = session.result().proven;
      HONE_ASSIGN(ProvingRounds at_size,
                  prove_variant(context_, *proven.bench, *variant_of(session, promising.name)));
      rounds.push_back(std::move(at_size));
    }
    HONE_ASSIGN(result_.verdict, verdict_of(rounds));
    HONE_TRY(
        context_.store.log_event("program proof", json_of(*result_.verdict, promising).dump()));
    if (result_.verdict->recommended == Recommended::kChosen) result_.best = promising;
    if (result_.verdict->recommended == Recommended::kFlags)
      result_.best = RightVariant{.name = promising.without_spec, .flags = promising.flags};
    return {};
  }

  Status emit() {
    result_.spec = sessions_.front().result().proven.spec;
    if (result_.best && result_.best->uses_spec()) result_.spec = result_.best->spec;
    const std::filesystem::path spec = context_.options.out / "tuning_spec.mlir";
    std::error_code code;
    if (result_.spec.empty())
      std::filesystem::remove(spec, code);  // one of an earlier run must not be taken for this one
    else
      HONE_TRY(write_file_atomically(spec, result_.spec));
    const std::vector<std::string> flags = recommended_flags(spec);
    HONE_TRY(context_.store.log_event(
        "compile flags",
        nlohmann::json{
            {"variant", result_.best ? result_.best->name + sessions_.front().label() : ""},
            {"flags", flags}}
            .dump()));
    return write_file_atomically(context_.options.out / "compile_flags.txt", response_file(flags));
  }

  std::vector<std::string> recommended_flags(const std::filesystem::path& spec) const {
    // Where nothing could be run, a spec goes with the flags that it was found with.
    const bool uses_spec = result_.best ? result_.best->uses_spec() : !result_.spec.empty();
    std::vector<std::string> flags = context_.options.flags;
    if (result_.best)
      flags.insert(flags.end(), result_.best->flags.begin(), result_.best->flags.end());
    else if (uses_spec)
      flags = context_.flags();
    return uses_spec ? context_.programs->with_spec(std::move(flags), spec) : flags;
  }

  Context& context_;
  std::vector<Session> sessions_;
  std::vector<LeftOut> dropped_;
  TuningResult result_;
};

}  // namespace

Result<TuningResult> tune_program(Context& context, store::Run run_row,
                                  const std::vector<problem::SizeSet>& sizes) {
  return TuningRun(context, sizes).run(std::move(run_row));
}

}  // namespace hone::tune
