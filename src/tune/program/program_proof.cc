#include "tune/program/program_proof.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/ranges.h"
#include "measure/statistics.h"
#include "plan/policy.h"
#include "provider/ptx_kernel.h"
#include "tune/program/program_gain.h"
#include "tune/program/spec_entries.h"
#include "tune/services/function_choice.h"

namespace hone::tune {
namespace {

// Labels of builds.
constexpr const char* kSpec = "spec";
// The user's own spec from before, whose entries follow those of every new spec.
constexpr const char* kStarter = "starter spec";
// The build that only replaces the compiler's wrong kernels by correct ones.
constexpr const char* kRepairs = "repairs";

class Proof {
 public:
  Proof(Context& context, const ProofRequest& request)
      : context_(context),
        request_(request),
        found_with_(context.baseline.extra_flags),
        starter_spec_(context.state->starter_spec) {}

  Result<ProvenProgram> run() {
    HONE_ASSIGN(TemporaryFolder folder, TemporaryFolder::create("hone-program-"));
    folder_ = folder.path();
    entries_ = spec_entries(*context_.programs, request_.tuned, proven_.left_out);
    const std::optional<problem::Function> function = callable();
    const Status begun = function ? begin(*function) : Status();
    const std::size_t all = entries_.size();
    std::vector<VerifiedEntry> replacing;
    std::ranges::copy_if(entries_, std::back_inserter(replacing), replaces);
    std::erase_if(entries_, replaces);
    HONE_TRY(vet());
    // Replacing kernels have no configuration to vet: whether the compiler takes them shows when
    // the whole program is compiled with them.
    if (!replacing.empty()) module_.clear();
    entries_.insert(entries_.end(), replacing.begin(), replacing.end());
    std::ranges::stable_partition(entries_, &VerifiedEntry::repairs);
    // The build that has begun to compile has all entries.
    Deadline& deadline = context_.state->deadline;
    if (entries_.size() < all) deadline.compiles_proof(false);
    if (function) HONE_TRY(take_compared(begun ? compare() : begun));
    deadline.compiles_proof(false);  // a later baseline's proof needs a compile of its own
    if (!function && entries_.empty()) HONE_TRY(compile_without_spec());
    HONE_ASSIGN(proven_.spec, with_starter(entries_));
    HONE_ASSIGN(proven_.replaced, replaced_executables(*context_.programs, entries_));
    proven_.shipped = verified_by(entries_);
    if (builds_ && !proven_.builds.empty())
      proven_.bench =
          std::make_shared<ProgramBench>(ProgramBench{std::move(folder), std::move(*builds_)});
    return std::move(proven_);
  }

 private:
  std::optional<problem::Function> callable() const {
    if (!context_.options.prove) return std::nullopt;
    Result<problem::Function> function =
        function_to_call(request_.program, context_.options.function, context_.options.inputs);
    if (function) return std::move(*function);
    context_.state->not_proved = function.error().message;
    context_.observer.warn(function.error().message +
                           ": the program is compiled with the spec, which is checked to be "
                           "applied; its gain in the whole program is not measured");
    return std::nullopt;
  }

  // Vets the entries under the flags that they were found with, even if the program cannot be run.
  Status vet() {
    if (request_.rivals.size() + sets_found_faster() > 0 && !has_time_for_specs(1)) {
      leave_out_all("no time is left to compile the program with it");
      return {};
    }
    const VettingRequest request{request_.program.path, request_.bytes, context_.flags(), folder_,
                                 &request_.program,     request_.given};
    auto vetted = vet_spec(context_, request, entries_);
    if (!vetted && vetted.error().kind == ErrorKind::kFailure) {
      // Tuned results are kept, but a program that the compiler refuses has no use for a spec.
      context_.observer.note(vetted.error().message);
      leave_out_all(vetted.error().message);
      return {};
    }
    if (!vetted) return tl::unexpected(std::move(vetted).error());
    entries_ = std::move(vetted->entries);
    module_ = std::move(vetted->module);
    for (LeftOut& left_out : vetted->left_out) {
      HONE_TRY(context_.store.log_event("entry left out",
                                        fmt::format("{}: {}", left_out.dispatch, left_out.reason)));
      proven_.left_out.push_back(std::move(left_out));
    }
    return {};
  }

  // Compiles the program with the user's own flags, which are what will be written.
  Status compile_without_spec() {
    HONE_ASSIGN(const auto compiled,
                context_.compiler.compile_program(
                    {request_.program.path, request_.bytes, context_.options.flags}));
    if (!compiled)
      context_.observer.warn("the program does not compile, without a spec: " +
                             compiled.error().message);
    return {};
  }

  // Checks on a GPU that the kernels inside the program are the ones that were verified and
  // measured, as they ship (shipped_kernels.h).
  Status compare_kernels() {
    const ProgramBuild* whole = builds_->find(whole_);
    if (whole == nullptr || whole->module.empty()) return {};
    HONE_ASSIGN(const std::string module, read_file(whole->module));
    for (const VerifiedEntry& entry : entries_) {
      if (entry.tuned->code.empty()) continue;
      const std::string& name = entry.name();
      const auto code = context_.programs->device_code(module, name);
      if (!code && context_.options.traits().runs_on_host) continue;  // made with the program
      const bool same = code && provider::same_kernel(*code, entry.tuned->code, name);
      HONE_TRY(context_.store.log_event(
          "shipped code", fmt::format("{}: {}", name, same ? "as measured" : "other code")));
      if (!same)
        context_.note(
            "{}: the program holds other code for it than what was measured; the times of the "
            "whole "
            "program are of what it holds",
            name);
    }
    return {};
  }

  // Begins to compile what ships if all entries stay.
  Status begin(const problem::Function& function) {
    if (!context_.state->deadline.can_prove()) return {};
    HONE_ASSIGN(builds_,
                BuildBench::create(context_, request_.program, request_.bytes, function, folder_));
    std::vector<VerifiedEntry> all = entries_;
    std::ranges::stable_partition(all, [](const auto& entry) { return !replaces(entry); });
    std::ranges::stable_partition(all, &VerifiedEntry::repairs);
    HONE_ASSIGN(const ProgramBuild likely, spec_build(all, label()));
    HONE_ASSIGN(const bool compiles, builds_->compile_plainly_ahead(likely));
    context_.state->deadline.compiles_proof(compiles);
    // Without replacing kernels the spec is compiled as it is vetted.
    if (std::ranges::any_of(all, replaces)) HONE_TRY(builds_->compile_ahead(likely));
    return {};
  }

  // A missing runtime, or a program that fails in it, is not an error: hone has tuned all the same.
  Status take_compared(const Status& compared) {
    const auto is = [&](ErrorKind kind) { return compared.error().kind == kind; };
    if (compared || !(is(ErrorKind::kEnvironment) || is(ErrorKind::kFailure))) return compared;
    proven_.builds.clear();
    context_.state->not_proved = compared.error().message;
    return {};
  }

  void leave_out(const VerifiedEntry& entry, const std::string& reason) {
    for (const TunedDispatch* verified : entry.verified)
      proven_.left_out.push_back({verified->dispatch->name, reason});
  }

  void leave_out_all(const std::string& reason) {
    for (const VerifiedEntry& entry : entries_) leave_out(entry, reason);
    entries_.clear();
  }

  // Compares builds in the runtime.
  Status compare() {
    // Flags that let the compiler reorder sums do not count: they were added for the dispatches
    // alone.
    const bool has_flags =
        !found_with_.flags.empty() && found_with_.flags != context_.options.sums.flags;
    const bool has_time = builds_ && context_.state->deadline.can_prove();
    if (!has_time && entries_.empty() && !has_flags) {
      proven_.builds.push_back({default_build()});
      return {};
    }
    if (!has_time)
      return failure("no time is left to prove it: --budget {:.0f}s would do",
                     context_.state->deadline.sufficient());
    HONE_TRY(repair());
    std::vector<ProgramBuild> without_spec;
    without_spec.push_back({default_build()});
    const bool has_spec = !entries_.empty() || !starter_spec_.empty();
    if (has_flags || (has_spec && !found_with_.flags.empty())) without_spec.push_back({base()});
    std::vector<FlagSet> sets = context_.state->flag_sets;
    std::ranges::stable_partition(sets, &FlagSet::is_whole);
    for (const FlagSet& set : sets)
      if (context_.state->deadline.has(static_cast<double>(without_spec.size()) *
                                       context_.state->deadline.trial()))
        without_spec.push_back({Build{.label = set.name, .flags = set.flags}});
    HONE_TRY(builds_->add_each(std::move(without_spec)));
    HONE_TRY(add_starter());
    HONE_TRY(drop_entries_that_go_wrong());
    HONE_TRY(choose_among_near_ties());
    HONE_TRY(add_spec_builds(/*first=*/true));
    if (const ProgramBuild* const whole = builds_->find(whole_);
        whole != nullptr && whole->usable())
      HONE_TRY(builds_->compile_plainly_ahead(*whole));
    HONE_TRY(compare_kernels());
    HONE_TRY(add_ablations());
    HONE_TRY(add_rivals());
    HONE_TRY(time_if([](const ProgramBuild&) { return true; }));
    HONE_ASSIGN(const bool dropped, drop_entries_that_do_not_help());
    if (dropped) {
      HONE_TRY(add_spec_builds(/*first=*/false));
      // Times again what may still be chosen, since builds are compared within rounds.
      HONE_TRY(time_if([this](const ProgramBuild& build) { return stays(build); }));
    }
    return keep_right_ones();
  }

  // Counts the flag sets that rounds of the whole program found faster than the entries' flags. If
  // there is no time for both, proving them is worth more than vetting the entries.
  std::size_t sets_found_faster() const {
    return static_cast<std::size_t>(
        std::ranges::count(context_.state->flag_sets, true, &FlagSet::is_whole));
  }

  // Whether `compiles` more compiles with a spec, and those of the rivals, leave time to prove.
  bool has_time_for_specs(std::size_t compiles) const {
    const Deadline& deadline = context_.state->deadline;
    return deadline.has(static_cast<double>(compiles + request_.rivals.size()) *
                            deadline.trial_with_spec() +
                        static_cast<double>(sets_found_faster()) * deadline.trial());
  }

  Status time(const std::vector<BuildId>& ids) {
    return builds_->time(plan::kChoosingRounds, ids, context_.options.seed,
                         context_.state->deadline.for_choosing());
  }
  Status time_if(const std::function<bool(const ProgramBuild&)>& wanted) {
    std::vector<BuildId> ids;
    for (const ProgramBuild& build : builds_->all())
      if (wanted(build)) ids.push_back(build.id());
    return time(ids);
  }

  // Builds with the flags that the entries were found with: alone, and with the user's starter
  // spec.
  Build base() const {
    if (found_with_.flags.empty()) return default_build();
    return {.label = found_with_.name, .flags = found_with_.flags};
  }
  Build starter() const {
    return {.label = joined_label(found_with_.name, kStarter),
            .flags = found_with_.flags,
            .spec = starter_spec_};
  }

  // Adds the starter spec as a build: the new spec must be faster.
  Status add_starter() {
    if (starter_spec_.empty()) return {};
    ProgramBuild build{starter()};
    build.without_spec = base();
    specs_[build.id()] = {};
    return builds_->add(std::move(build));
  }

  // Returns the spec text of these entries, followed by those of the starter spec.
  Result<std::string> with_starter(const std::vector<VerifiedEntry>& entries) const {
    HONE_ASSIGN(std::string text, spec_text(context_.programs->specs(), entries));
    return linked(std::move(text));
  }
  Result<std::string> linked(std::string text) const {
    if (starter_spec_.empty()) return text;
    if (text.empty()) return starter_spec_;
    return context_.compiler.ask(provider::jobs::kLinkSpecs,
                                 {context_.options.starter_spec.string(), text, {}, starter_spec_});
  }

  Result<ProgramBuild> spec_build(const std::vector<VerifiedEntry>& entries,
                                  std::string label) const {
    ProgramBuild build{Build{.label = std::move(label), .flags = found_with_.flags}};
    HONE_ASSIGN(build.spec, with_starter(entries));
    HONE_ASSIGN(build.replaced, replaced_executables(*context_.programs, entries));
    if (build.uses_spec()) build.without_spec = starter_spec_.empty() ? base() : starter();
    return build;
  }

  // Adds the default with its wrong kernels repaired. From here on, outputs are compared with it,
  // and every spec has its entries, whatever time they take.
  Status repair() {
    repairs_ = static_cast<std::size_t>(std::ranges::count_if(entries_, &VerifiedEntry::repairs));
    if (repairs_ == 0) return {};
    HONE_TRY(builds_->add({default_build()}));
    const Group repairing = first_entries(repairs_);
    const bool all = repairs_ == entries_.size();
    HONE_ASSIGN(ProgramBuild repaired,
                spec_build(repairing, all ? label() : joined_label(found_with_.name, kRepairs)));
    const BuildId id = repaired_ = repaired.id();
    repaired.repairs = true;
    HONE_TRY(builds_->add(std::move(repaired)));
    const ProgramBuild& added = *builds_->find(id);
    if (!added.usable()) {
      // Without repairs, outputs are compared with those of a wrong program, which the verdict
      // reports.
      for (const VerifiedEntry& entry : repairing)
        leave_out(entry, "repaired by it the whole program " + added.failure);
      entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(repairs_));
      module_.clear();
      repairs_ = 0;
      return {};
    }
    specs_[id] = {.entries = repairing};
    for (std::size_t i = 0; i < added.differences.size(); ++i)
      context_.note(
          "result {} of the default is wrong in {} of {} elements, by {:.2g} at most: repaired are "
          "{}",
          i, added.differences[i].different, added.differences[i].elements,
          added.differences[i].largest, fmt::join(names_of(repairing), ", "));
    return {};
  }

  // Whether only repairs are left: the bench has that build already.
  bool only_repairs() const { return repairs_ > 0 && entries_.size() == repairs_; }

  static std::vector<std::string> names_of(const std::vector<VerifiedEntry>& entries) {
    std::vector<std::string> names;
    for (const VerifiedEntry& entry : entries)
      if (entry.repairs()) names.push_back(entry.name());
    return names;
  }

  std::vector<VerifiedEntry> first_entries(std::size_t count) const {
    return {entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(count)};
  }

  // Drops entries until the program runs with the spec and gives the expected outputs, since each
  // entry was verified only in its dispatch. Each step drops the first entry that makes the ones
  // before it fail, found by bisection.
  Status drop_entries_that_go_wrong() {
    while (entries_.size() > repairs_) {
      HONE_ASSIGN(const std::string words, failure_with(entries_.size()));
      if (words.empty()) return {};
      std::size_t right = repairs_, wrong = entries_.size();
      while (wrong - right > 1) {
        const std::size_t middle = right + (wrong - right) / 2;
        HONE_ASSIGN(const std::string failed, failure_with(middle));
        (failed.empty() ? right : wrong) = middle;
      }
      leave_out(entries_[wrong - 1], "with it the whole program " + words);
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(wrong) - 1);
      module_.clear();
    }
    return {};
  }

  // Returns why the program with the first `count` entries is not timed; empty if it is.
  Result<std::string> failure_with(std::size_t count) {
    HONE_ASSIGN(ProgramBuild build, spec_build(first_entries(count), ""));
    const bool is_whole = count == entries_.size();
    if (is_whole) build.compiled = vetted_module();
    std::string module;
    HONE_ASSIGN(std::string failed, builds_->failure_of(std::move(build), module));
    if (is_whole && failed.empty()) module_ = std::move(module);
    return failed;
  }

  // The vetted module lacks the starter spec, so it serves only if there is none.
  std::string vetted_module() const { return starter_spec_.empty() ? module_ : ""; }

  Status choose_among_near_ties() {
    const bool told =
        context_.programs->runtime().timers(context_.options.place().address).kernels != nullptr;
    if (!context_.options.near_ties || !told || entries_.empty() ||
        !has_time_for_specs(plan::kCompilesOfTies))
      return {};
    HONE_ASSIGN(module_,
                choose_among_ties(
                    context_, *builds_,
                    {request_.tuned, entries_, label(), vetted_module(), request_.reference_of,
                     [this](const std::vector<VerifiedEntry>& entries, std::string label) {
                       return spec_build(entries, std::move(label));
                     }}));
    return {};
  }

  // `first`: before any entry is dropped.
  Status add_spec_builds(bool first) {
    const std::string suffix = first ? "" : " (helping entries)";
    if (first) whole_ = repaired_;
    if (entries_.empty()) return {};
    if (!only_repairs()) {
      HONE_ASSIGN(ProgramBuild build, spec_build(entries_, label() + suffix));
      if (first) {
        whole_ = build.id();
        build.compiled = vetted_module();
      }
      specs_[build.id()] = {.entries = entries_};
      HONE_TRY(builds_->add(std::move(build)));
    }
    module_.clear();
    for (const FlagSet& set : context_.state->flag_sets)
      if (has_time_for_specs(1)) HONE_TRY(add_with(set, suffix));
    return {};
  }

  // Adds the spec under other flags. The program may then have other dispatches, so only entries
  // that were verified for the same code are applied. Adds nothing if no entry is left, or if the
  // flags do not compile.
  Status add_with(const FlagSet& set, const std::string& suffix) {
    const Build alone{.label = set.name, .flags = set.flags};
    if (builds_->timed_for(alone.id()) == nullptr) return {};
    ProgramBuild build{
        Build{.label = joined_label(set.name, set.is_whole ? kSpec : label()) + suffix,
              .flags = set.is_whole ? set.flags : joined(set.flags, found_with_.flags)}};
    build.without_spec = alone;
    if (!set.is_whole)
      build.without_spec =
          Build{.label = joined_label(set.name, found_with_.name), .flags = build.flags};
    const VettingRequest request{request_.program.path,
                                 request_.bytes,
                                 joined(context_.options.flags, build.flags),
                                 folder_,
                                 nullptr,
                                 request_.given};
    // Under other flags the program's executables have other names.
    std::vector<VerifiedEntry> configured = entries_;
    std::erase_if(configured, replaces);
    auto vetted = vet_spec(context_, request, std::move(configured));
    HONE_TRY(interruption(vetted));
    if (!vetted || vetted->entries.empty()) return {};
    HONE_ASSIGN(build.spec, linked(std::move(vetted->spec)));
    if (starter_spec_.empty()) build.compiled = std::move(vetted->module);
    specs_[build.id()] = {.entries = std::move(vetted->entries),
                          .left_out = std::move(vetted->left_out)};
    return builds_->add(std::move(build));
  }

  Status add_rivals() {
    std::vector<ProgramBuild> builds;
    for (const VerifiedBuild& rival : request_.rivals) {
      ProgramBuild& build = builds.emplace_back();
      static_cast<Build&>(build) = rival;
      build.without_spec = rival.without_spec;
    }
    return builds_->add_each(std::move(builds));
  }

  const VerifiedBuild* rival(const Build& build) const {
    return find_build(request_.rivals, build.id());
  }

  using Group = std::vector<VerifiedEntry>;

  static std::vector<Group> in_groups(std::span<const VerifiedEntry> entries, std::size_t most) {
    return mapped(groups_of(entries.size(), most), [&](const std::vector<std::size_t>& places) {
      return mapped(places, [&](std::size_t place) { return entries[place]; });
    });
  }

  // Adds ablations: the spec without each entry that is there for speed. If there are many, without
  // each of a few groups of them. Where all that the entries promise arrives, none is asked for.
  Status add_ablations() {
    const std::span<const VerifiedEntry> for_speed = std::span(entries_).subspan(repairs_);
    bool arrives = false;
    if (for_speed.size() > 1) {
      HONE_ASSIGN(arrives, what_was_promised_arrives());
    }
    groups_ = in_groups(for_speed, arrives ? 1 : plan::kMostAblations);
    return entries_.size() < 2 || arrives ? Status() : add_lacking(groups_);
  }

  // Whether the spec saves in the program what its kernels saved alone.
  Result<bool> what_was_promised_arrives() {
    const ProgramBuild* const whole = builds_->find(whole_);
    if (whole == nullptr || !whole->usable() || !whole->without_spec) return false;
    const ProgramBuild* const without = builds_->timed_for(whole->without_spec->id());
    if (without == nullptr) return false;
    HONE_ASSIGN(const double promised,
                promised_seconds(context_, request_.tuned, mapped(entries_, [](const auto& entry) {
                                   return entry.tuned->id;
                                 })));
    std::vector<double> saved;
    for (std::uint64_t round = 0; round < plan::kArrivalRounds; ++round) {
      HONE_ASSIGN(const std::vector<double> seconds,
                  builds_->sample({without->id(), whole->id()}, context_.options.seed + round));
      saved.push_back(seconds[0] - seconds[1]);
    }
    return promised > 0 && measure::median(saved) >= plan::kArrivesShare * promised;
  }

  // Adds the whole spec, as it was before any entry was dropped, without each group.
  Status add_lacking(const std::vector<Group>& groups) {
    std::vector<ProgramBuild> ablations;
    for (const Group& group : groups) {
      std::vector<VerifiedEntry> others;
      for (const VerifiedEntry& entry : specs_.at(whole_).entries)
        if (!holds(group, entry)) others.push_back(entry);
      HONE_ASSIGN(ProgramBuild build, spec_build(others, label_without(group)));
      const BuildId id = lacking_[key_of(group)] = build.id();
      specs_.try_emplace(id, SpecOfBuild{.entries = std::move(others), .ablation = true});
      ablations.push_back(std::move(build));
    }
    // Without ablations all entries stand or fall together.
    if (!has_time_for_specs(ablations.size())) return {};
    return builds_->add_each(std::move(ablations));
  }

  static bool holds(const Group& group, const VerifiedEntry& entry) {
    return std::ranges::any_of(
        group, [&](const VerifiedEntry& each) { return each.tuned == entry.tuned; });
  }

  // Includes the baseline's flags, since the spec was found with them.
  std::string label() const { return joined_label(found_with_.name, kSpec); }
  std::string label_without(const Group& group) const {
    return fmt::format("{} without {}{}", label(), group.front().name(), and_more(group));
  }
  static std::string and_more(const Group& group) {
    return group.size() > 1 ? fmt::format(" and {} more", group.size() - 1) : std::string();
  }
  using GroupKey = std::vector<const TunedDispatch*>;
  static GroupKey key_of(const Group& group) { return mapped(group, &VerifiedEntry::tuned); }
  // Returns the build of the whole spec without the group; null if there was no time for it.
  const ProgramBuild* without(const Group& group) const {
    const auto* const lacking = value_at(lacking_, key_of(group));
    return lacking == nullptr ? nullptr : builds_->timed_for(*lacking);
  }

  // Compares the whole spec with each ablation (with a single entry: with no spec). A group that
  // hurts is split.
  Result<bool> drop_entries_that_do_not_help() {
    const ProgramBuild* whole = builds_->find(whole_);
    if (whole == nullptr) return false;
    if (!whole->usable()) {
      leave_out_all("the whole program with the spec: " + whole->failure);
      repairs_ = 0;
      return false;
    }
    const ProgramBuild* const found =
        whole->without_spec ? builds_->timed_for(whole->without_spec->id()) : nullptr;
    const ProgramBuild& without_spec = found != nullptr ? *found : builds_->all().front();
    HONE_ASSIGN(const measure::PairedComparison gained,
                measure::compare_paired(without_spec.seconds, whole->seconds));
    std::vector<measure::PairedComparison> with_it;
    std::vector<measure::Verdict> verdicts;
    for (const Group& group : groups_) {
      // With a single group there is no ablation: it gets the whole spec's verdict.
      measure::PairedComparison comparison = gained;
      if (groups_.size() > 1 || repairs_ > 0) {
        HONE_ASSIGN(comparison, gained_by(group, gained));
      }
      verdicts.push_back(comparison.verdict);
      with_it.push_back(std::move(comparison));
    }
    const std::vector<bool> kept = kept_entries(verdicts, gained);
    const std::size_t before = entries_.size();
    for (std::size_t g = 0; g < groups_.size(); ++g)
      if (!kept[g]) HONE_TRY(drop(groups_[g], with_it[g]));
    return entries_.size() < before;
  }

  // Returns the whole spec's gain over the ablation; `otherwise` if there was no time for that.
  Result<measure::PairedComparison> gained_by(const Group& group,
                                              const measure::PairedComparison& otherwise) const {
    const ProgramBuild* const lacking = without(group);
    if (lacking == nullptr) return otherwise;
    return measure::compare_paired(lacking->seconds, builds_->find(whole_)->seconds);
  }

  // Drops the halves of a hurting group that hurt, and likewise halves of these. Drops the whole
  // group if it does not hurt, or no half hurts alone. `by`: the spec's gain by the group.
  Status drop(const Group& group, const measure::PairedComparison& by) {
    const std::vector<Group> halves = in_groups(group, 2);
    if (by.verdict == measure::Verdict::kSlower && halves.size() > 1) {
      HONE_TRY(add_lacking(halves));
      std::vector<BuildId> ids{default_build().id(), whole_};
      for (const Group& half : halves)
        if (const ProgramBuild* const lacking = without(half); lacking != nullptr)
          ids.push_back(lacking->id());
      HONE_TRY(time(ids));
      std::vector<measure::PairedComparison> by_half;
      for (const Group& half : halves) {
        HONE_ASSIGN(measure::PairedComparison gained, gained_by(half, by));
        by_half.push_back(std::move(gained));
      }
      bool any_hurts = false;
      for (std::size_t h = 0; h < halves.size(); ++h) {
        if (by_half[h].verdict != measure::Verdict::kSlower) continue;
        any_hurts = true;
        HONE_TRY(drop(halves[h], by_half[h]));
      }
      if (any_hurts) return {};
    }
    for (const VerifiedEntry& entry : group) {
      leave_out(entry, fmt::format("the program is {} with it{}: {:.3f}x [{:.3f}, {:.3f}]",
                                   measure::name_of(by.verdict), and_more(group), 1 / by.ratio,
                                   1 / by.interval.high, 1 / by.interval.low));
      std::erase_if(entries_, [&](const VerifiedEntry& each) { return each.tuned == entry.tuned; });
    }
    return {};
  }

  static std::vector<store::Id> verified_by(const std::vector<VerifiedEntry>& entries) {
    std::vector<store::Id> ids;
    for (const VerifiedEntry& entry : entries)
      for (const TunedDispatch* verified : entry.verified) ids.push_back(verified->id);
    return ids;
  }

  // Whether a build may still be chosen: it has no spec, or all its entries stay. An ablation may
  // be chosen if it lacks exactly the dropped entries.
  bool stays(const ProgramBuild& build) const {
    if (!build.without_spec || rival(build) != nullptr) return true;
    const auto* const of = value_at(specs_, build.id());
    if (of == nullptr) return false;
    const std::vector<VerifiedEntry>& entries = of->entries;
    if (of->ablation && entries.size() != entries_.size()) return false;
    return std::ranges::all_of(entries, [this](const VerifiedEntry& entry) {
      return std::ranges::any_of(
          entries_, [&](const VerifiedEntry& staying) { return staying.tuned == entry.tuned; });
    });
  }

  Status keep_right_ones() {
    for (const ProgramBuild& build : builds_->all()) {
      if (!build.usable() || !stays(build)) continue;
      VerifiedBuild right{build};
      if (const VerifiedBuild* const known = rival(build); known != nullptr) {
        right.shipped = known->shipped;
        right.left_out = known->left_out;
        right.repairs = known->repairs;
        right.repaired_error = known->repaired_error;
      } else if (build.without_spec) {
        const SpecOfBuild& of = specs_.at(build.id());
        right.shipped = verified_by(of.entries);
        right.left_out = of.left_out;
        right.repairs = names_of(of.entries);
        if (!right.repairs.empty()) right.repaired_error = builds_->find(repaired_)->repaired_error;
      }
      proven_.builds.push_back(std::move(right));
    }
    return {};
  }

  struct SpecOfBuild {
    std::vector<VerifiedEntry> entries;
    std::vector<LeftOut> left_out = {};
    bool ablation = false;  // the spec without one entry
  };

  Context& context_;
  const ProofRequest& request_;
  const FlagSet& found_with_;        // the entries, beyond the session's flags
  const std::string& starter_spec_;  // text
  std::filesystem::path folder_;
  std::vector<VerifiedEntry> entries_;  // those that repair first
  std::size_t repairs_ = 0;             // how many of them do
  BuildId repaired_;                    // the program with these alone
  BuildId whole_;                       // that with all of them, before any is dropped
  std::string module_;  // with all entries_ and the flags they were found with; may be empty
  std::optional<BuildBench> builds_;
  std::map<BuildId, SpecOfBuild> specs_;
  std::map<GroupKey, BuildId> lacking_;  // the whole spec without each group
  std::vector<Group> groups_;            // of entries_, that are left out together
  ProvenProgram proven_;
};

}  // namespace

Result<ProvenProgram> prove_program(Context& context, const ProofRequest& request) {
  return Proof(context, request).run();
}

Result<ProvingRounds> prove_build(Context& context, ProgramBench& bench,
                                  const VerifiedBuild& chosen) {
  BuildBench& builds = bench.builds;
  const BuildId base = default_build().id(), id = chosen.id();
  HONE_TRY(builds.compile_plainly(id));
  const ProgramBuild* alone = nullptr;
  if (chosen.without_spec && chosen.without_spec->id() != base) {
    HONE_TRY(builds.add({*chosen.without_spec}));
    alone = builds.timed_for(chosen.without_spec->id());
  }
  std::vector<BuildId> ids{base, id};
  if (alone != nullptr && alone->id() != base) ids.push_back(alone->id());
  // Other orders than in the choosing rounds.
  HONE_TRY(builds.time(plan::kProvingRounds, ids, context.options.seed + 1,
                       context.state->deadline.for_proving()));
  ProvingRounds rounds;
  rounds.base = builds.find(base)->seconds;
  rounds.chosen = builds.find(id)->seconds;
  if (ids.size() > 2) rounds.flags = builds.find(ids.back())->seconds;
  return rounds;
}

}  // namespace hone::tune
