// Will it still be faster inside the program? The spec is put together from what the dispatches
// won, vetted by the compiler (spec_vetting.h), and compared with the default and with every flag
// set on the whole program. What is not applied or does not help is left out and named.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "tune/dispatch/dispatch_tuner.h"
#include "tune/program/build_bench.h"
#include "tune/program/build_choice.h"
#include "tune/program/tie_choice.h"

namespace hone::tune {

// A spec is tried without each of its entries, which takes a compile and a dozen rounds of each;
// one with more entries than this without each of so many groups of them, and a group that hurts
// is halved until what hurts is found.
inline constexpr std::size_t kMostGroups = 8;

// The builds, while there may be something to time.
struct ProgramBench {
  TemporaryFolder folder;
  BuildBench builds;
};

struct ProvenProgram {
  // Text: compiles with the flags that its entries were found with, and is applied to what they
  // were verified for; empty when no entry is left.
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
// `rivals`: ways with specs of their own, which other tunings of the program proved. Where it
// cannot be run (dynamic shapes, benchmark files of a single dispatch, no runtime) it is compiled
// all the same with what will be written, and a note says so.
//
// When the runtime tells what each kernel takes, winners in `tuned` give way to near ties that are
// faster in the program (tie_choice.h), unless the options say otherwise.
Result<ProvenProgram> prove_program(Context& context, const ProofRequest& request);

// Times the default, this build and the same without what was tuned anew, in rounds that have
// chosen nothing.
Result<ProvingRounds> prove_build(Context& context, ProgramBench& bench,
                                  const VerifiedBuild& chosen);

}  // namespace hone::tune
