// Searches the compiler flags that make a whole program fastest. Flags come before dispatches,
// since they decide which dispatches there are. The search is greedy: each choice
// (ProgramProvider::flag_choices) is tried alone, then the others on top of the best, as long as
// that helps. Sets that are tried together run interleaved, and the slower ones leave after each
// round (successive halving: Karnin et al., Almost optimal exploration in multi-armed bandits, ICML
// 2013).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tune/program/program_proof.h"

namespace hone::tune {

// A set of choices and its result; the default has no choices.
struct FlagTrial : Build {
  std::vector<std::string> choices = {};  // names
  store::Id compiler = 0;                 // store::BuildRow, of these flags
  std::string failure = {};               // does not compile or run, wrong outputs; else empty
  bool may_differ = false;                // a failure that another run may not meet
  std::string same_as = {};               // the label of one that compiles to the same module
  std::optional<double> ratio = {};       // of its time to the default's, median over shared rounds
  std::size_t rounds = 0;                 // that it took part in
  bool known = false;                     // an earlier run found it, and it was not run again
  store::Id row = 0;                      // of the store, that this run has written
  std::vector<double> seconds = {};       // per call, by round

  // Whether the result is known, so that there is nothing to time.
  bool is_settled() const { return known || !failure.empty() || !same_as.empty(); }
};

struct FlagSearchRequest {
  // The search ends once both are used up, or nothing is left to try. It takes at most twice
  // `seconds` after the default has run, and ends if the session has no time for one more trial.
  double seconds = 120;
  std::size_t compiles = 15;
  bool for_tuning = false;  // `bases` are climbed to as well
  bool prove = true;        // the best anew against the default, in rounds that chose nothing
  problem::GivenSizes given = {};  // that the program was loaded with
};

struct FoundFlags {
  std::vector<FlagTrial> trials;                // the default first, in the order tried
  std::vector<provider::FlagChoice> not_tried;  // with the reason in why_not
  FlagSet best;                                 // its name is empty where nothing is faster
  // Flag sets to tune the dispatches with. First the best of those that leave all operations to a
  // spec; it may have no name. Then the best with blocked weights, if it is another and about as
  // fast. Then the best with data tiling, if it is near the best of all. A set whose fused
  // dispatches promise much less time (fusion_sets.h) stands in the place of the first. With a
  // budget of a whole session the last is that set without its regions.
  std::vector<FlagSet> bases;
  std::optional<ProgramVerdict> verdict;  // where it was asked for and there is a best

  // Returns the speedup of a set over the default, by the rounds that chose it, which flatter it.
  // None for a set that was not timed.
  std::optional<double> speedup(const FlagSet& set) const;
};

// Begins the first splits of a search for tuning (FusionJudge) before the program itself is split,
// where fusion is judged and the budget leaves time for them. Errors: as choices_with_files(). What
// is wrong with the program shows when it is loaded.
Status begin_to_judge_fusion(Context& context, const std::string& bytes,
                             const problem::GivenSizes& given);

// Returns the compiler's flag choices for the program (ProgramProvider::flag_choices). Writes the
// files that these flags name to the folder of Options::out. They stay there, because results in
// the store are of programs compiled with them. Errors: a file that cannot be written.
Result<std::vector<provider::FlagChoice>> choices_with_files(const Context& context,
                                                             const problem::Program& program);

// Searches the flags. `function`: the called function; its arguments are generated unless the
// options give them. Each trial is a row of the store under its name; a later run on the same store
// and device reuses it. Errors: those of BuildBench if the default itself does not compile or run;
// kInterrupted.
Result<FoundFlags> search_flags(Context& context, const problem::Program& program,
                                const std::string& bytes, const problem::Function& function,
                                const FlagSearchRequest& request);

}  // namespace hone::tune
