// A run of the tuner over a program, from its file to a proven spec, at one or several sets of
// sizes.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tune/program/program_gain.h"
#include "tune/program/proof_files.h"
#include "tune/program_tuning.h"
#include "tune/services/run_verdict.h"
#include "tune/services/session_steps.h"

namespace hone::tune {

struct TuningResult {
  std::vector<ProgramTuningResult> at_sizes;  // one for each set of sizes
  store::Id run = 0;
  BaselineFlags baseline;  // that the dispatches of at_sizes were tuned under
  MachineCheck machine;    // before the first measurement
  // Spec text: it compiles, and its entries apply to what they were verified for. Empty without an
  // entry.
  std::string spec;
  // Files of the folder "kernels" in --out, which go with the spec.
  std::vector<provider::ReplacedExecutable> replaced;
  // The recommended build; none if the program could not be run. If it has no spec, the written
  // spec is not proved to gain anything.
  std::optional<VerifiedBuild> best;
  // The build that the choosing rounds picked, and its verdict by fresh rounds. No candidate if
  // they picked the default; no verdict if the candidate could not be timed again.
  std::optional<VerifiedBuild> candidate;
  std::optional<ProgramVerdict> verdict;
  // Rounds of that verdict, at each set of sizes.
  std::vector<ProvingRounds> rounds;
  // Gains at each set of sizes; empty unless the candidate was proved and has a spec.
  std::vector<ProgramGain> gains;
  // Dispatches whose default differs from its reference. The program's outputs are then wrong with
  // and without the tuned kernels.
  std::set<std::string> wrong_by_default;
  // Reason why outputs of the whole program cannot tell right from wrong; empty if they were
  // compared. Each dispatch is verified instead; `unverified_dispatches` could not be.
  std::string unchecked_outputs;
  std::set<std::string> unverified_dispatches;
  bool whole_program = true;  // was to be proved (Options::prove)
  // Reason why the default program does not compile, link or run; empty if it does.
  std::string default_failure;
  // Label of the flags with which such a program works, where they are the default of all else in
  // the result.
  std::string repaired_by;
  // Reason why nothing could be proved in the whole program; empty if something was.
  std::string not_proved;
  RunVerdict outcome;
  // Script that repeats the proof without hone; empty if there is nothing to repeat.
  std::filesystem::path proof_script;
  // Files that repeat it without a compiler; none if a default ships, or at several sets of sizes.
  std::optional<ProofFiles> proof_files;
};

// Returns the run's outcome and its reason (tuning_verdict.cc).
RunVerdict verdict_of(const TuningResult& result);

// Tunes a program: searches at each of `sizes` (at least one set, problem::given_size_sets).
// Chooses for each dispatch one configuration for all sizes (size_choice.h), and proves it in the
// whole program at each. Writes tuning_spec.mlir and compile_flags.txt, a response file for the
// compiler. `run_row`: command line, version and seed of the run, for the store. Requires that the
// context's build and device are set. If the program does not work as it is, and flags are found
// with which it does, these are the default for the rest of the budget. Errors: those of
// ProgramTuning's steps. Finished work is then in the store, and the same command continues.
Result<TuningResult> tune_program(Context& context, store::Run run_row,
                                  const std::vector<problem::SizeSet>& sizes);

}  // namespace hone::tune
