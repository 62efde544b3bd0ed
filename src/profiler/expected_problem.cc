#include "profiler/expected_problem.h"

#include <algorithm>

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

// Compare numbers of elements: the compiler may have collapsed or expanded dimensions.
bool holds(const problem::Binding& binding, const problem::TensorType& wanted) {
  return binding.type.element == wanted.element &&
         problem::element_count(binding.type) == problem::element_count(wanted);
}

}  // namespace

measure::ProblemRequest unverified_problem(const problem::Dispatch& dispatch) {
  measure::ProblemRequest problem;
  problem.expected = outputs_of_zeros(dispatch);
  problem.tolerance = measure::Tolerance{};
  return problem;
}

void ExpectedProblem::compute_ahead() {
  if (expected_ || ahead_.valid()) return;
  // Give the thread copies: it may outlive the caller's data.
  ahead_ =
      std::async(std::launch::async,
                 [operation = operation_, seed = context_.options.seed, threads = options_.threads,
                  folder = OperationFiles(options_.generated_dir, operation_).reference_folder()] {
                   return cached_expected(operation, seed, threads, folder);
                 });
}

Result<const ExpectedValues*> ExpectedProblem::expected() {
  if (!expected_) {
    const Stopwatch watch;
    compute_ahead();
    HONE_ASSIGN(expected_, ahead_.get());
    spent_.expected += watch.seconds();
  }
  return &*expected_;
}

std::optional<std::vector<std::size_t>> ExpectedProblem::arguments_of(
    const problem::Dispatch& dispatch) const {
  const std::vector<problem::TensorType> inputs = operation_.inputs();
  std::vector<std::size_t> arguments(dispatch.bindings.size());
  std::vector<bool> taken(inputs.size(), false);
  for (std::size_t i = 0; i < dispatch.bindings.size(); ++i) {
    const problem::Binding& binding = dispatch.bindings[i];
    if (binding.access != Access::kReadOnly) {
      if (!holds(binding, operation_.output())) return std::nullopt;
      continue;
    }
    const std::size_t ordinal = binding.ordinal < 0 ? i : static_cast<std::size_t>(binding.ordinal);
    if (binding.offset != 0 || ordinal >= dispatch.arguments.size()) return std::nullopt;
    const auto argument = static_cast<std::size_t>(dispatch.arguments[ordinal]);
    if (argument >= inputs.size() || taken[argument] || !holds(binding, inputs[argument]))
      return std::nullopt;
    arguments[i] = argument;
    taken[argument] = true;
  }
  if (std::ranges::count(taken, true) != std::ssize(inputs) ||
      dispatch.bindings.size() != inputs.size() + 1)
    return std::nullopt;
  return arguments;
}

bool ExpectedProblem::holds_all(const problem::Dispatch& dispatch) const {
  const std::vector<problem::TensorType> inputs = operation_.inputs();
  std::size_t read = 0;
  for (const problem::Binding& binding : dispatch.bindings) {
    const bool is_input = binding.access == Access::kReadOnly;
    if (is_input && read == inputs.size()) return false;
    if (!holds(binding, is_input ? inputs[read++] : operation_.output())) return false;
  }
  return read == inputs.size() && dispatch.bindings.size() == inputs.size() + 1;
}

Result<measure::ProblemRequest> ExpectedProblem::problem_of(const problem::Dispatch& dispatch) {
  measure::ProblemRequest problem = unverified_problem(dispatch);
  const auto arguments = arguments_of(dispatch);
  if (!arguments && !holds_all(dispatch)) return problem;
  std::vector<problem::Array> values;
  if (options_.verify) {
    HONE_ASSIGN(const ExpectedValues* const expected, this->expected());
    values = expected->inputs;
    problem.tolerance = expected->tolerance;
  } else {
    values = inputs_of(operation_, context_.options.seed);
  }
  problem.inputs.resize(dispatch.bindings.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < dispatch.bindings.size(); ++i) {
    if (dispatch.bindings[i].access == Access::kReadOnly)
      problem.inputs[i] = std::move(values[arguments ? (*arguments)[i] : next++].bytes);
    else if (options_.verify)
      problem.expected[i] = expected_->output.bytes;
  }
  return problem;
}

Result<std::string> ExpectedProblem::call(const std::string& module, const std::string& function) {
  HONE_ASSIGN(const ExpectedValues* const expected, this->expected());
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-profile-"));
  provider::ProgramCall call;
  call.module = folder.path() / "function.vmfb";
  HONE_TRY(write_file_atomically(call.module, module));
  call.function.name = function;
  call.device = context_.options.place().address;
  call.function.outputs = {operation_.output()};
  call.stop_fd = context_.stop_fd;
  for (std::size_t i = 0; i < expected->inputs.size(); ++i) {
    call.inputs.push_back(folder.path() / fmt::format("argument{}.npy", i));
    HONE_TRY(write_file_atomically(call.inputs.back(), problem::to_npy(expected->inputs[i])));
  }
  Result<std::vector<problem::Array>> results = context_.programs->runtime().run(call, 1);
  if (!results && results.error().kind == ErrorKind::kFailure)
    return "does not run: " + results.error().message;
  if (!results) return tl::unexpected(results.error());
  const auto got = problem::as_tensor(std::move(results->front()), operation_.output());
  if (!got) return got.error().message;
  HONE_ASSIGN(const measure::Comparison comparison,
              measure::compare(*got, expected->output, expected->tolerance));
  return comparison.right ? std::string() : measure::describe(comparison);
}

}  // namespace hone::profiler
