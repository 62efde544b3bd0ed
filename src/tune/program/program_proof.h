// Proves a gain inside the program. The spec is assembled from the dispatches' winners and vetted
// by the compiler (spec_entries.h). Then it is compared with the default and with every flag set on
// the whole program. Entries that are not applied or do not help are left out and named.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "tune/dispatch/dispatch_tuner.h"
#include "tune/program/build.h"
#include "tune/program/build_bench.h"
#include "tune/program/tie_choice.h"

namespace hone::tune {

// Builds and their folder, kept while there may be something to time.
struct ProgramBench {
  TemporaryFolder folder;
  BuildBench builds;
};

struct ProvenProgram {
  // Spec text: it compiles with the flags that its entries were found with, and applies to what
  // they were verified for. Empty if no entry is left.
  std::string spec;
  std::vector<provider::ReplacedExecutable> replaced;  // with the spec
  std::vector<VerifiedBuild> builds;  // for most_promising; none where nothing could be run
  std::vector<store::Id> shipped;     // dispatches that the spec's entries were verified for
  std::vector<LeftOut> left_out;
  std::shared_ptr<ProgramBench> bench;  // none where nothing could be run
};

struct ProofRequest {
  const problem::Program& program;  // loaded with the sizes `given`
  const std::string& bytes;         // of the file program.path
  problem::GivenSizes given;
  std::vector<TunedDispatch>& tuned;
  ReferenceOf reference_of;
  const std::vector<VerifiedBuild>& rivals;
};

// Compiles the whole program and times it to find what is worth proving (prove_build), beside
// `rivals`: builds with specs that other tunings of the program proved. A program that cannot be
// run (dynamic shapes, benchmark files of a single dispatch, no runtime) is still compiled with
// what will be written. A note says so.
//
// If the runtime reports kernel times, winners in `tuned` give way to near ties that are faster in
// the program (tie_choice.h), unless the options say otherwise.
Result<ProvenProgram> prove_program(Context& context, const ProofRequest& request);

// Times the default, this build and the same without its tuned parts, in fresh rounds that chose
// nothing.
Result<ProvingRounds> prove_build(Context& context, ProgramBench& bench,
                                  const VerifiedBuild& chosen);

}  // namespace hone::tune
