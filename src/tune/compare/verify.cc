#include "tune/compare/verify.h"

#include <algorithm>

#include "base/file.h"
#include "measure/reference.h"
#include "space/configuration.h"
#include "trial/kernel_runner.h"
#include "tune/program/checked_inputs.h"
#include "tune/program/program_outputs.h"
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

class ProgramVerification {
 public:
  ProgramVerification(const VerifyRequest& request, const problem::Function& function,
                      const std::vector<std::string>& runtime_flags,
                      const provider::ProgramProvider& provider, trial::CompileService& compiler)
      : request_(request),
        function_(function),
        runtime_flags_(runtime_flags),
        provider_(provider),
        compiler_(compiler) {}

  Result<VerifyResult> run() {
    HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-verify-"));
    folder_ = folder.path();
    HONE_TRY(write_inputs());
    VerifyResult verdict;
    HONE_ASSIGN(const std::vector<problem::Array> expected, expected_results(verdict));
    HONE_ASSIGN(const std::string module, compile("program", request_.flags));
    Result<std::vector<problem::Array>> results = call(module, request_.place.address, inputs_);
    HONE_TRY(all_but_failure(results));
    if (!results) {
      verdict.message = "does not run: " + results.error().message;
      return verdict;
    }
    verdict.arrays = std::move(*results);
    HONE_TRY(judge(expected, verdict));
    if (request_.expected.empty()) HONE_TRY(look_for_news(expected, verdict));
    return verdict;
  }

 private:
  // Judges the outputs by the given tolerance, or by how far the reference's elements move.
  Status judge(const std::vector<problem::Array>& expected, VerifyResult& verdict) {
    verdict.right = true;
    verdict.outputs.clear();
    const std::optional<measure::Tolerance> given = given_tolerance(request_);
    std::vector<JudgedOutput> judged;
    if (!given) {
      OutputWitnesses witnesses{.moves = [&] { return moves(expected); }, .wide = {}};
      if (request_.expected.empty() && (computes_narrow(request_.program) || are_narrow(expected)))
        witnesses.wide = [&] { return wide_results(); };
      HONE_ASSIGN(judged, judge_outputs(verdict.arrays, expected, witnesses));
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (given) {
        JudgedOutput& each = judged.emplace_back();
        each.tolerance = *given;
        HONE_ASSIGN(each.comparison, measure::compare(verdict.arrays[i], expected[i], *given));
        if (!each.comparison.right) {
          HONE_ASSIGN(each.form,
                      measure::form_of_difference(verdict.arrays[i], expected[i], *given));
        }
      }
      verdict.right = verdict.right && judged[i].comparison.right;
      std::string tolerance = in_words(judged[i].tolerance);
      if (!judged[i].by_wide.empty()) tolerance += "; " + judged[i].by_wide;
      verdict.outputs.push_back({fmt::format("result {}", i), expected[i].type,
                                 judged[i].comparison, std::move(tolerance), judged[i].form});
    }
    return {};
  }

  // Returns how far the elements of the reference move; those of the program under test if its
  // outputs were given.
  Result<std::optional<OutputMoves>> moves(const std::vector<problem::Array>& expected) {
    if (request_.expected.empty())
      return moves_of(inputs_, expected, folder_, request_.seed, run_of_reference());
    const RunOnFiles run = run_of_program();
    auto own = run(inputs_);
    if (!own) return tl::unexpected(std::move(own).error());
    return moves_of(inputs_, *own, folder_, request_.seed, run);
  }

  RunOnFiles run_of_program() {
    return [this](const std::vector<std::filesystem::path>& inputs) {
      return call((folder_ / "program.vmfb").string(), request_.place.address, inputs);
    };
  }
  RunOnFiles run_of_reference() {
    return [this](const std::vector<std::filesystem::path>& inputs) {
      return call((folder_ / "reference.vmfb").string(), device::host_of(request_.place.address),
                  inputs);
    };
  }

  provider::ProgramCall call_of(const std::filesystem::path& module, const device::Address& device,
                                const std::vector<std::filesystem::path>& inputs) const {
    return {.module = module,
            .function = function_,
            .inputs = inputs,
            .device = device,
            .runtime_flags = runtime_flags_};
  }

  // Returns the results of the program in f32; empty if it does not compile or run.
  Result<std::vector<problem::Array>> wide_results() {
    HONE_ASSIGN(const auto module,
                compiler_.compile_program_in_f32(
                    {request_.program.path, request_.bytes, request_.reference_flags}));
    if (!module) return std::vector<problem::Array>();
    const std::filesystem::path path = folder_ / "wide.vmfb";
    HONE_TRY(write_file_atomically(path, *module));
    provider::ProgramCall call = call_of(path, device::host_of(request_.place.address), {});
    HONE_ASSIGN(call, widened_call(std::move(call), inputs_, folder_));
    auto results = provider_.runtime().run(call, function_.outputs.size());
    if (!results && results.error().kind == ErrorKind::kFailure)
      return std::vector<problem::Array>();
    return results;
  }

  // Uninformative outputs pass whatever is computed. The program is then verified on other inputs;
  // if their outputs are uninformative too, nothing is verified.
  Status look_for_news(const std::vector<problem::Array>& expected, VerifyResult& verdict) {
    if (!verdict.right) return {};
    HONE_ASSIGN(const CheckedInputs found,
                inputs_that_tell(request_.inputs, {inputs_, expected}, folder_, request_.seed,
                                 run_of_reference()));
    verdict.says_nothing = found.says_nothing;
    if (!found.says_nothing.empty()) return {};
    // The first set is verified already, unless it was drawn anew.
    for (std::size_t i = found.redrawn ? 0 : 1; i < found.sets.size() && verdict.right; ++i) {
      inputs_ = found.sets[i].inputs;
      auto results = run_of_program()(inputs_);
      HONE_TRY(all_but_failure(results));
      if (!results) {
        verdict.right = false;
        verdict.message = "does not run on other inputs: " + results.error().message;
        return {};
      }
      VerifyResult other = verdict;
      other.arrays = std::move(*results);
      HONE_TRY(judge(found.sets[i].expected, other));
      if (other.right && !found.redrawn) continue;
      std::swap(other.arrays, verdict.arrays);  // --output is of the first inputs
      verdict = std::move(other);
      verdict.message = found.redrawn
                            ? "on inputs drawn anew: on the first ones the outputs say nothing"
                            : "on a second draw of inputs";
    }
    return {};
  }

  Status write_inputs() {
    HONE_ASSIGN(inputs_, write_argument_files(function_, request_.inputs, folder_, request_.seed));
    if (request_.save_inputs.empty()) return {};
    for (const std::filesystem::path& file : inputs_) {
      HONE_ASSIGN(const std::string bytes, read_file(file));
      HONE_TRY(write_file_atomically(request_.save_inputs / file.filename(), bytes));
    }
    return {};
  }

  Result<std::vector<problem::Array>> expected_results(VerifyResult& verdict) {
    if (!request_.expected.empty()) {
      verdict.reference = "the given outputs";
      return fit(request_.expected, function_.outputs,
                 fmt::format("the results of '{}'", function_.name));
    }
    verdict.reference =
        "the same program compiled with " + in_words(provider_, request_.reference_flags);
    HONE_ASSIGN(const std::string module, compile("reference", request_.reference_flags));
    Result<std::vector<problem::Array>> results =
        call(module, device::host_of(request_.place.address), inputs_);
    if (!results && results.error().kind == ErrorKind::kFailure)
      return failure("the reference does not run: {}", results.error().message);
    return results;
  }

  // Returns the path of the compiled module.
  Result<std::string> compile(const std::string& name, const std::vector<std::string>& flags) {
    HONE_ASSIGN(const auto module,
                compiler_.compile_program({request_.program.path, request_.bytes, flags}));
    if (!module && module.error().kind == provider::FailureKind::kCompileError)
      return input_error("the {} does not compile with {}: {}", name, fmt::join(flags, " "),
                         module.error().message);
    if (!module)
      return failure("the {} does not compile ({}): {}", name,
                     provider::name_of(module.error().kind), module.error().message);
    const std::filesystem::path path = folder_ / (name + ".vmfb");
    HONE_TRY(write_file_atomically(path, *module));
    return path.string();
  }

  Result<std::vector<problem::Array>> call(const std::string& module, const device::Address& device,
                                           const std::vector<std::filesystem::path>& inputs) {
    HONE_ASSIGN(std::vector<problem::Array> results,
                provider_.runtime().run(call_of(module, device, inputs), function_.outputs.size()));
    for (std::size_t i = 0; i < results.size(); ++i) {
      const problem::TensorType wanted = filled_in(function_.outputs[i], results[i].type);
      auto result = problem::as_tensor(std::move(results[i]), wanted);
      if (!result) return failure("result {}: {}", i, result.error().message);
      results[i] = std::move(*result);
    }
    return results;
  }

  const VerifyRequest& request_;
  const problem::Function& function_;
  const std::vector<std::string>& runtime_flags_;
  const provider::ProgramProvider& provider_;
  trial::CompileService& compiler_;
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> inputs_;
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

Result<std::vector<problem::Array>> fit(const std::vector<GivenArray>& arrays,
                                        const std::vector<problem::TensorType>& types,
                                        const std::string& what) {
  if (arrays.size() != types.size())
    return input_error("{} are {} ({}), but {} {} given", what, types.size(), list_of(types),
                       arrays.size(), arrays.size() == 1 ? "is" : "are");
  std::vector<problem::Array> fitting;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    auto array = problem::as_tensor(arrays[i].array, filled_in(types[i], arrays[i].array.type));
    if (!array)
      return input_error("{} does not fit, number {} of {}: {}", arrays[i].name, i, what,
                         array.error().message);
    fitting.push_back(std::move(*array));
  }
  return fitting;
}

std::optional<measure::Tolerance> given_tolerance(const VerifyRequest& request) {
  if (!request.absolute && !request.relative) return std::nullopt;
  return measure::Tolerance{request.absolute.value_or(0), request.relative.value_or(0), "as given"};
}

std::string in_words(const measure::Tolerance& tolerance) {
  if (tolerance.absolute == 0 && tolerance.relative == 0) return tolerance.basis;
  return fmt::format("absolute {:.3g}, relative {:.3g}: {}", tolerance.absolute, tolerance.relative,
                     tolerance.basis);
}

std::string in_words(const provider::Provider& provider, const std::vector<std::string>& flags) {
  std::vector<std::string> telling;
  for (const std::string& flag : flags)
    if (!provider.names_the_device(flag)) telling.push_back(flag);
  return fmt::format("{}", fmt::join(telling, " "));
}

Result<VerifyResult> verify_program(const VerifyRequest& request, const problem::Function& function,
                                    const std::vector<std::string>& runtime_flags,
                                    const provider::ProgramProvider& provider,
                                    trial::CompileService& compiler) {
  return ProgramVerification(request, function, runtime_flags, provider, compiler).run();
}

}  // namespace hone::tune
