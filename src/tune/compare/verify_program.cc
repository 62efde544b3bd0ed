#include "base/file.h"
#include "tune/compare/verify.h"
#include "tune/program/program_tolerance.h"
#include "tune/services/input_files.h"

namespace hone::tune {
namespace {

class ProgramVerification {
 public:
  ProgramVerification(const VerifyRequest& request, const problem::Function& function,
                      const std::vector<std::string>& runtime_flags,
                      const provider::ProgramProvider& provider, CompileService& compiler)
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
    Result<std::vector<problem::Array>> results = call(module, request_.place.address);
    if (!results && results.error().kind != ErrorKind::kFailure)
      return tl::unexpected(std::move(results).error());
    if (!results) {
      verdict.message = "does not run: " + results.error().message;
      return verdict;
    }
    verdict.arrays = std::move(*results);
    verdict.right = true;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const measure::Tolerance tolerance =
          given_tolerance(request_).value_or(program_tolerance(expected[i]));
      HONE_ASSIGN(measure::Comparison comparison,
                  measure::compare(std::as_bytes(std::span(verdict.arrays[i].bytes)),
                                   std::as_bytes(std::span(expected[i].bytes)), expected[i].type,
                                   tolerance));
      verdict.right = verdict.right && comparison.right;
      verdict.outputs.push_back({fmt::format("result {}", i), expected[i].type,
                                 std::move(comparison), in_words(tolerance)});
    }
    return verdict;
  }

 private:
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
        call(module, device::host_of(request_.place.address));
    if (!results && results.error().kind == ErrorKind::kFailure)
      return failure("the reference does not run: {}", results.error().message);
    return results;
  }

  // The path of the compiled module.
  Result<std::string> compile(const std::string& name, const std::vector<std::string>& flags) {
    HONE_ASSIGN(const auto module,
                compiler_.compile_program(request_.program.path, request_.bytes, flags));
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

  Result<std::vector<problem::Array>> call(const std::string& module,
                                           const device::Address& device) {
    const provider::ProgramCall call{module, function_.name, inputs_,
                                     device, runtime_flags_, function_.outputs};
    HONE_ASSIGN(std::vector<problem::Array> results,
                provider_.run_program(call, function_.outputs.size()));
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
  CompileService& compiler_;
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> inputs_;
};

}  // namespace

Result<std::vector<problem::Array>> fit(const std::vector<GivenArray>& arrays,
                                        const std::vector<problem::TensorType>& types,
                                        const std::string& what) {
  if (arrays.size() != types.size()) {
    std::vector<std::string> wanted;
    for (const problem::TensorType& type : types) wanted.push_back(problem::to_string(type));
    return input_error("{} are {} ({}), but {} {} given", what, types.size(),
                       fmt::join(wanted, ", "), arrays.size(), arrays.size() == 1 ? "is" : "are");
  }
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
                                    CompileService& compiler) {
  return ProgramVerification(request, function, runtime_flags, provider, compiler).run();
}

}  // namespace hone::tune
