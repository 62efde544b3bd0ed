#include "tune/flag_baseline.h"

#include <algorithm>
#include <set>

#include "plan/policy.h"
#include "tune/program/spec_entries.h"

namespace hone::tune {
namespace {

// Takes out of `at` the launch sets of each executable that some winner would replace.
std::vector<std::vector<DispatchAtSize>> take_replaced(std::vector<DispatchAtSize>& at) {
  std::vector<std::vector<DispatchAtSize>> taken;
  for (;;) {
    const auto replaced =
        std::ranges::find_if(at, [](const DispatchAtSize& each) { return each.tuned->replaces(); });
    if (replaced == at.end()) return taken;
    const std::string executable = replaced->tuned->dispatch->executable;
    const auto others = std::stable_partition(at.begin(), at.end(), [&](const auto& each) {
      return each.tuned->dispatch->executable != executable;
    });
    taken.emplace_back(others, at.end());
    at.erase(others, at.end());
  }
}

// Returns the input with the most dimensions: vectors are loaded from it.
const problem::Operand* largest_input(const problem::Operation& root) {
  const problem::Operand* largest = nullptr;
  for (const problem::Operand& operand : root.operands)
    if (!operand.output && (largest == nullptr || operand.loops.size() > largest->loops.size()))
      largest = &operand;
  return largest;
}

bool reduces_along_rows(const problem::Operation& root) {
  const problem::Operand* const input = largest_input(root);
  if (input == nullptr || input->loops.empty() || input->loops.back() < 0) return false;
  return root.loops[static_cast<std::size_t>(input->loops.back())].reduction;
}

}  // namespace

FlagBaseline::FlagBaseline(const Context& context, const std::vector<problem::SizeSet>& sizes)
    : context_(std::make_unique<Context>(context)) {
  tunings_.reserve(sizes.size());
  for (const problem::SizeSet& set : sizes)
    tunings_.emplace_back(*context_, set,
                          sizes.size() > 1 ? ", " + problem::to_string(set) : std::string());
}

Status FlagBaseline::load(const FlagSet& flags, const std::shared_ptr<const std::string>& bytes) {
  const BaselineFlags before = context_->baseline;
  if (!flags.flags.empty()) HONE_TRY(add(flags));
  for (ProgramTuning& tuning : tunings_) {
    Status loaded = tuning.load(bytes);
    if (loaded) continue;
    context_->baseline = before;
    return loaded;
  }
  return {};
}

Status FlagBaseline::add(const FlagSet& set) {
  BaselineFlags& baseline = context_->baseline;
  FlagSet& extra = baseline.extra_flags;
  extra.name = joined_label(extra.name, set.name);
  extra.flags = joined(std::move(extra.flags), set.flags);
  HONE_ASSIGN(baseline.build, context_->build_with(context_->flags()));
  return {};
}

Status FlagBaseline::weigh(double seconds, const store::Run& run) {
  for (ProgramTuning& tuning : tunings_)
    HONE_TRY(tuning.weigh(seconds / static_cast<double>(tunings_.size()), run));
  return {};
}

double FlagBaseline::seconds_of_a_call() const {
  return sum_of(&plan::WorkPlan::time);
}

double FlagBaseline::possible_gain() const {
  return sum_of(&plan::WorkPlan::gain);
}

double FlagBaseline::sum_of(double (plan::WorkPlan::*seconds)() const) const {
  double all = 0;
  for (const ProgramTuning& tuning : tunings_) all += (tuning.plan().*seconds)();
  return all;
}

bool FlagBaseline::is_begun() const {
  return std::ranges::any_of(tunings_, [](const ProgramTuning& tuning) {
    return tuning.plan().count(plan::State::kFinished) > 0;
  });
}

double FlagBaseline::shard_share() const {
  double all = 0;
  for (const ProgramTuning& tuning : tunings_) all += tuning.shard_share();
  return all / static_cast<double>(tunings_.size());
}

Status FlagBaseline::tune_shard(double seconds) {
  const auto sizes = static_cast<double>(tunings_.size());
  for (ProgramTuning& tuning : tunings_) HONE_TRY(tuning.search(seconds / sizes, 1));
  return {};
}

Status FlagBaseline::leave_out(const std::string& reason,
                               const std::vector<VerifiedBuild>& rivals) {
  for (ProgramTuning& tuning : tunings_) HONE_TRY(tuning.leave_out(reason));
  return prove(rivals);
}

Status FlagBaseline::tune(double seconds, const std::vector<VerifiedBuild>& rivals) {
  const auto sizes = static_cast<double>(tunings_.size());
  const bool several = one_configuration_for_several();
  const bool is_quick = tunings_.size() == 1 && context_->options.traits().one_batch_tells;
  const double searched = !several   ? 1
                          : is_quick ? plan::kSearchShareOfEntries
                                     : plan::kSearchShareOfSizes;
  const double part = searched * seconds / context_->options.budget_seconds / sizes;
  for (ProgramTuning& tuning : tunings_) HONE_TRY(tuning.search(seconds / sizes * searched, part));
  if (several) HONE_TRY(choose_for_all(seconds * (1 - searched)));
  // Near ties are settled by each size's program, but one configuration serves all sizes.
  if (tunings_.size() > 1)
    for (ProgramTuning& tuning : tunings_)
      for (TunedDispatch& tuned : tuning.result().tuned) tuned.near_ties.clear();
  return prove(rivals);
}

Status FlagBaseline::record_as_rival(const std::optional<VerifiedBuild>& best) {
  // A dispatch of both baselines is in the spec of the other's build, not of this one's.
  std::optional<VerifiedBuild> other = best;
  if (other) other->shipped.clear();
  for (ProgramTuning& tuning : tunings_) HONE_TRY(tuning.record(other ? &*other : nullptr));
  return {};
}

Status FlagBaseline::record(const std::optional<VerifiedBuild>& best) {
  for (ProgramTuning& tuning : tunings_) {
    const VerifiedBuild* const here = best && best->uses_spec() ? find(tuning, *best)
                                      : best                    ? &*best
                                                                : nullptr;
    HONE_TRY(tuning.record(here));
  }
  return {};
}

Result<std::optional<VerifiedBuild>> FlagBaseline::best_build_for_comparison() {
  ProvenProgram& proven = tunings_.front().result().proven;
  HONE_ASSIGN(std::optional<VerifiedBuild> best, most_promising({proven.builds}));
  proven.bench.reset();
  if (best && !best->uses_spec()) best.reset();
  return best;
}

Status FlagBaseline::add_sums() {
  const bool sums = std::ranges::any_of(tunings_, [](const ProgramTuning& tuning) {
    const auto& chosen = tuning.chosen();
    return std::ranges::any_of(
        chosen, [](const problem::Dispatch* dispatch) { return reduces_along_lanes(*dispatch); });
  });
  const FlagSet& set = context_->options.sums;
  const std::vector<std::string>& flags = context_->baseline.extra_flags.flags;
  const bool has_it = std::ranges::all_of(
      set.flags, [&](const std::string& flag) { return std::ranges::count(flags, flag) > 0; });
  if (!sums || has_it || context_->options.bit_equal) return {};
  HONE_TRY(add(set));
  context_->note(
      "the program adds up floating-point numbers: it is tuned with {} ({}), the default of each "
      "dispatch included; the whole program is compared without it too",
      fmt::join(set.flags, " "), set.name);
  return {};
}

// Returns the dispatches of these names at each size; fewer if one was not tuned at a size.
std::vector<DispatchAtSize> FlagBaseline::at_each(const std::vector<std::string>& names) {
  std::vector<DispatchAtSize> found;
  for (ProgramTuning& tuning : tunings_)
    for (TunedDispatch& tuned : tuning.result().tuned) {
      if (std::ranges::count(names, tuned.dispatch->name) == 0) continue;
      std::vector<std::string> where;
      // Launch sets of one kernel have its name: their sizes tell them apart.
      const std::string& name = tuned.dispatch->name;
      const bool one_of_several_sets = std::ranges::count(names, name) > 1;
      if (names.size() > 1)
        where.push_back(one_of_several_sets ? problem::describe(tuned.dispatch->root) : name);
      if (tunings_.size() > 1) where.push_back(problem::to_string(tuning.result().sizes));
      found.push_back({&tuned, tuning.reference_of(*tuned.dispatch),
                       fmt::format("{}", fmt::join(where, " at "))});
    }
  return found;
}
// Names of the chosen dispatches, grouped by the spec entry that matches them.
std::vector<std::vector<std::string>> FlagBaseline::spec_classes() {
  std::vector<std::vector<std::string>> classes;
  std::set<std::string> known;  // of the tunings before
  // Compares dispatches of one size only: operations around a root have the sizes of that root.
  for (const ProgramTuning& tuning : tunings_) {
    std::vector<std::pair<const problem::Dispatch*, std::size_t>> first_of;  // of each class
    for (const problem::Dispatch* dispatch : tuning.chosen()) {
      if (known.contains(dispatch->name)) continue;
      const auto same = std::ranges::find_if(first_of, [&](const auto& first) {
        return one_entry_for(context_->programs->specs(), *dispatch, *first.first);
      });
      if (same == first_of.end()) {
        first_of.emplace_back(dispatch, classes.size());
        classes.push_back({dispatch->name});
      } else {
        classes[same->second].push_back(dispatch->name);
      }
    }
    for (const std::vector<std::string>& names : classes) known.insert(names.begin(), names.end());
  }
  return classes;
}

bool FlagBaseline::one_configuration_for_several() {
  const auto classes = spec_classes();
  return tunings_.size() > 1 ||
         std::ranges::any_of(classes, [](const auto& names) { return names.size() > 1; });
}

// A spec entry matches every dispatch of its class, so the class gets one configuration for all
// sizes.
Status FlagBaseline::choose_for_all(double seconds) {
  std::vector<std::vector<DispatchAtSize>> shared;
  std::size_t measured = 0;
  for (const std::vector<std::string>& names : spec_classes()) {
    if (tunings_.size() > 1)
      for (const std::string& name : names)
        if (const auto at = at_each(name); at.size() < tunings_.size())
          for (const DispatchAtSize& each : at)
            each.tuned->keep_default("it could not be tuned at every size");
    std::vector<DispatchAtSize> at = at_each(names);
    // A replacing kernel serves all launches of its executable, and no other dispatch.
    for (std::vector<DispatchAtSize>& launches : take_replaced(at)) {
      if (launches.size() < 2) continue;
      measured += launches.size();
      shared.push_back(std::move(launches));
    }
    if (at.size() < 2) continue;
    measured += at.size();
    shared.push_back(std::move(at));
  }
  for (const std::vector<DispatchAtSize>& at : shared)
    HONE_TRY(choose_for_all_sizes(*context_, at, seconds / static_cast<double>(measured)));
  return {};
}

// Proves at each size. A configuration that does not ship at one size ships at none.
Status FlagBaseline::prove(const std::vector<VerifiedBuild>& rivals) {
  do {
    for (ProgramTuning& tuning : tunings_) HONE_TRY(tuning.prove(rivals));
  } while (drop_what_one_leaves_out());
  for (ProgramTuning& tuning : tunings_) {
    std::vector<LeftOut>& left_out = tuning.result().proven.left_out;
    left_out.insert(left_out.end(), dropped_.begin(), dropped_.end());
  }
  return {};
}

// Drops one entry at a time, then the proof repeats: without it others may ship.
bool FlagBaseline::drop_what_one_leaves_out() {
  for (const TunedDispatch& tuned : tunings_.front().result().tuned) {
    const std::string& name = tuned.dispatch->name;
    const std::vector<DispatchAtSize> at = at_each(name);
    if (at.size() < tunings_.size()) continue;
    std::size_t shipping = 0;
    std::string reason;
    for (const ProgramTuning& tuning : tunings_) {
      const ProvenProgram& proven = tuning.result().proven;
      const bool ships = std::ranges::any_of(at, [&](const DispatchAtSize& each) {
        return std::ranges::count(proven.shipped, each.tuned->id) > 0;
      });
      if (ships) ++shipping;
      for (const LeftOut& left_out : proven.left_out)
        if (left_out.dispatch == name)
          reason =
              fmt::format("at {}: {}", problem::to_string(tuning.result().sizes), left_out.reason);
    }
    if (shipping == 0 || shipping == tunings_.size()) continue;
    for (const DispatchAtSize& each : at) each.tuned->keep_default(reason);
    dropped_.push_back({name, reason});
    return true;
  }
  return false;
}

// A build's id hashes its content, so it is the same at each size; dispatch ids are not.
const VerifiedBuild* FlagBaseline::find(const ProgramTuning& tuning, const Build& build) {
  return find_build(tuning.result().proven.builds, build.id());
}

bool reduces_along_lanes(const problem::Dispatch& dispatch) {
  const problem::Operation& root = dispatch.root;
  const bool floating = std::ranges::any_of(root.operands, [](const problem::Operand& operand) {
    return operand.output && problem::is_float(operand.type.element);
  });
  if (!floating) return false;
  if (root.kind == problem::OperationKind::kAttention || root.name == "linalg.softmax") return true;
  return (root.kind == problem::OperationKind::kReduction ||
          root.kind == problem::OperationKind::kMatvec) &&
         reduces_along_rows(root);
}

}  // namespace hone::tune
