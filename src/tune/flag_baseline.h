// A program with some of the compiler's flags added: split, tuned and proved under them, at each
// set of sizes. Where several such bases may win, each is tuned in its turn, and the later ones are
// proved beside what the earlier ones came to.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tune/dispatch/size_choice.h"
#include "tune/program_tuning.h"

namespace hone::tune {

class FlagBaseline {
 public:
  // `context`: of the user's own flags; this base has a copy, to whose baseline load() adds.
  FlagBaseline(const Context& context, const std::vector<problem::SizeSet>& sizes);

  // Splits the program, `bytes` of its file, with `flags` added. Errors: those of
  // ProgramTuning::load; nothing is added then.
  Status load(const FlagSet& flags, const std::shared_ptr<const std::string>& bytes);
  // Adds the flags that sums need (Options::sums) where the program has such sums.
  Status add_sums();
  // ProgramTuning::weigh at each size, by a part of so many seconds of all together.
  Status weigh(double seconds, const store::Run& run);
  // What weigh() found, all sizes together: seconds of a call that the dispatches take, and those
  // of them that tuning what is not finished may save at most.
  double seconds_of_a_call() const;
  double possible_gain() const;
  // Whether some dispatch was finished by a run before.
  bool is_begun() const;
  // After weigh(): each dispatch's winner, and one for all where an entry of a spec is for several;
  // then the proof, beside `rivals` (prove_program). `seconds`: for the search, of all sizes
  // together.
  Status tune(double seconds, const std::vector<VerifiedBuild>& rivals);
  // Instead of tune(): what is not finished keeps its default, for this reason; then the proof.
  Status leave_out(const std::string& reason, const std::vector<VerifiedBuild>& rivals);

  // ProgramTuning::record at each size. `best`: what is recommended; none where the program could
  // not be run.
  Status record(const std::optional<VerifiedBuild>& best);
  // Records a base that lost to another one, which the result is about: nothing of this one ships.
  Status record_as_rival(const std::optional<VerifiedBuild>& best);

  // Whatever is compiled, stored or looked up for this base has its flags and build.
  Context& context() { return *context_; }
  const Baseline& baseline() const { return context_->baseline; }
  std::vector<std::string> flags() const { return context_->flags(); }  // the user's with its own

  std::vector<ProgramTuning>& tunings() { return tunings_; }
  const std::vector<ProgramTuning>& tunings() const { return tunings_; }
  // That build at the size of `tuning`; null where it has none.
  static const VerifiedBuild* find(const ProgramTuning& tuning, const Build& build);
  // The most promising build, where it has a spec: the next base's are compared with it. The
  // compiled programs, which take much of a disk, are given up.
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

}  // namespace hone::tune
