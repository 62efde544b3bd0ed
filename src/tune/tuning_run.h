// A run of the tuner over a program: the way from its file to a proven spec, at one set of sizes or
// for several at once.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tune/program/program_gain.h"
#include "tune/program_tuning.h"
#include "tune/services/machine_check.h"
#include "tune/services/run_verdict.h"

namespace hone::tune {

struct TuningResult {
  std::vector<ProgramTuningResult> at_sizes;  // one for each set of sizes
  store::Id run = 0;
  Baseline baseline;     // that the dispatches of at_sizes were tuned under
  MachineCheck machine;  // before the first measurement
  // Text: compiles, and is applied to what its entries were verified for; empty without an entry.
  std::string spec;
  // Files of the folder "kernels" in --out, which go with the spec.
  std::vector<provider::ReplacedExecutable> replaced;
  // What is recommended; none where the program could not be run. Where it has no spec, the one
  // that is written is not proved to gain anything.
  std::optional<VerifiedBuild> best;
  // What the choosing rounds found, and what rounds of their own say of it; none where that is the
  // default, or could not be timed.
  std::optional<VerifiedBuild> candidate;
  std::optional<ProgramVerdict> verdict;
  // One for each set of sizes, of a candidate that was proved and has a spec.
  std::vector<ProgramGain> gains;
  // Dispatches whose default computes something else than its reference. What the program computes
  // is wrong then with what was found as without it.
  std::set<std::string> wrong_by_default;
  // Why outputs of the whole program cannot tell right from wrong, so that each dispatch was
  // verified instead; and those that could not be. Empty where outputs were compared.
  std::string unchecked_outputs;
  std::set<std::string> unverified_dispatches;
  bool whole_program = true;  // was to be proved (Options::prove)
  // Why the program does not compile, link or run as it is; empty where it does.
  std::string default_failure;
  // Why nothing could be proved in the whole program; empty where it was.
  std::string not_proved;
  RunVerdict outcome;
  // That repeats the proof without hone; empty where there is nothing to repeat.
  std::filesystem::path proof_script;
};

// What it came to (tuning_verdict.cc).
RunVerdict verdict_of(const TuningResult& result);

// The recipe: searches at each of `sizes` (at least one set, problem::given_size_sets), chooses for
// each dispatch one configuration for all of them (size_choice.h), proves it in the whole program
// at each, and writes tuning_spec.mlir and compile_flags.txt, a response file for the compiler.
// `run_row`: command line, version and seed of the run, for the store. The context's build and
// device are set. Errors: those of ProgramTuning's steps; what is done by then is in the store, and
// the same command continues.
Result<TuningResult> tune_program(Context& context, store::Run run_row,
                                  const std::vector<problem::SizeSet>& sizes);

}  // namespace hone::tune
