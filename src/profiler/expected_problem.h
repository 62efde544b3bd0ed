// Expected values of an operation, in the form that checks a kernel or a whole function.
#pragma once

#include <future>
#include <optional>
#include <string>
#include <vector>

#include "measure/runner_requests.h"
#include "profiler/expected.h"
#include "profiler/profile_run.h"

namespace hone::profiler {

class ExpectedProblem {
 public:
  ExpectedProblem(tune::Context& context, const ProfileOptions& options, ProfileSpent& spent,
                  const NamedOperation& operation)
      : context_(context), options_(options), spent_(spent), operation_(operation) {}

  // Starts computing the expected values in background threads; the first use waits for them.
  void compute_ahead();
  // Returns whether a kernel can be the whole operation: its bindings hold the inputs and the
  // result.
  bool holds_all(const problem::Dispatch& dispatch) const;
  // Returns for each binding of such a kernel the operation's input that the program passes there.
  // Nullopt if that is unknown, as for two functions that share a kernel but order its operands
  // differently.
  std::optional<std::vector<std::size_t>> arguments_of(const problem::Dispatch& dispatch) const;
  // Returns the data for the kernel's bindings: with options.verify the expected output too, else
  // inputs alone. If the bindings cannot hold it, the runner makes data up, which only serves to
  // measure.
  Result<measure::ProblemRequest> problem_of(const problem::Dispatch& dispatch);
  // Calls the function of a compiled module under the compiler's own runtime. Returns an empty text
  // if the result is correct, else the error: the first bad element, or the runtime's message.
  Result<std::string> call(const std::string& module, const std::string& function);
  // Frees the memory; the values are computed or read again when needed.
  void forget() { expected_.reset(); }

 private:
  Result<const ExpectedValues*> expected();

  tune::Context& context_;
  const ProfileOptions& options_;
  ProfileSpent& spent_;
  const NamedOperation& operation_;
  std::optional<ExpectedValues> expected_;
  std::future<Result<ExpectedValues>> ahead_;
};

// Returns data for a kernel that is measured and not verified.
measure::ProblemRequest unverified_problem(const problem::Dispatch& dispatch);

}  // namespace hone::profiler
