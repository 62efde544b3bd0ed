// Is what a compile computes right? One program or one dispatch, with inputs given or generated,
// against outputs given or an independent reference.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "measure/difference_form.h"
#include "measure/verification.h"
#include "problem/npy.h"
#include "provider/program_provider.h"
#include "trial/compile_service.h"
#include "trial/runner_service.h"
#include "tune/services/given_arguments.h"

namespace hone::tune {

struct GivenArray {
  std::string name;  // for messages: "--expected 'c.npy'"
  problem::Array array;
};

struct VerifyRequest {
  problem::Program program;
  std::string bytes;                         // of the program's file
  std::vector<std::string> flags;            // of the compile that is verified
  std::vector<std::string> reference_flags;  // of the compile that it is compared with
  std::vector<GivenArgument> inputs;         // none: generated
  std::vector<GivenArray> expected;          // none: the reference's
  std::filesystem::path save_inputs;         // folder for argument0.npy, ...; empty: not kept
  std::optional<double> absolute, relative;  // tolerance; none: what follows from the types
  std::uint64_t seed = 42;                   // of the generated inputs
  device::Place place;                       // to run on
};

struct VerifiedOutput {
  std::string name;  // "result 0", "binding 2"
  problem::TensorType type;
  measure::Comparison comparison;
  std::string tolerance;              // and its basis, in words
  measure::DifferenceForm form = {};  // of what is wrong; of a whole program's
};

struct VerifyResult {
  bool right = false;
  // Why outputs of this program cannot tell right from wrong, on no inputs that were tried; then
  // `right` says nothing either. Empty where they can.
  std::string says_nothing;
  std::string message;    // why not, beyond the outputs: it crashed, it wrote where it must not
  std::string reference;  // what it was compared with, in words
  std::vector<VerifiedOutput> outputs;
  std::vector<problem::Array> arrays;  // what it computed, by output; empty when it did not run
};

// The whole program, compiled with request.flags, under the provider's runtime. Errors: input for
// arrays that do not fit the function, or what the compiler refuses; failure when the reference
// does not compile or run. That the compile under test crashes or is wrong is a verdict.
Result<VerifyResult> verify_program(const VerifyRequest& request, const problem::Function& function,
                                    const std::vector<std::string>& runtime_flags,
                                    const provider::ProgramProvider& provider,
                                    trial::CompileService& compiler);

// One dispatch of the program, launched by hone. `configuration`: as the space of the dispatch has
// it ("dist_m=64,..."); none: the compiler's own choice. Arrays are those of the bindings that are
// read (inputs) and written (expected), in ordinal order.
Result<VerifyResult> verify_dispatch(const VerifyRequest& request,
                                     const problem::Dispatch& dispatch,
                                     const std::optional<std::string>& configuration,
                                     const provider::Provider& provider,
                                     trial::CompileService& compiler, trial::RunnerService& runner);

// The bytes of the arrays as tensors of these types. `what` they are for in messages: "the inputs
// of function 'f'". Input error when number, shape or element type differ.
Result<std::vector<problem::Array>> fit(const std::vector<GivenArray>& arrays,
                                        const std::vector<problem::TensorType>& types,
                                        const std::string& what);

// The tolerance that the request gives; nothing when it gives none.
std::optional<measure::Tolerance> given_tolerance(const VerifyRequest& request);

// "absolute 1e-05, relative 1e-04: why".
std::string in_words(const measure::Tolerance& tolerance);

// Compiler flags without those that all compiles for the device have: "--target-cpu=x86-64".
std::string in_words(const provider::Provider& provider, const std::vector<std::string>& flags);

}  // namespace hone::tune
