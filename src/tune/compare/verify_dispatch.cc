#include <algorithm>

#include "measure/reference.h"
#include "space/configuration.h"
#include "trial/kernel_runner.h"
#include "tune/compare/verify.h"
#include "tune/services/load_program.h"

namespace hone::tune {
namespace {

using problem::Access;

class DispatchVerification {
 public:
  DispatchVerification(const VerifyRequest& request, const problem::Dispatch& dispatch,
                       const provider::Provider& provider, trial::CompileService& compiler,
                       trial::RunnerService& runner)
      : request_(request),
        dispatch_(dispatch),
        provider_(provider),
        compiler_(compiler),
        runner_(runner) {}

  Result<VerifyResult> run(const std::optional<std::string>& configuration) {
    for (const problem::Binding& binding : dispatch_.bindings)
      if (problem::is_dynamic(binding.type))
        return input_error("{} has a dynamic shape ({}); hone runs static ones only",
                           dispatch_.name, problem::to_string(binding.type));
    std::optional<provider::Payload> payload;
    if (configuration) {
      HONE_ASSIGN(payload, payload_from(provider_, dispatch_, *configuration));
    }
    HONE_ASSIGN(const measure::ProblemRequest problem, problem_request());
    HONE_ASSIGN(const auto artifact, compile(dispatch_, request_.flags, payload, "the dispatch"));
    if (!artifact) return failed(artifact.error());
    HONE_TRY(runner_.set_problem(problem));
    trial::RunnerKernel kernel{*artifact};
    HONE_ASSIGN(const trial::KernelResult<measure::Verification> verification,
                trial::KernelRunner(runner_).verify(kernel));
    if (!verification) return failed(verification.error());
    HONE_ASSIGN(trial::KernelResult<measure::Outputs> outputs,
                runner_.ask(measure::jobs::kOutputs));
    if (!outputs) return failed(outputs.error());
    return verdict_of(*verification, std::move(*outputs));
  }

 private:
  Result<measure::ProblemRequest> problem_request() {
    measure::ProblemRequest problem;
    problem.dispatch = dispatch_;
    problem.device = request_.place.address;
    problem.seed = request_.seed;
    problem.tolerance = given_tolerance(request_);
    if (!request_.inputs.empty()) {
      HONE_ASSIGN(auto arrays, arguments_for(types_but(Access::kWriteOnly), request_.inputs,
                                             bindings("read"), request_.seed));
      problem.inputs = by_binding(std::move(arrays), Access::kWriteOnly);
    }
    if (!request_.expected.empty()) {
      HONE_ASSIGN(auto arrays,
                  fit(request_.expected, types_but(Access::kReadOnly), bindings("written")));
      problem.expected = by_binding(std::move(arrays), Access::kReadOnly);
    }
    if (!request_.expected.empty())
      reference_ = "the given outputs";
    else if (measure::has_exact_reference(dispatch_))
      reference_ = "the product computed by hone";
    else
      HONE_TRY(add_reference(problem));
    return problem;
  }

  std::string bindings(std::string_view verb) const {
    return fmt::format("the bindings that '{}' has {}", dispatch_.name, verb);
  }

  std::vector<problem::TensorType> types_but(Access not_these) const {
    std::vector<problem::TensorType> types;
    for (const problem::Binding& binding : dispatch_.bindings)
      if (binding.access != not_these) types.push_back(binding.type);
    return types;
  }

  // Assigns arrays, in ordinal order, to the bindings of any access but `not_these`.
  std::vector<std::string> by_binding(std::vector<problem::Array> arrays, Access not_these) const {
    std::vector<std::string> bytes(dispatch_.bindings.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      if (dispatch_.bindings[i].access != not_these) bytes[i] = std::move(arrays[next++].bytes);
    return bytes;
  }

  Status add_reference(measure::ProblemRequest& problem) {
    HONE_ASSIGN(
        const problem::Program other,
        compiler_.load_program({request_.program.path, request_.bytes, request_.reference_flags}));
    const auto found = std::ranges::find_if(other.dispatches, [&](const auto& each) {
      return each.name == dispatch_.name && each.bindings == dispatch_.bindings;
    });
    const bool independent = found != other.dispatches.end() && found->source != dispatch_.source;
    if (!independent && !request_.place.traits.runs_on_host)
      return failure("'{}' cannot be verified: compiled for a CPU the program has no such dispatch",
                     dispatch_.name);
    reference_ = independent ? "the same dispatch compiled with " +
                                   in_words(provider_, request_.reference_flags)
                             : "the same dispatch with the compiler's own choices (its file says "
                               "what it is compiled for: code generation is shared)";
    HONE_ASSIGN(auto artifact, compile(independent ? *found : dispatch_,
                                       independent ? request_.reference_flags : request_.flags,
                                       std::nullopt, "the reference"));
    if (!artifact)
      return failure("the reference of '{}' does not compile ({}): {}", dispatch_.name,
                     provider::name_of(artifact.error().kind), artifact.error().message);
    problem.reference = std::move(*artifact);
    return {};
  }

  Result<tl::expected<provider::Artifact, provider::Failure>> compile(
      const problem::Dispatch& dispatch, const std::vector<std::string>& flags,
      const std::optional<provider::Payload>& payload, const std::string& key) {
    HONE_ASSIGN(std::vector<trial::CompiledCandidate> compiled,
                compiler_.compile_alone({key, dispatch.source, flags}, {payload}));
    return std::move(compiled.front().artifact);
  }

  VerifyResult failed(const provider::Failure& failure) const {
    VerifyResult verdict;
    verdict.reference = reference_;
    verdict.message = fmt::format("{}: {}", provider::name_of(failure.kind), failure.message);
    return verdict;
  }

  VerifyResult verdict_of(const measure::Verification& verification,
                          measure::Outputs outputs) const {
    VerifyResult verdict;
    verdict.right = verification.right;
    verdict.message = verification.message;
    verdict.reference = reference_;
    for (const measure::OutputCheck& check : verification.outputs) {
      const auto binding = static_cast<std::size_t>(check.binding);
      verdict.outputs.push_back({fmt::format("binding {}", binding),
                                 dispatch_.bindings[binding].type, check.comparison,
                                 verification.tolerance});
    }
    for (std::size_t i = 0; i < outputs.bindings.size(); ++i) {
      const problem::TensorType& type =
          dispatch_.bindings[static_cast<std::size_t>(outputs.bindings[i])].type;
      std::string& bytes = outputs.bytes[i];
      bytes.resize(static_cast<std::size_t>(problem::element_count(type) *
                                            problem::byte_size(type.element)));
      verdict.arrays.push_back({type, std::move(bytes)});
    }
    return verdict;
  }

  const VerifyRequest& request_;
  const problem::Dispatch& dispatch_;
  const provider::Provider& provider_;
  trial::CompileService& compiler_;
  trial::RunnerService& runner_;
  std::string reference_;
};

}  // namespace

Result<VerifyResult> verify_dispatch(const VerifyRequest& request,
                                     const problem::Dispatch& dispatch,
                                     const std::optional<std::string>& configuration,
                                     const provider::Provider& provider,
                                     trial::CompileService& compiler,
                                     trial::RunnerService& runner) {
  return DispatchVerification(request, dispatch, provider, compiler, runner).run(configuration);
}

}  // namespace hone::tune
