#include <regex>

#include "base/file.h"
#include "cli/other_tools.h"
#include "cli/tune_options.h"

namespace hone::cli {
namespace {

Status refuse(const ModelTunerOptions& options) {
  for (const auto& [name, value] :
       {std::pair("--lhs-dims", options.lhs_dims), std::pair("--rhs-dims", options.rhs_dims),
        std::pair("--tile-dims", options.tile_dims)})
    if (!value.empty())
      return input_error(
          "{} {}: hone reads from the dispatch which loops are rows, columns and reductions; "
          "remove the flag",
          name, value);
  if (!options.codegen_pipeline.empty() || !options.conv_strategy.empty())
    return input_error(
        "{}: hone searches every pipeline that the compiler states for a dispatch, side by side; "
        "the flag --iree-global-opt-use-im2col-for-convs decides how convolutions are written "
        "(--flag)",
        options.codegen_pipeline.empty() ? "--conv-strategy " + options.conv_strategy
                                         : "--codegen-pipeline " + options.codegen_pipeline);
  return {};
}

Status stop_after(const std::string& phase, TuneOptions& options) {
  // Avoid CLI::IsMember: it prints its whole set into one line of --help.
  if (phase.empty() || phase == "benchmark-models") return {};
  if (phase == "benchmark-dispatches") {
    options.no_program = true;
    return {};
  }
  if (phase == "compile-dispatches") {
    options.compile_only = true;
    return {};
  }
  if (phase == "generate-candidates")
    return input_error(
        "--stop-after {}: hone proposes configurations one by one from measurements; hone space "
        "PROGRAM --samples 20 prints some",
        phase);
  if (phase == "compile-models")
    return input_error(
        "--stop-after {}: hone compiles and times a program in one step; --no-program skips both",
        phase);
  return input_error(
      "--stop-after {}: the phase is not generate-candidates, compile-dispatches, "
      "benchmark-dispatches, compile-models or benchmark-models",
      phase);
}

// Reads the executable's name from "@a_dispatch_3 {" or, if it is no plain symbol, "@\"a b\" {".
Result<std::string> executable_in(const std::string& path) {
  HONE_ASSIGN(const std::string text, read_file(path));
  static const std::regex kExecutable(
      R"re(hal\.executable (?:private |public )?@("[^"]+"|[\w$.-]+))re");
  std::smatch found;
  if (!std::regex_search(text, found, kExecutable))
    return input_error(
        "'{}' holds no dispatch: --benchmark takes a file that iree-compile "
        "--iree-hal-dump-executable-benchmarks-to wrote",
        path);
  std::string name = found[1];
  if (name.front() == '"') name = name.substr(1, name.size() - 2);
  return name;
}

}  // namespace

void add_model_tuner_options(CLI::App& command, ModelTunerOptions& options) {
  const auto add = [&](const char* names, auto& value, const char* text) {
    return command.add_option(names, value, text)->group(tool::kModelTuners);
  };
  add("--output-td-spec", options.output_spec, "write the spec to FILE too")->type_name("FILE");
  add("--model-candidates", options.model_candidates,
      "accepted: hone tries candidates in the model by expected gain")
      ->check(CLI::PositiveNumber);
  add("--stop-after", options.stop_after,
      "compile-dispatches: --compile-only; benchmark-dispatches: --no-program")
      ->type_name("PHASE");
  add("--codegen-pipeline", options.codegen_pipeline, "refused: hone searches all pipelines");
  add("--conv-strategy", options.conv_strategy, "refused: hone searches all pipelines");
  add("--lhs-dims", options.lhs_dims, "refused: hone reads loops from the dispatch");
  add("--rhs-dims", options.rhs_dims, "refused: hone reads loops from the dispatch");
  add("--tile-dims", options.tile_dims, "refused: hone reads loops from the dispatch");
}

Result<std::vector<std::string>> apply_model_tuner_options(TuneOptions& options) {
  const ModelTunerOptions& old = options.model_tuner;
  HONE_TRY(refuse(old));
  HONE_TRY(stop_after(old.stop_after, options));
  std::vector<std::string> notes;
  if (old.model_candidates > 0)
    notes.push_back(fmt::format(
        "--model-candidates {}: as many entries as were found are tried in the model, by groups",
        old.model_candidates));
  if (!old.benchmark_file.empty()) {
    HONE_ASSIGN(const std::string executable, executable_in(old.benchmark_file));
    // A dispatch's name is its executable's, followed by its operation.
    options.tuning.dispatches.push_back(executable + "_*");
  }
  return notes;
}

}  // namespace hone::cli
