// A flag baseline: the program with extra compiler flags, split, tuned and proved under them at
// each set of sizes. If several baselines may win, each is tuned in turn. A later baseline is
// proved beside the best builds of the earlier ones.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "problem/dispatch.h"
#include "tune/dispatch/size_choice.h"
#include "tune/program_tuning.h"

namespace hone::tune {

class FlagBaseline {
 public:
  // `context` has the user's own flags only. This baseline copies it, and load() adds flags to the
  // copy.
  FlagBaseline(const Context& context, const std::vector<problem::SizeSet>& sizes);

  // Splits the program with `flags` added. `bytes`: content of the program's file. Errors: those of
  // ProgramTuning::load; no flags are added then.
  Status load(const FlagSet& flags, const std::shared_ptr<const std::string>& bytes);
  // Adds the flags of Options::sums if a chosen dispatch sums floating-point numbers along vector
  // lanes (flag_baseline.h), unless outputs must be equal to the bit.
  Status add_sums();
  // Calls ProgramTuning::weigh at each size, with an equal part of `seconds`.
  Status weigh(double seconds, const store::Run& run);
  // Results of weigh() in seconds of a call, summed over all sizes: the time of the dispatches, and
  // the most that tuning the unfinished ones may save.
  double seconds_of_a_call() const;
  double possible_gain() const;
  // Whether an earlier run finished some dispatch.
  bool is_begun() const;
  // Mean of ProgramTuning::shard_share over the sizes.
  double shard_share() const;
  // After weigh(), of a shard: tunes its dispatches, and proves nothing. `seconds`: as for tune().
  Status tune_shard(double seconds);
  // After weigh(): tunes each dispatch, then proves the result beside `rivals` (prove_program).
  // Dispatches that share a spec entry get one configuration, and all sizes share it. `seconds`:
  // search time of all sizes together.
  Status tune(double seconds, const std::vector<VerifiedBuild>& rivals);
  // Instead of tune(): unfinished dispatches keep their default, for `reason`; then the proof.
  Status leave_out(const std::string& reason, const std::vector<VerifiedBuild>& rivals);

  // Calls ProgramTuning::record at each size. `best`: the recommended build; none if the program
  // could not be run.
  Status record(const std::optional<VerifiedBuild>& best);
  // Records a baseline that lost: nothing of it ships. `best`: the recommended build, of another
  // baseline.
  Status record_as_rival(const std::optional<VerifiedBuild>& best);

  // Context with this baseline's flags and build. Every compile, store access and look-up for this
  // baseline uses it.
  Context& context() { return *context_; }
  const BaselineFlags& baseline() const { return context_->baseline; }
  std::vector<std::string> flags() const { return context_->flags(); }  // the user's with its own

  std::vector<ProgramTuning>& tunings() { return tunings_; }
  const std::vector<ProgramTuning>& tunings() const { return tunings_; }
  // Returns the build with the id of `build` at the size of `tuning`; null if there is none.
  static const VerifiedBuild* find(const ProgramTuning& tuning, const Build& build);
  // Returns the most promising build if it has a spec, as a rival of the next baseline. Frees the
  // compiled programs, which take much disk space.
  Result<std::optional<VerifiedBuild>> best_build_for_comparison();

 private:
  double sum_of(double (plan::WorkPlan::*seconds)() const) const;
  Status add(const FlagSet& set);
  std::vector<DispatchAtSize> at_each(const std::vector<std::string>& names);
  std::vector<DispatchAtSize> at_each(const std::string& name) {
    return at_each(std::vector<std::string>{name});
  }
  std::vector<std::vector<std::string>> spec_classes();
  bool one_configuration_for_several();
  Status choose_for_all(double seconds);
  Status prove(const std::vector<VerifiedBuild>& rivals);
  bool drop_what_one_leaves_out();

  std::unique_ptr<Context> context_;  // which tunings_ refer to
  std::vector<ProgramTuning> tunings_;
  std::vector<LeftOut> dropped_;
};

// Whether the dispatch sums floating-point numbers along the lanes of a vector, so that keeping
// their order means adding one after the other. Examples: sums of rows (norms, softmax), attention,
// a matrix times a vector. Sums of columns and products of two matrices keep one sum per lane.
// Measured (IREE 3.13, docs/studies/cpu-operations.md): a sum of rows takes 2.3 times as long in
// order, and 4.1 times as long when both are tuned.
bool reduces_along_lanes(const problem::Dispatch& dispatch);

}  // namespace hone::tune
