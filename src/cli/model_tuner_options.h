// Flags of hone tune from the SDXL scripts of 2024 (autotune.py) and SHARK's tuner, with their
// meaning there. Flags without an equivalent in hone are refused with the reason
// (docs/migration.md).
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace hone::cli {

struct TuneOptions;

struct ModelTunerOptions {
  // File *_benchmark.mlir of the program, whose dispatch is tuned.
  std::string benchmark_file;
  std::string output_spec;  // where the spec is written too
  int model_candidates = 0;
  std::string stop_after;
  std::string lhs_dims, rhs_dims, tile_dims;
  std::string codegen_pipeline, conv_strategy;
};

void add_model_tuner_options(CLI::App& command, ModelTunerOptions& options);

// Translates the flags into hone's own options. Returns a note for each accepted flag that needs no
// action. Input errors: refused flags, and a benchmark file that holds no dispatch.
Result<std::vector<std::string>> apply_model_tuner_options(TuneOptions& options);

}  // namespace hone::cli
