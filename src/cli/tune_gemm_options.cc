#include <algorithm>
#include <utility>

#include "cli/other_tools.h"
#include "cli/tune_options.h"
#include "device/cpu/target.h"

namespace hone::cli {
namespace {

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
