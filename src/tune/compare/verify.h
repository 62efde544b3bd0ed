// Verifies a compile of a program or a dispatch, on given or generated inputs, against given
// outputs or an independent reference.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "measure/array_difference.h"
#include "measure/verification.h"
#include "problem/npy.h"
#include "provider/program_provider.h"
#include "trial/compile_service.h"
#include "trial/kernel_runner.h"
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
  // Reason why outputs cannot tell right from wrong on any inputs that were tried; `right` is then
  // void. Empty if they can.
  std::string says_nothing;
  std::string message;    // why not, beyond the outputs: it crashed, it wrote where it must not
  std::string reference;  // what it was compared with, in words
  std::vector<VerifiedOutput> outputs;
  std::vector<problem::Array> arrays;  // what it computed, by output; empty when it did not run
};

// Verifies the whole program, compiled with request.flags, under the provider's runtime. Errors:
// input for arrays that do not fit the function, or for what the compiler refuses; failure if the
// reference does not compile or run. A compile under test that crashes or is wrong is a verdict,
// not an error.
Result<VerifyResult> verify_program(const VerifyRequest& request, const problem::Function& function,
                                    const std::vector<std::string>& runtime_flags,
                                    const provider::ProgramProvider& provider,
                                    trial::CompileService& compiler);

// Verifies one dispatch of the program, launched by hone. `configuration`: in the form of the
// dispatch's space ("dist_m=64,..."); none: the compiler's own choice. Arrays are those of the
// bindings that are read (inputs) and written (expected), in ordinal order.
Result<VerifyResult> verify_dispatch(const VerifyRequest& request,
                                     const problem::Dispatch& dispatch,
                                     const std::optional<std::string>& configuration,
                                     const provider::Provider& provider,
                                     trial::CompileService& compiler, trial::RunnerService& runner);

// Returns the arrays as tensors of these types. `what`: their purpose, for messages, such as "the
// inputs of function 'f'". Input error: number, shape or element type differ.
Result<std::vector<problem::Array>> fit(const std::vector<GivenArray>& arrays,
                                        const std::vector<problem::TensorType>& types,
                                        const std::string& what);

// Returns the request's tolerance; none if it gives none.
std::optional<measure::Tolerance> given_tolerance(const VerifyRequest& request);

// Returns the tolerance in words: "absolute 1e-05, relative 1e-04: why".
std::string in_words(const measure::Tolerance& tolerance);

// Returns the compiler flags without those that name the device: "--target-cpu=x86-64".
std::string in_words(const provider::Provider& provider, const std::vector<std::string>& flags);

}  // namespace hone::tune
