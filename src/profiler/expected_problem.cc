#include "profiler/expected_problem.h"

#include <algorithm>
#include <span>

#include "base/file.h"
#include "base/stopwatch.h"
#include "profiler/tree.h"

namespace hone::profiler {
namespace {

using problem::Access;

std::vector<std::string> outputs_of_zeros(const problem::Dispatch& dispatch) {
  std::vector<std::string> bytes;
  for (const problem::Binding& binding : dispatch.bindings) {
    const bool written = binding.access != Access::kReadOnly;
    bytes.emplace_back(written ? static_cast<std::size_t>(binding.bytes) : 0, '\0');
  }
  return bytes;
}

}  // namespace

measure::ProblemRequest unverified_problem(const problem::Dispatch& dispatch) {
  measure::ProblemRequest problem;
  problem.expected = outputs_of_zeros(dispatch);
  problem.tolerance = measure::Tolerance{};
  return problem;
}

Result<const Expected*> ExpectedProblem::expected() {
  if (!expected_) {
    const Stopwatch watch;
    const OperationFiles files(options_.generated_dir, operation_);
    HONE_ASSIGN(expected_, cached_expected(operation_, context_.options.seed, options_.threads,
                                           files.reference_folder()));
    spent_.expected += watch.seconds();
  }
  return &*expected_;
}

bool ExpectedProblem::takes_inputs(const problem::Dispatch& dispatch) const {
  if (!holds_all(dispatch)) return false;
  std::vector<problem::TensorType> inputs = operation_.inputs(), bound;
  for (const problem::Binding& binding : dispatch.bindings)
    if (binding.access == Access::kReadOnly) bound.push_back(binding.type);
  if (bound != inputs) {
    // The compiler has taken dimensions apart or together: then numbers of elements must tell.
    const auto flat = [](std::vector<problem::TensorType>& types) {
      for (problem::TensorType& type : types) type.shape = {problem::element_count(type)};
    };
    flat(bound);
    flat(inputs);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (std::ranges::count(inputs, inputs[i]) > 1) return false;
  return bound == inputs;
}

bool ExpectedProblem::holds_all(const problem::Dispatch& dispatch) const {
  const std::vector<problem::TensorType> inputs = operation_.inputs();
  std::size_t read = 0;
  for (const problem::Binding& binding : dispatch.bindings) {
    const bool is_input = binding.access == Access::kReadOnly;
    if (is_input && read == inputs.size()) return false;
    const problem::TensorType& wanted = is_input ? inputs[read++] : operation_.output();
    if (binding.type.element != wanted.element ||
        problem::element_count(binding.type) != problem::element_count(wanted))
      return false;
  }
  return read == inputs.size() && dispatch.bindings.size() == inputs.size() + 1;
}

Result<measure::ProblemRequest> ExpectedProblem::problem_of(const problem::Dispatch& dispatch) {
  measure::ProblemRequest problem = unverified_problem(dispatch);
  if (!holds_all(dispatch)) return problem;
  std::vector<problem::Array> values;
  if (options_.verify) {
    HONE_ASSIGN(const Expected* const expected, this->expected());
    values = expected->inputs;
    problem.tolerance = expected->tolerance;
  } else {
    values = inputs_of(operation_, context_.options.seed);
  }
  problem.inputs.resize(dispatch.bindings.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < dispatch.bindings.size(); ++i) {
    if (dispatch.bindings[i].access == Access::kReadOnly)
      problem.inputs[i] = std::move(values[next++].bytes);
    else if (options_.verify)
      problem.expected[i] = expected_->output.bytes;
  }
  return problem;
}

Result<std::string> ExpectedProblem::call(const std::string& module, const std::string& function) {
  HONE_ASSIGN(const Expected* const expected, this->expected());
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-profile-"));
  provider::ProgramCall call;
  call.module = folder.path() / "function.vmfb";
  HONE_TRY(write_file_atomically(call.module, module));
  call.function = function;
  call.device = context_.options.place().address;
  call.results = {operation_.output()};
  call.stop_fd = context_.stop_fd;
  for (std::size_t i = 0; i < expected->inputs.size(); ++i) {
    call.inputs.push_back(folder.path() / fmt::format("argument{}.npy", i));
    HONE_TRY(write_file_atomically(call.inputs.back(), problem::to_npy(expected->inputs[i])));
  }
  Result<std::vector<problem::Array>> results = context_.programs->run_program(call, 1);
  if (!results && results.error().kind == ErrorKind::kFailure)
    return "does not run: " + results.error().message;
  if (!results) return tl::unexpected(results.error());
  const auto got = problem::as_tensor(std::move(results->front()), operation_.output());
  if (!got) return got.error().message;
  HONE_ASSIGN(const measure::Comparison comparison,
              measure::compare(std::as_bytes(std::span(got->bytes)),
                               std::as_bytes(std::span(expected->output.bytes)),
                               operation_.output(), expected->tolerance));
  return comparison.right ? std::string() : measure::describe(comparison);
}

}  // namespace hone::profiler
