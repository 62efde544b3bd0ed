// Flags that hone tune has because ROCm's tune_gemm.py has them, with their meaning there; those
// that hone does not do are refused with the reason (docs/migration.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"

namespace hone::cli {

struct TuneOptions;

struct TuneGemmOptions {
  std::string gemm_size_file;
  int gpus = 0;         // the first so many; 0: not said
  std::string gpu_ids;  // "0,2"
  int threads = 0;      // compile processes; 0: not said
  // Check and measure the configurations that a result file says instead of tuning: of `checked`,
  // or where that is empty of the file of GEMMs.
  bool check_only = false;
  std::string checked;
  bool benchmark = false;  // the same
  std::string
      benchmark_file;  // what stands behind --benchmark; a program's is model_tuner_options.h's
  std::optional<std::int64_t> rotating_megabytes;
  std::string iterations, init_type;
  bool keep = false, compare = false, time_breakdown = false, verbose = false;
  bool icache_flush = false, no_warmup = false;
};

void add_tune_gemm_options(CLI::App& command, TuneGemmOptions& options);

// Turns what was said into hone's own options. An input error for what is refused, and for flags
// that exclude each other. What is accepted and needs nothing to be done is a line of the result,
// for the user.
Result<std::vector<std::string>> apply_tune_gemm_options(TuneOptions& options);

}  // namespace hone::cli
