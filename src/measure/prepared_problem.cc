#include "measure/prepared_problem.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "measure/buffers.h"
#include "measure/runner_jobs.h"

namespace hone::measure {
namespace {

// Draws of inputs, at most, while an element of the reference is not finite.
constexpr int kMostDraws = 4;

// Runs the reference, code for the host, on a device of its own.
Result<ExpectedOutputs> run_reference_on(device::Device& host, const ProblemRequest& request,
                                         const std::array<LaunchOperands, kOperandSets>& operands) {
  const provider::Artifact& reference = *request.reference;
  HONE_ASSIGN(Buffers buffers, Buffers::create(request.dispatch.bindings, operands[0].contents, 1,
                                               &host, operands[1].contents));
  HONE_ASSIGN(auto kernel, host.load(reference.format, reference.code,
                                     problem::over_bindings(reference.launch, request.dispatch)));
  return run_reference(*kernel, buffers);
}

}  // namespace

Result<PreparedProblem> prepare_problem(const ProblemRequest& request, const OpenDevice& open) {
  PreparedProblem prepared;
  prepared.reference = "artifact";
  for (int draw = 0;; ++draw) {
    HONE_ASSIGN(prepared.operands, launch_operands(request, draw));
    if (request.only_timed) return prepared;
    if (const std::string why = not_verifiable(request.dispatch, prepared.operands);
        !why.empty() && !request.tolerance)
      return failure("{} cannot be verified: {}", request.dispatch.name, why);
    HONE_ASSIGN(auto computed, computed_outputs(request, prepared.operands));
    if (computed) {
      prepared.reference = request.expected.empty() ? "exact" : "given";
    } else {
      if (!request.reference)
        return input_error(
            "{} is no contraction that hone computes; its reference must be given as an artifact",
            request.dispatch.name);
      HONE_ASSIGN(const auto host, open(device::host_of(request.device)));
      HONE_ASSIGN(computed, run_reference_on(*host, request, prepared.operands));
    }
    prepared.expected = std::move(*computed);
    // Never redraw what the user gives.
    if (prepared.reference == "given" || !request.inputs.empty()) return prepared;
    const std::string wrong = not_finite(request.dispatch, prepared.expected);
    if (wrong.empty()) return prepared;
    if (draw + 1 == kMostDraws)
      return failure("{} cannot be verified: of its reference {}, whatever the inputs",
                     request.dispatch.name, wrong);
  }
}

void ProblemAhead::begin(const ProblemRequest& request, OpenDevice open) {
  if (prepared_.valid()) prepared_.get();
  // Memory per binding: two operand sets, each as an input or an expected output, and once more
  // while the reference runs. All of it is beside the problem that is measured.
  constexpr std::int64_t kTimes = 4, kShare = 4;
  std::int64_t bytes = 0;
  for (const problem::Binding& binding : request.dispatch.bindings) bytes += binding.bytes;
  if (kTimes * kShare * bytes > available_memory()) return;
  key_ = key_of(jobs::kSetProblem.ask(request));
  prepared_ = std::async(std::launch::async, [request, open = std::move(open)] {
    return prepare_problem(request, open);
  });
}

std::optional<Result<PreparedProblem>> ProblemAhead::take(const ProblemRequest& request) {
  if (!prepared_.valid() || key_ != key_of(jobs::kSetProblem.ask(request))) return std::nullopt;
  return prepared_.get();
}

}  // namespace hone::measure
