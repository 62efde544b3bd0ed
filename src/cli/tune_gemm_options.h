// Flags of hone tune from ROCm's tune_gemm.py, with their meaning there. Flags without an
// equivalent in hone are refused with the reason (docs/migration.md).
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
  // Verifies and measures the configurations of a result file instead of tuning: of `checked`, or
  // if that is empty of the file of GEMMs.
  bool check_only = false;
  std::string checked;
  bool benchmark = false;  // the same
  std::string
      benchmark_file;  // what stands behind --benchmark; a program's is model_tuner_options.h's
  std::optional<std::int64_t> rotating_megabytes;
  std::string iterations, init_type;
  bool keep = false, compare = false, time_breakdown = false;
  bool icache_flush = false, no_warmup = false;
};

void add_tune_gemm_options(CLI::App& command, TuneGemmOptions& options);

// Translates the flags into hone's own options. Returns a note for each accepted flag that needs no
// action. Input errors: refused flags, and flags that exclude each other.
Result<std::vector<std::string>> apply_tune_gemm_options(TuneOptions& options);

}  // namespace hone::cli
