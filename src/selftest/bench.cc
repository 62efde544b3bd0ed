#include "selftest/bench.h"

#include <algorithm>

#include "measure/half.h"
#include "measure/inputs.h"
#include "selftest/selftest.h"

namespace hone::selftest {
namespace {

std::string text_of(const std::string& name) {
  for (const EmbeddedFile& file : programs())
    if (file.name == name) return std::string(file.text);
  return {};
}

}  // namespace

Bench::Bench(const device::Place& place, const session::ToolchainOptions& options,
             session::Toolchain& toolchain, double kernel_seconds)
    : place_(place),
      options_(options),
      toolchain_(toolchain),
      runner_(toolchain.make_runner(place.address, options.environment), kernel_seconds) {}

Result<std::map<std::string, TestKernel>> Bench::compile(const std::string& name, bool references) {
  const std::string bytes = text_of(name);
  trial::CompileService& compiler = toolchain_.compiler();
  HONE_ASSIGN(const problem::Program program,
              session::load_for_target(compiler, options_, name, bytes));
  struct Job {
    std::string function;
    trial::DispatchToPrepare dispatch;
    bool is_reference = false;
  };
  std::vector<Job> jobs;
  std::map<std::string, TestKernel> kernels;
  const auto add = [&](const problem::Program& from, const std::vector<std::string>& flags,
                       bool is_reference) {
    for (const problem::Dispatch& dispatch : from.dispatches) {
      const std::string function = dispatch.name.substr(0, dispatch.name.find("_dispatch_"));
      if (!is_reference) kernels[function].dispatch = dispatch;
      const std::string key = function + (is_reference ? "#reference" : "");
      jobs.push_back({function, {key, dispatch.source, flags}, is_reference});
    }
  };
  add(program, session::compile_flags(options_), false);
  if (references) {
    session::ToolchainOptions plain;
    plain.target = options_.target;
    const std::vector<std::string> flags = session::reference_flags(plain);
    HONE_ASSIGN(const problem::Program other, compiler.load_program({name, bytes, flags}));
    add(other, flags, true);
  }
  std::vector<trial::DispatchToPrepare> prepared;
  for (const Job& job : jobs) prepared.push_back(job.dispatch);
  HONE_ASSIGN(const std::vector<Status> statuses, compiler.prepare_each(prepared));
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (statuses[i])
      HONE_TRY(compiler.submit(jobs[i].dispatch.key, std::nullopt));
    else
      kernels[jobs[i].function].failure = statuses[i].error().message;
  }
  for (const Job& job : jobs) {
    HONE_ASSIGN(auto compiled, compiler.next_finished(job.dispatch.key));
    HONE_TRY(compiler.release(job.dispatch.key));
    TestKernel& kernel = kernels[job.function];
    if (!compiled) continue;
    if (!compiled->artifact)
      kernel.failure = compiled->artifact.error().message;
    else
      (job.is_reference ? kernel.reference : kernel.code) = std::move(*compiled->artifact);
  }
  return kernels;
}

measure::ProblemRequest Bench::problem_of(const TestKernel& kernel) const {
  measure::ProblemRequest problem;
  problem.dispatch = kernel.dispatch;
  problem.device = place_.address;
  problem.reference = kernel.reference;
  const std::vector<problem::Binding>& bindings = kernel.dispatch.bindings;
  problem.inputs.resize(bindings.size());
  for (std::size_t i = 0; i < bindings.size(); ++i)
    if (bindings[i].access == problem::Access::kReadOnly)
      problem.inputs[i] = whole_numbers(bindings[i].type, i);
  return problem;
}

Result<trial::KernelResult<measure::Verification>> Bench::verify(
    const measure::ProblemRequest& problem, const provider::Artifact& code) {
  HONE_TRY(runner_.set_problem(problem));
  HONE_ASSIGN(std::vector<trial::RunnerService::Verified> verified,
              runner_.load_and_verify({code}));
  return std::move(verified.front().verification);
}

Result<std::vector<std::string>> Bench::outputs(const problem::Dispatch& dispatch) {
  HONE_ASSIGN(trial::KernelResult<measure::Outputs> outputs, runner_.ask(measure::jobs::kOutputs));
  if (!outputs) return failure("{}", outputs.error().message);
  for (std::size_t i = 0; i < outputs->bindings.size(); ++i) {
    const auto binding = static_cast<std::size_t>(outputs->bindings[i]);
    outputs->bytes[i].resize(
        static_cast<std::size_t>(problem::byte_size(dispatch.bindings[binding].type)));
  }
  return std::move(outputs->bytes);
}

Result<trial::KernelResult<measure::MeasureResult>> Bench::time(
    const measure::ProblemRequest& problem, const provider::Artifact& code,
    const measure::Protocol& protocol) {
  HONE_TRY(runner_.set_problem(problem));
  trial::RunnerKernel kernel{code};
  measure::MeasureRequest how;
  how.protocol = protocol;
  return trial::KernelRunner(runner_).measure({&kernel}, nullptr, how);
}

std::string whole_numbers(const problem::TensorType& type, std::size_t binding) {
  problem::Array array = problem::zeros_of(type);
  const bool is_wide = problem::byte_size(type.element) >= 4;
  measure::change_elements(array, [&](std::size_t i, double) {
    // 7919 and 1009 are primes: a permutation of 1009 numbers.
    if (is_wide) return static_cast<double>((i * 7919 + binding * 509) % 1009) - 504;
    return static_cast<double>(measure::random_bits(binding, i) % 9) - 4;
  });
  return std::move(array.bytes);
}

}  // namespace hone::selftest
