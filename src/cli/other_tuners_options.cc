// Options of the model tuner and of tune_gemm.py, turned into hone tune's own.
#include <algorithm>
#include <regex>
#include <utility>

#include "base/file.h"
#include "cli/other_tools.h"
#include "cli/tune_options.h"
#include "device/cpu/target.h"

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

constexpr std::int64_t kMegabyte = std::int64_t{1} << 20;

Status refuse(const TuneGemmOptions& options) {
  if (!options.iterations.empty())
    return input_error(
        "--iters {}: hone launches a kernel until its time is known well enough "
        "(docs/measuring.md); remove the flag",
        options.iterations);
  if (options.icache_flush)
    return input_error(
        "--icache-flush: hone launches back to back and does not flush the instruction cache; "
        "--rotating-tensor MB or --cache cold keeps operands out of the caches");
  if (options.no_warmup)
    return input_error(
        "--no-warmup: hone warms up until times are steady; the first launches of a kernel time "
        "the driver and the clocks");
  if (options.init_type == "zeros")
    return input_error(
        "--init-type zeros: a GPU draws less power on zeros and clocks higher, and a kernel that "
        "computes nothing would pass; remove the flag");
  if (options.init_type == "trig_float")
    return input_error(
        "--init-type trig_float: hone's inputs are random numbers with exact sums, so that every "
        "element can be checked; remove the flag");
  return {};
}

Status choose_device(TuneOptions& options) {
  const TuneGemmOptions& old = options.tune_gemm;
  if (old.gpus > 0 && !old.gpu_ids.empty())
    return input_error("--ngpus and --gpu-ids exclude each other");
  if (old.gpus == 0 && old.gpu_ids.empty()) return {};
  if (!options.device.empty())
    return input_error("--device and {} exclude each other",
                       old.gpus > 0 ? "--ngpus" : "--gpu-ids");
  options.device = "cuda:" + old.gpu_ids;
  if (old.gpus > 0) {
    options.device += "0";
    for (int i = 1; i < old.gpus; ++i) options.device += fmt::format(",{}", i);
  }
  return {};
}

Status choose_file(TuneOptions& options) {
  TuneGemmOptions& old = options.tune_gemm;
  if (old.benchmark_file.ends_with(".mlir"))
    options.model_tuner.benchmark_file = std::exchange(old.benchmark_file, "");
  for (const auto& [file, option] : {std::pair(old.gemm_size_file, "--gemm-size-file"),
                                     std::pair(old.checked, "--compare-wo-tuning"),
                                     std::pair(old.benchmark_file, "--benchmark")}) {
    if (file.empty()) continue;
    if (!options.tuning.input.empty() && options.tuning.input != file)
      return input_error("GEMMs come from '{}' or from {} '{}', not both", options.tuning.input,
                         option, file);
    options.tuning.input = file;
  }
  return {};
}

// Applies --rotating-tensor: operands are read in turn from so many megabytes.
void rotate(TuneOptions& options) {
  const auto megabytes = options.tune_gemm.rotating_megabytes;
  if (!megabytes) return;
  options.cache = *megabytes > 0 ? "cold" : "warm";
  options.rotating_bytes = *megabytes * kMegabyte;
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

void add_tune_gemm_options(CLI::App& command, TuneGemmOptions& options) {
  const auto add = [&](const char* names, auto& value, const char* text) {
    return command.add_option(names, value, text)->group(tool::kTuneGemm);
  };
  const auto flag = [&](const char* names, bool& value, const char* text) {
    command.add_flag(names, value, text)->group(tool::kTuneGemm);
  };
  add("--gemm-size-file", options.gemm_size_file, "tune the GEMMs of FILE (same as INPUT)");
  add("--ngpus", options.gpus, "measure on the first N GPUs")->check(CLI::Range(1, 64));
  add("--gpu-ids", options.gpu_ids, "measure on these GPUs: 0,2");
  add("--num-threads", options.threads, "run N compile processes, at most one per core")
      ->check(CLI::Range(1, 1024));
  flag("--compare", options.compare, "accepted: hone verifies every candidate");
  command
      .add_option("--compare-wo-tuning", options.checked,
                  "verify and measure a result file without tuning")
      ->group(tool::kTuneGemm)
      ->expected(0, 1);
  command
      .add_option("--benchmark", options.benchmark_file,
                  "verify and measure INPUT; a program's *_benchmark.mlir: tune that dispatch")
      ->group(tool::kTuneGemm)
      ->expected(0, 1);
  add("--rotating-tensor", options.rotating_megabytes,
      "rotate operands through N MB of buffers (cold); 0: warm")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 20));
  add("--init-type", options.init_type, "randn or hpl: hone's random inputs; others are refused")
      ->check(CLI::IsMember({"randn", "hpl", "trig_float", "zeros"}));
  flag("--keep", options.keep, "accepted: the store keeps all code");
  flag("--time-breakdown", options.time_breakdown, "--verbose, with the time of each phase");
  add("--iters", options.iterations, "refused: hone launches until the time is certain");
  flag("--icache-flush", options.icache_flush, "refused: hone does not flush that cache");
  flag("--no-warmup", options.no_warmup, "refused: hone always warms up");
}

Result<std::vector<std::string>> apply_tune_gemm_options(TuneOptions& options) {
  const TuneGemmOptions& old = options.tune_gemm;
  HONE_TRY(refuse(old));
  HONE_TRY(choose_device(options));
  HONE_TRY(choose_file(options));
  rotate(options);
  if (old.threads > 0)
    options.toolchain.jobs =
        std::min(old.threads, static_cast<int>(device::cpu::available_cores().size()));
  options.verbose |= old.time_breakdown;
  std::vector<std::string> notes;
  if (old.keep)
    notes.push_back("--keep: every kernel's code is kept in '" + options.store + "' (hone show)");
  if (!old.init_type.empty())
    notes.push_back("--init-type " + old.init_type +
                    ": inputs are random numbers of hone's own, whose sums are exact "
                    "(docs/measuring.md)");
  return notes;
}

}  // namespace hone::cli
