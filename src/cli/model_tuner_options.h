// Flags that hone tune has because the SDXL scripts of 2024 (autotune.py) and SHARK's tuner have
// them, with their meaning there; those that hone does not do are refused with the reason
// (docs/migration.md).
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace hone::cli {

struct TuneOptions;

struct ModelTunerOptions {
  // A *_benchmark.mlir of the program: its dispatch is what is tuned.
  std::string benchmark_file;
  std::string output_spec;  // where the spec is written too
  int model_candidates = 0;
  std::string stop_after;
  bool dry_run = false;
  std::string lhs_dims, rhs_dims, tile_dims;
  std::string codegen_pipeline, conv_strategy;
};

void add_model_tuner_options(CLI::App& command, ModelTunerOptions& options);

// Turns what was said into hone's own options. An input error for what is refused, and for a
// benchmark file that holds no dispatch. What is accepted and needs nothing to be done is a line of
// the result, for the user.
Result<std::vector<std::string>> apply_model_tuner_options(TuneOptions& options);

}  // namespace hone::cli
