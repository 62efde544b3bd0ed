// An operation's expected values as a kernel, or a whole function, is checked by them.
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
                  const Operation& operation)
      : context_(context), options_(options), spent_(spent), operation_(operation) {}

  // Computes the expected values on threads of their own, beside whatever goes on; who needs them
  // waits for them.
  void compute_ahead();
  // Whether a kernel can be all of the operation: its bindings hold the inputs and the result.
  bool holds_all(const problem::Dispatch& dispatch) const;
  // By binding of such a kernel: the operation's input that the program gives it there. Nothing
  // where that is not known, as of two functions that share a kernel and order its operands
  // differently.
  std::optional<std::vector<std::size_t>> arguments_of(const problem::Dispatch& dispatch) const;
  // The data as the kernel's bindings take it: with options.verify what must come out too, else
  // inputs alone. Where the bindings cannot hold it the runner makes data up, of use for measuring
  // only.
  Result<measure::ProblemRequest> problem_of(const problem::Dispatch& dispatch);
  // Calls the function of a compiled module under the compiler's own runtime. Empty where its
  // result is right, else what is wrong: the first bad element, or the runtime's words.
  Result<std::string> call(const std::string& module, const std::string& function);
  // Gives the memory back; it is computed, or read, anew where it is needed again.
  void forget() { expected_.reset(); }

 private:
  Result<const Expected*> expected();

  tune::Context& context_;
  const ProfileOptions& options_;
  ProfileSpent& spent_;
  const Operation& operation_;
  std::optional<Expected> expected_;
  std::future<Result<Expected>> ahead_;
};

// Data for a kernel that is measured and not verified.
measure::ProblemRequest unverified_problem(const problem::Dispatch& dispatch);

}  // namespace hone::profiler
