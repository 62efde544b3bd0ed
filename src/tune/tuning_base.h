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

class TuningBase {
 public:
  // The context's flags and build are the user's own; load() adds to them.
  TuningBase(Context& context, const std::vector<problem::SizeSet>& sizes);

  // Splits the program, `bytes` of its file, with `flags` added where they have a name. Errors:
  // those of ProgramTuning::load; the context is then as it was.
  Status load(const FlagSet& flags, const std::shared_ptr<const std::string>& bytes);
  // Adds the flags that sums need (Options::sums) where the program has such sums.
  Status add_sums();
  // ProgramTuning::weigh at each size, by a part of so many seconds of all together.
  Status weigh(double seconds, const std::string& command);
  // What weigh() found, all sizes together: seconds of a call that the dispatches take, and those
  // of them that tuning what is not finished may save at most.
  double seconds_of_a_call() const;
  double possible_gain() const;
  // Whether some dispatch was finished by a run before.
  bool is_begun() const;
  // After weigh(): each dispatch's winner, and one for all where an entry of a spec is for several;
  // then the proof, beside `rivals` (prove_program). `seconds`: for the search, of all sizes
  // together.
  Status tune(double seconds, const std::vector<RightVariant>& rivals);
  // Instead of tune(): what is not finished keeps its default, for this reason; then the proof.
  Status leave_out(const std::string& reason, const std::vector<RightVariant>& rivals);

  // The context's flags and build are this base's again: whatever is compiled, stored or looked up.
  void take_up();
  // ProgramTuning::record at each size. `best`: what is recommended, known here by its name if it
  // has a spec; none where the program could not be run.
  Status record(const std::optional<RightVariant>& best);
  // Records a base that lost to another one, which the result is about: nothing of this one ships.
  Status record_as_rival(const std::optional<RightVariant>& best);

  const std::string& name() const { return added_.name; }  // of all that was added; may be empty

  std::vector<ProgramTuning>& tunings() { return tunings_; }
  const std::vector<ProgramTuning>& tunings() const { return tunings_; }
  // The way to build the program that has this name, at the size of `tuning`; null without one.
  static const RightVariant* variant_of(const ProgramTuning& tuning, const std::string& name);
  // The most promising way, where it has a spec: a rival of the next base's. The compiled programs,
  // which take much of a disk, are given up.
  Result<std::optional<RightVariant>> to_rival();

 private:
  Status add(const FlagSet& set);
  std::vector<DispatchAtSize> at_each(const std::vector<std::string>& names);
  std::vector<DispatchAtSize> at_each(const std::string& name) {
    return at_each(std::vector<std::string>{name});
  }
  std::vector<std::vector<std::string>> spec_classes();
  bool one_configuration_for_several();
  Status choose_for_all(double seconds);
  Status prove(const std::vector<RightVariant>& rivals);
  bool drop_what_one_leaves_out();

  Context& context_;
  FlagSet added_;
  store::Id build_ = 0;
  std::vector<ProgramTuning> tunings_;
  std::vector<LeftOut> dropped_;
};

}  // namespace hone::tune
