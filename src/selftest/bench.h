// Compiles the self-test's own programs for a place and runs their kernels there.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/place.h"
#include "measure/runner_requests.h"
#include "problem/dispatch.h"
#include "session/toolchain.h"
#include "trial/kernel_runner.h"

namespace hone::selftest {

// A function of kernels.mlir or checks.mlir, which the compiler makes one dispatch of.
struct TestKernel {
  problem::Dispatch dispatch;
  // Either may be missing with the compiler's words in `failure`.
  std::optional<provider::Artifact> code = {};
  std::optional<provider::Artifact> reference = {};  // for the host's cores
  std::string failure = {};
};

class Bench {
 public:
  // `toolchain` outlives the bench. A kernel that does not answer within `kernel_seconds` hangs.
  Bench(const device::Place& place, const session::ToolchainOptions& options,
        session::Toolchain& toolchain, double kernel_seconds);

  // Splits and compiles an embedded program, and its references if they are wanted. Kernels are
  // found by their function's name. Errors: no compiler, interrupted; what does not compile is said
  // by the kernel.
  Result<std::map<std::string, TestKernel>> compile(const std::string& name, bool references);

  // Makes the problem of a kernel on inputs of small whole numbers (whole_numbers), without an
  // expected output.
  measure::ProblemRequest problem_of(const TestKernel& kernel) const;

  // Verifies a kernel once; no failure of it is tried again.
  Result<trial::KernelResult<measure::Verification>> verify(const measure::ProblemRequest& problem,
                                                            const provider::Artifact& code);
  // Returns the bytes that the last verify() left in each written binding.
  Result<std::vector<std::string>> outputs(const problem::Dispatch& dispatch);
  // Times a kernel alone.
  Result<trial::KernelResult<measure::MeasureResult>> time(const measure::ProblemRequest& problem,
                                                           const provider::Artifact& code,
                                                           const measure::Protocol& protocol);

  const device::Place& place() const { return place_; }
  trial::RunnerService& runner() { return runner_; }

 private:
  device::Place place_;
  session::ToolchainOptions options_;
  session::Toolchain& toolchain_;
  trial::RunnerService runner_;
};

// Returns elements of small whole numbers: no two of 1009 that follow one another are equal in
// types of 32 bits (-504 to 504), others are -4 to 4. Sums of their products in the kernels are
// exact, so that every device gives the same bits.
std::string whole_numbers(const problem::TensorType& type, std::size_t binding);

}  // namespace hone::selftest
