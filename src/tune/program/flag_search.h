// Which flags of the compiler make a whole program fastest: searched before any dispatch is tuned,
// since they decide which dispatches there are. Greedy: each thing the compiler can be told
// (ProgramProvider::flag_choices) is tried alone, then the others on top of the best, as long as
// that helps. Those that are tried together run interleaved, and the slower ones leave after each
// round (successive halving: Karnin et al., Almost optimal exploration in multi-armed bandits, ICML
// 2013).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tune/program/program_proof.h"

namespace hone::tune {

// Choices together, and what became of them; the default without any.
struct FlagTrial : Build {
  std::vector<std::string> choices = {};  // names
  store::Id compiler = 0;                 // store::Build, of these flags
  std::string failure = {};               // does not compile or run, wrong outputs; else empty
  bool may_differ = false;                // a failure that another run may not meet
  std::string same_as = {};               // the label of one that compiles to the same module
  std::optional<double> ratio = {};       // of its time to the default's, median over shared rounds
  std::size_t rounds = 0;                 // that it took part in
  bool known = false;                     // an earlier run found it, and it was not run again
  store::Id row = 0;                      // of the store, that this run has written
  std::vector<double> seconds = {};       // per call, by round

  // There is nothing to time: what it came to is known.
  bool is_settled() const { return known || !failure.empty() || !same_as.empty(); }
};

struct FlagSearchRequest {
  // It goes on until both are used up, or nothing is left to try, for at most twice `seconds` after
  // the default has run, and no longer than the session has time for one more trial.
  double seconds = 120;
  std::size_t compiles = 15;
  bool for_tuning = false;  // `bases` are climbed to as well
  bool prove = true;        // the best anew against the default, in rounds that chose nothing
};

struct FoundFlags {
  std::vector<FlagTrial> trials;                // the default first, in the order tried
  std::vector<provider::FlagChoice> not_tried;  // with the reason in why_not
  FlagSet best;                                 // its name is empty where nothing is faster
  // What the dispatches are to be tuned with: the best of those that leave a spec all operations,
  // which may have no name; where that has not its weights in blocks the best that has, where it is
  // near that; then the best of those that leave a spec tiles, where that is near the best.
  std::vector<FlagSet> bases;
  std::optional<ProgramVerdict> verdict;  // where it was asked for and there is a best

  // Returns how much faster a set of `sets` is than the default, by the rounds that chose it, which
  // flatter it. 1 for a set without a name.
  double speedup(const FlagSet& set) const;
};

// What the compiler can be told about the program (ProgramProvider::flag_choices). The files that
// these flags name are written to the folder of Options::out, and stay there: results in the store
// are of programs compiled with them. Errors: a file that cannot be written.
Result<std::vector<provider::FlagChoice>> choices_with_files(const Context& context,
                                                             const problem::Program& program);

// `function`: what is called; its arguments are made up. Each trial is a row of the store under
// its name; a later run on the same store and device takes from there what it would only run again.
// Errors: of BuildBench, where the default itself does not compile or run; kInterrupted.
Result<FoundFlags> search_flags(Context& context, const problem::Program& program,
                                const std::string& bytes, const problem::Function& function,
                                const FlagSearchRequest& request);

// Where the program does not work as it is.
struct RepairingFlags {
  FlagSet flags;
  std::string not_proved;  // why it is not known whether what it computes is right; empty: it is
};

// The first choice of flags with which the program compiles, runs and computes what an independent
// compile of it does; else the first with which it runs. Nothing where there is none, or no time to
// look further.
Result<std::optional<RepairingFlags>> find_repair(Context& context, const problem::Program& program,
                                                  const std::string& bytes,
                                                  const problem::Function& function);

}  // namespace hone::tune
