#include "tune/program/program_proof.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "provider/ptx_kernel.h"
#include "tune/program/entry_choice.h"
#include "tune/program/spec_vetting.h"
#include "tune/program/tie_choice.h"
#include "tune/services/function_choice.h"

namespace hone::tune {
namespace {

// Those that choose, and those that say what is claimed. At 3 % noise 20 of the latter find a gain
// of 5 % in nine of ten proofs (tests/tune/variant_choice_simulation_test.cc prints the shares).
constexpr int kChoosingRounds = 12, kProvingRounds = 20;
// The program with the winners alone, and with near ties of two ranks.
constexpr std::size_t kCompilesOfTies = 3;
constexpr std::string_view kDefault = "default";
constexpr std::string_view kSpec = "spec";
// The one that the user had before, whose entries every spec has behind its own.
constexpr std::string_view kStarter = "starter spec";
// Where the compiler's own kernels are wrong: with what is right in their place, and nothing else.
constexpr std::string_view kRepairs = "repairs";

// Two ways of building at once: "data tiling + spec".
std::string both(const std::string& a, std::string_view b) {
  return a.empty() ? std::string(b) : fmt::format("{} + {}", a, b);
}

std::vector<std::string> joined(std::vector<std::string> flags,
                                const std::vector<std::string>& more) {
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

class Proof {
 public:
  Proof(Context& context, const problem::Program& program, const std::string& bytes,
        std::vector<TunedDispatch>& tuned, const ReferenceOf& reference_of,
        const std::vector<RightVariant>& rivals)
      : context_(context),
        program_(program),
        bytes_(bytes),
        tuned_(tuned),
        reference_of_(reference_of),
        rivals_(rivals) {}

  Result<ProvenProgram> run() {
    HONE_ASSIGN(TemporaryFolder folder, TemporaryFolder::create("hone-program-"));
    folder_ = folder.path();
    entries_ = spec_entries(*context_.programs, tuned_, proven_.left_out);
    std::vector<VerifiedEntry> replacing;
    std::ranges::copy_if(entries_, std::back_inserter(replacing), replaces);
    std::erase_if(entries_, replaces);
    HONE_TRY(vet());
    // The compiler reads no configuration for what is replaced: whether it takes the kernel shows
    // when the whole program is compiled with it.
    if (!replacing.empty()) module_.clear();
    entries_.insert(entries_.end(), replacing.begin(), replacing.end());
    std::ranges::stable_partition(entries_, &VerifiedEntry::repairs);
    const std::optional<problem::Function> function = callable();
    if (function) HONE_TRY(compare_where_it_runs(*function));
    if (!function && entries_.empty()) HONE_TRY(compile_without_spec());
    HONE_ASSIGN(proven_.spec, with_starter(entries_));
    HONE_ASSIGN(proven_.replaced, replaced_executables(*context_.programs, entries_));
    proven_.shipped = verified_by(entries_);
    if (variants_ && !proven_.variants.empty())
      proven_.bench =
          std::make_shared<ProgramBench>(ProgramBench{std::move(folder), std::move(*variants_)});
    return std::move(proven_);
  }

 private:
  std::optional<problem::Function> callable() const {
    if (!context_.options.prove) return std::nullopt;
    Result<problem::Function> function =
        function_to_call(program_, context_.options.function, context_.options.inputs);
    if (function) return std::move(*function);
    context_.not_proved = function.error().message;
    context_.observer.note(function.error().message +
                           ": the program is compiled with the spec, which is checked to be "
                           "applied; its gain in the whole program is not measured");
    return std::nullopt;
  }

  // With the flags that the entries were found with, whether the program can be run or not.
  Status vet() {
    if (!rivals_.empty() && !has_time_for_specs(1)) {
      for (const VerifiedEntry& entry : entries_)
        leave_out(entry, "no time is left to compile the program with it");
      entries_.clear();
      return {};
    }
    const bool as_loaded = context_.added.flags.empty();
    const VettingRequest request{program_.path, bytes_, context_.flags(), folder_,
                                 as_loaded ? &program_ : nullptr};
    auto vetted = vet_spec(context_, request, entries_);
    if (!vetted && vetted.error().kind == ErrorKind::kFailure) {
      // What was tuned is kept; a program that the compiler refuses has no use for a spec.
      context_.observer.note(vetted.error().message);
      for (const VerifiedEntry& entry : entries_) leave_out(entry, vetted.error().message);
      entries_.clear();
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

  // What will be written then are the user's own flags.
  Status compile_without_spec() {
    HONE_ASSIGN(const auto compiled,
                context_.compiler.compile_program(program_.path, bytes_, context_.options.flags));
    if (!compiled)
      context_.observer.note("the program does not compile, without a spec: " +
                             compiled.error().message);
    return {};
  }

  // On a GPU: that the kernels inside the program are those that were verified and measured as they
  // ship (shipped_kernels.h).
  Status compare_kernels() {
    const Variant* whole = variants_->find(whole_);
    if (whole == nullptr || whole->module.empty()) return {};
    HONE_ASSIGN(const std::string module, read_file(whole->module));
    for (const VerifiedEntry& entry : entries_) {
      if (entry.tuned->code.empty()) continue;
      const std::string& name = entry.name();
      const auto code = context_.programs->device_code(module, name);
      const bool same = code && provider::ptx_kernel(*code, name) ==
                                    provider::ptx_kernel(entry.tuned->code, name);
      HONE_TRY(context_.store.log_event(
          "shipped code", fmt::format("{}: {}", name, same ? "as measured" : "other PTX")));
      if (!same)
        context_.observer.note(fmt::format(
            "{}: the program holds other PTX for it than what was measured; the times of the whole "
            "program are of what it holds",
            name));
    }
    return {};
  }

  // Takes a missing runtime, or a program that fails in it, for a note: hone has tuned all the
  // same.
  Status compare_where_it_runs(const problem::Function& function) {
    const Status compared = compare_on(function);
    const auto is = [&](ErrorKind kind) { return compared.error().kind == kind; };
    if (compared || !(is(ErrorKind::kEnvironment) || is(ErrorKind::kFailure))) return compared;
    proven_.variants.clear();
    context_.not_proved = compared.error().message;
    return {};
  }

  void leave_out(const VerifiedEntry& entry, const std::string& reason) {
    for (const TunedDispatch* verified : entry.verified)
      proven_.left_out.push_back({verified->dispatch->name, reason});
  }

  Status compare_on(const problem::Function& function) {
    // The compiler's freedom to reorder sums was added for the sake of dispatches alone.
    const bool has_flags =
        !context_.added.flags.empty() && context_.added.flags != context_.options.sums.flags;
    if (!context_.deadline.can_prove() && entries_.empty() && !has_flags) {
      proven_.variants.push_back({.name = std::string(kDefault), .flags = {}});
      return {};
    }
    if (!context_.deadline.can_prove())
      return failure("no time is left to prove it: --budget {:.0f}s would do",
                     context_.deadline.sufficient());
    HONE_ASSIGN(variants_, ProgramVariants::create(context_, program_, bytes_, function, folder_));
    HONE_TRY(repair());
    std::vector<Variant> without_spec;
    if (variants_->all().empty()) without_spec.push_back({.name = std::string(kDefault)});
    if (!context_.added.flags.empty())
      without_spec.push_back({.name = context_.added.name, .flags = context_.added.flags});
    for (const FlagSet& set : context_.flag_sets)
      if (context_.deadline.has(static_cast<double>(without_spec.size() + 1) *
                                context_.deadline.next_compile()))
        without_spec.push_back({.name = set.name, .flags = set.flags});
    HONE_TRY(variants_->add_each(std::move(without_spec)));
    HONE_TRY(add_starter());
    HONE_TRY(drop_entries_that_go_wrong());
    HONE_TRY(choose_among_near_ties());
    HONE_TRY(add_spec_variants(""));
    HONE_TRY(variants_->compile_plainly_ahead(whole_));
    HONE_TRY(compare_kernels());
    HONE_TRY(add_ablations());
    HONE_TRY(add_rivals());
    HONE_TRY(time_all());
    HONE_ASSIGN(const bool dropped, drop_entries_that_do_not_help());
    if (dropped) {
      HONE_TRY(add_spec_variants(" (helping entries)"));
      HONE_TRY(time_what_stays());
    }
    return keep_right_ones();
  }

  // Whether so many more compiles with a spec, and those of the rivals, leave time to prove.
  bool has_time_for_specs(std::size_t compiles) const {
    return context_.deadline.has(static_cast<double>(compiles + rivals_.size()) *
                                 context_.deadline.next_with_spec());
  }

  Status time_all() {
    std::vector<std::string> names;
    for (const Variant& variant : variants_->all()) names.push_back(variant.name);
    return time(names);
  }
  Status time(const std::vector<std::string>& names) {
    return variants_->time(kChoosingRounds, names, context_.options.seed,
                           context_.deadline.for_choosing());
  }

  // Once more, since variants are compared within rounds: what may still be chosen.
  Status time_what_stays() {
    std::vector<std::string> names;
    for (const Variant& variant : variants_->all())
      if (stays(variant)) names.push_back(variant.name);
    return time(names);
  }

  // What the user has: what is found must be better than that.
  Status add_starter() {
    if (context_.starter_spec.empty()) return {};
    entries_of_[starter_name()] = {};
    Variant starter{.name = starter_name(), .flags = context_.added.flags};
    starter.spec = context_.starter_spec;
    starter.without_spec = base_name();
    return variants_->add(std::move(starter));
  }

  // The spec with these entries, and those of the starter spec behind them.
  Result<std::string> with_starter(const std::vector<VerifiedEntry>& entries) const {
    HONE_ASSIGN(std::string text, spec_text(*context_.programs, entries));
    return linked(std::move(text));
  }
  Result<std::string> linked(std::string text) const {
    if (context_.starter_spec.empty()) return text;
    if (text.empty()) return context_.starter_spec;
    return context_.compiler.link_specs(context_.options.starter_spec.string(), text,
                                        context_.starter_spec);
  }

  std::string base_name() const {
    return context_.added.name.empty() ? std::string(kDefault) : context_.added.name;
  }
  std::string starter_name() const { return both(context_.added.name, kStarter); }

  Result<Variant> spec_variant(const std::vector<VerifiedEntry>& entries, std::string name) const {
    Variant variant{.name = std::move(name), .flags = context_.added.flags};
    HONE_ASSIGN(variant.spec, with_starter(entries));
    HONE_ASSIGN(variant.replaced, replaced_executables(*context_.programs, entries));
    variant.without_spec = context_.starter_spec.empty() ? base_name() : starter_name();
    return variant;
  }

  // The default with its wrong kernels repaired is what outputs are compared with from here on. All
  // that follows has these entries, whatever time they take.
  Status repair() {
    repairs_ = static_cast<std::size_t>(std::ranges::count_if(entries_, &VerifiedEntry::repairs));
    if (repairs_ == 0) return {};
    HONE_TRY(variants_->add({.name = std::string(kDefault)}));
    const Group repairing(entries_.begin(), entries_.begin() + as_distance(repairs_));
    const bool all = repairs_ == entries_.size();
    HONE_ASSIGN(Variant repaired,
                spec_variant(repairing, all ? spec_name() : both(context_.added.name, kRepairs)));
    const std::string name = repaired_ = repaired.name;
    repaired.repairs = true;
    HONE_TRY(variants_->add(std::move(repaired)));
    const Variant& added = *variants_->find(name);
    if (!added.usable()) {
      // Without them the rest is compared with a program that is wrong, as is said at the end.
      for (const VerifiedEntry& entry : repairing)
        leave_out(entry, "repaired by it the whole program " + added.failure);
      entries_.erase(entries_.begin(), entries_.begin() + as_distance(repairs_));
      module_.clear();
      repairs_ = 0;
      return {};
    }
    entries_of_[name] = {.entries = repairing};
    for (std::size_t i = 0; i < added.differences.size(); ++i)
      context_.observer.note(fmt::format(
          "result {} of the default is wrong in {} of {} elements, by {:.2g} at most: repaired are "
          "{}",
          i, added.differences[i].different, added.differences[i].elements,
          added.differences[i].largest, fmt::join(names_of(repairing), ", ")));
    return {};
  }

  // Whether nothing but repairs is left, which are a way to build the program already.
  bool only_repairs() const { return repairs_ > 0 && entries_.size() == repairs_; }

  static std::vector<std::string> names_of(const std::vector<VerifiedEntry>& entries) {
    std::vector<std::string> names;
    for (const VerifiedEntry& entry : entries)
      if (entry.repairs()) names.push_back(entry.name());
    return names;
  }

  static std::ptrdiff_t as_distance(std::size_t count) {
    return static_cast<std::ptrdiff_t>(count);
  }

  // Drops entries while the program does not run with the spec, or gives other outputs, though
  // every entry was verified in its dispatch: each time the first entry with which those before it
  // go wrong.
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
      entries_.erase(entries_.begin() + as_distance(wrong) - 1);
      module_.clear();
    }
    return {};
  }

  // Why the program with the first so many entries is not timed; empty where it is.
  Result<std::string> failure_with(std::size_t count) {
    const std::vector<VerifiedEntry> some(entries_.begin(), entries_.begin() + as_distance(count));
    HONE_ASSIGN(Variant variant, spec_variant(some, ""));
    if (count == entries_.size()) variant.compiled = vetted_module();
    return variants_->failure_of(std::move(variant));
  }

  // What was vetted has the new entries only.
  std::string vetted_module() const { return context_.starter_spec.empty() ? module_ : ""; }

  Status choose_among_near_ties() {
    const bool told = context_.programs->tells_kernel_times(context_.options.place().address);
    if (!context_.options.near_ties || !told || entries_.empty() ||
        !has_time_for_specs(kCompilesOfTies))
      return {};
    TieChoice choice(
        context_, *variants_, tuned_, reference_of_,
        [this](const std::vector<VerifiedEntry>& entries, std::string name) {
          return spec_variant(entries, std::move(name));
        },
        kChoosingRounds);
    HONE_ASSIGN(module_, choice.choose(entries_, spec_name(), vetted_module()));
    return {};
  }

  Status add_spec_variants(std::string_view suffix) {
    if (suffix.empty()) whole_ = only_repairs() ? repaired_ : spec_name();
    if (entries_.empty()) return {};
    if (!only_repairs()) {
      HONE_ASSIGN(Variant variant, spec_variant(entries_, spec_name() + std::string(suffix)));
      if (suffix.empty()) variant.compiled = vetted_module();
      entries_of_[variant.name] = {.entries = entries_};
      HONE_TRY(variants_->add(std::move(variant)));
    }
    module_.clear();
    for (const FlagSet& set : context_.flag_sets)
      if (has_time_for_specs(1)) HONE_TRY(add_with(set, suffix));
    return {};
  }

  // With other flags the program may have other dispatches: only what was verified for the same
  // code is applied. Nothing is added where no entry is left, or the flags do not compile.
  Status add_with(const FlagSet& set, std::string_view suffix) {
    const Variant* const alone = variants_->timed_for(set.name);
    if (alone == nullptr) return {};
    const std::string name = both(set.name, set.is_whole ? std::string(kSpec) : spec_name());
    Variant variant{.name = name + std::string(suffix),
                    .flags = set.is_whole ? set.flags : joined(set.flags, context_.added.flags)};
    variant.without_spec = both(set.name, context_.added.name);
    if (context_.added.name.empty() || set.is_whole) variant.without_spec = set.name;
    const VettingRequest request{program_.path, bytes_,
                                 joined(context_.options.flags, variant.flags), folder_};
    // Under other flags the program's executables have other names.
    std::vector<VerifiedEntry> configured = entries_;
    std::erase_if(configured, replaces);
    auto vetted = vet_spec(context_, request, std::move(configured));
    if (!vetted && vetted.error().kind == ErrorKind::kInterrupted)
      return tl::unexpected(std::move(vetted).error());
    if (!vetted || vetted->entries.empty()) return {};
    HONE_ASSIGN(variant.spec, linked(std::move(vetted->spec)));
    if (context_.starter_spec.empty()) variant.compiled = std::move(vetted->module);
    entries_of_[variant.name] = {.entries = std::move(vetted->entries),
                                 .left_out = std::move(vetted->left_out)};
    return variants_->add(std::move(variant));
  }

  Status add_rivals() {
    std::vector<Variant> variants;
    for (const RightVariant& rival : rivals_)
      variants.push_back({.name = rival.name,
                          .flags = rival.flags,
                          .spec = rival.spec,
                          .replaced = rival.replaced,
                          .without_spec = rival.without_spec});
    return variants_->add_each(std::move(variants));
  }

  const RightVariant* rival(const Variant& variant) const {
    const auto found = std::ranges::find(rivals_, variant.name, &RightVariant::name);
    return found == rivals_.end() ? nullptr : &*found;
  }

  using Group = std::vector<VerifiedEntry>;

  // The spec without each entry that is there for speed; of many, without each of a few groups of
  // them.
  Status add_ablations() {
    groups_.clear();
    for (const std::vector<std::size_t>& places :
         groups_of(entries_.size() - repairs_, kMostGroups)) {
      Group& group = groups_.emplace_back();
      for (const std::size_t place : places) group.push_back(entries_[repairs_ + place]);
    }
    return entries_.size() < 2 ? Status() : add_lacking(groups_);
  }

  // The whole spec, as it is without any dropped, without each group.
  Status add_lacking(const std::vector<Group>& groups) {
    std::vector<Variant> ablations;
    for (const Group& group : groups) {
      std::vector<VerifiedEntry> others;
      for (const VerifiedEntry& entry : entries_of_.at(whole_).entries)
        if (!holds(group, entry)) others.push_back(entry);
      HONE_ASSIGN(Variant variant, spec_variant(others, without(group)));
      entries_of_[variant.name] = {.entries = std::move(others), .ablation = true};
      ablations.push_back(std::move(variant));
    }
    // Without them all entries stand or fall together.
    if (!has_time_for_specs(ablations.size())) return {};
    return variants_->add_each(std::move(ablations));
  }

  static bool holds(const Group& group, const VerifiedEntry& entry) {
    return std::ranges::any_of(
        group, [&](const VerifiedEntry& each) { return each.tuned == entry.tuned; });
  }

  // What is added is part of what the spec was found with.
  std::string spec_name() const { return both(context_.added.name, kSpec); }
  std::string without(const Group& group) const {
    const std::string more =
        group.size() > 1 ? fmt::format(" and {} more", group.size() - 1) : std::string();
    return fmt::format("{} without {}{}", spec_name(), group.front().name(), more);
  }

  // By the program with the whole spec beside the one that lacks a group (with a single entry: the
  // one without a spec). A group that hurts is taken apart.
  Result<bool> drop_entries_that_do_not_help() {
    const Variant* whole = variants_->find(whole_);
    if (whole == nullptr) return false;
    if (!whole->usable()) {
      for (const VerifiedEntry& entry : entries_)
        leave_out(entry, "the whole program with the spec: " + whole->failure);
      entries_.clear();
      repairs_ = 0;
      return false;
    }
    const Variant* const found = variants_->timed_for(whole->without_spec);
    const Variant& without_spec = found != nullptr ? *found : variants_->all().front();
    HONE_ASSIGN(const measure::PairedComparison gained,
                measure::compare_paired(without_spec.seconds, whole->seconds));
    std::vector<measure::PairedComparison> with_it;
    std::vector<measure::Verdict> verdicts;
    for (const Group& group : groups_) {
      // One that cannot be left out stands or falls with all of them.
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

  // What the whole spec gains over the one that lacks the group; `otherwise` where that has no
  // time.
  Result<measure::PairedComparison> gained_by(const Group& group,
                                              const measure::PairedComparison& otherwise) const {
    const Variant* const lacking = variants_->timed_for(without(group));
    if (lacking == nullptr) return otherwise;
    return measure::compare_paired(lacking->seconds, variants_->find(whole_)->seconds);
  }

  // Drops the halves that hurt of a group that hurts, and of these theirs; the whole group where no
  // half hurts by itself. `by`: what the spec gains by the group.
  Status drop(const Group& group, const measure::PairedComparison& by) {
    std::vector<Group> halves;
    for (const std::vector<std::size_t>& places : groups_of(group.size(), 2)) {
      Group& half = halves.emplace_back();
      for (const std::size_t place : places) half.push_back(group[place]);
    }
    if (by.verdict == measure::Verdict::kSlower && halves.size() > 1) {
      HONE_TRY(add_lacking(halves));
      std::vector<std::string> names{std::string(kDefault), whole_};
      for (const Group& half : halves)
        if (const Variant* const lacking = variants_->timed_for(without(half)); lacking != nullptr)
          names.push_back(lacking->name);
      HONE_TRY(time(names));
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
      const std::string together =
          group.size() > 1 ? fmt::format(" and {} more", group.size() - 1) : std::string();
      leave_out(entry, fmt::format("the program is {} with it{}: {:.3f}x [{:.3f}, {:.3f}]",
                                   measure::name_of(by.verdict), together, 1 / by.ratio,
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

  // Without a spec, or with entries that all stay. One that lacked an entry is the spec that is
  // left where it lacked just what did not help.
  bool stays(const Variant& variant) const {
    if (variant.without_spec.empty() || rival(variant) != nullptr) return true;
    const auto of = entries_of_.find(variant.name);
    if (of == entries_of_.end()) return false;
    const std::vector<VerifiedEntry>& entries = of->second.entries;
    if (of->second.ablation && entries.size() != entries_.size()) return false;
    return std::all_of(entries.begin(), entries.end(), [this](const VerifiedEntry& entry) {
      return std::any_of(entries_.begin(), entries_.end(), [&](const VerifiedEntry& staying) {
        return staying.tuned == entry.tuned;
      });
    });
  }

  Status keep_right_ones() {
    for (const Variant& variant : variants_->all()) {
      if (!variant.usable() || !stays(variant)) continue;
      RightVariant right{.name = variant.name,
                         .flags = variant.flags,
                         .spec = variant.spec,
                         .replaced = variant.replaced,
                         .without_spec = variant.without_spec,
                         .seconds = variant.seconds,
                         .differences = variant.differences};
      if (const RightVariant* const known = rival(variant); known != nullptr) {
        right.shipped = known->shipped;
        right.left_out = known->left_out;
        right.repairs = known->repairs;
        right.repaired_error = known->repaired_error;
      } else if (!variant.without_spec.empty()) {
        const SpecOfVariant& of = entries_of_.at(variant.name);
        right.shipped = verified_by(of.entries);
        right.left_out = of.left_out;
        right.repairs = names_of(of.entries);
        if (!right.repairs.empty())
          right.repaired_error = variants_->find(repaired_)->repaired_error;
      }
      proven_.variants.push_back(std::move(right));
    }
    return {};
  }

  struct SpecOfVariant {
    std::vector<VerifiedEntry> entries;
    std::vector<LeftOut> left_out = {};
    bool ablation = false;  // the spec without one entry
  };

  Context& context_;
  const problem::Program& program_;
  const std::string& bytes_;
  std::vector<TunedDispatch>& tuned_;
  const ReferenceOf& reference_of_;
  const std::vector<RightVariant>& rivals_;
  std::filesystem::path folder_;
  std::vector<VerifiedEntry> entries_;  // those that repair first
  std::size_t repairs_ = 0;             // how many of them do
  std::string repaired_;                // the name of the program with these alone
  std::string whole_;                   // of that with all of them, before any is dropped
  std::string module_;  // with all entries_ and the flags they were found with; may be empty
  std::optional<ProgramVariants> variants_;
  std::map<std::string, SpecOfVariant> entries_of_;  // by the variant's name
  std::vector<Group> groups_;                        // of entries_, that are left out together
  ProvenProgram proven_;
};

}  // namespace

Result<ProvenProgram> prove_program(Context& context, const problem::Program& program,
                                    const std::string& bytes, std::vector<TunedDispatch>& tuned,
                                    const ReferenceOf& reference_of,
                                    const std::vector<RightVariant>& rivals) {
  return Proof(context, program, bytes, tuned, reference_of, rivals).run();
}

Result<ProvingRounds> prove_variant(Context& context, ProgramBench& bench,
                                    const RightVariant& variant) {
  ProgramVariants& variants = bench.variants;
  HONE_TRY(variants.compile_plainly(variant.name));
  const bool has_flags = variant.uses_spec() && variant.without_spec != kDefault;
  if (has_flags && variants.find(variant.without_spec) == nullptr)
    HONE_TRY(variants.add({.name = variant.without_spec, .flags = variant.flags}));
  const Variant* alone = has_flags ? variants.timed_for(variant.without_spec) : nullptr;
  std::vector<std::string> names{std::string(kDefault), variant.name};
  if (alone != nullptr && alone->name != kDefault) names.push_back(alone->name);
  // Other orders than those of the rounds that chose.
  HONE_TRY(variants.time(kProvingRounds, names, context.options.seed + 1,
                         context.deadline.for_proving()));
  ProvingRounds rounds;
  rounds.base = variants.find(kDefault)->seconds;
  rounds.chosen = variants.find(variant.name)->seconds;
  if (names.size() > 2) rounds.flags = variants.find(names.back())->seconds;
  return rounds;
}

}  // namespace hone::tune
