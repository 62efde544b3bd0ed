// Options of hone tune.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "provider/list_provider.h"
#include "session/session_options.h"
#include "session/sessions.h"
#include "tune/dispatch/compile_only.h"

namespace hone::cli {

// Flags of ROCm's tune_gemm.py, with their meaning there. Flags without an equivalent in hone are
// refused with the reason (docs/migration.md).
struct TuneGemmOptions {
  std::string gemm_size_file;
  int gpus = 0;         // the first so many; 0: not said
  std::string gpu_ids;  // "0,2"
  int threads = 0;      // compile processes; 0: not said
  // Verifies and measures the configurations of a result file instead of tuning: of `checked`, or
  // if that is empty of the file of GEMMs.
  bool check_only = false;
  std::string checked;
  bool benchmark = false;      // the same
  std::string benchmark_file;  // of --benchmark; that of a program is ModelTunerOptions'
  std::optional<std::int64_t> rotating_megabytes;
  std::string iterations, init_type;
  bool keep = false, compare = false, time_breakdown = false;
  bool icache_flush = false, no_warmup = false;
};

// Flags of the SDXL scripts of 2024 (autotune.py) and of SHARK's tuner, likewise.
struct ModelTunerOptions {
  // File *_benchmark.mlir of the program, whose dispatch is tuned.
  std::string benchmark_file;
  std::string output_spec;  // where the spec is written too
  int model_candidates = 0;
  std::string stop_after;
  std::string lhs_dims, rhs_dims, tile_dims;
  std::string codegen_pipeline, conv_strategy;
};

// A tuning over the tasks of a batch system (docs/fleet.md).
struct FleetLaunch {
  std::string launcher;  // "slurm", "hq"; empty: this machine tunes
  std::size_t tasks = 16;
  std::string sbatch_args;
  std::string compile_partition;  // of Slurm, whose nodes compile; empty: each task for itself
  std::string folder;             // empty: "fleet" in --out
  double checkpoint_seconds = 60;
};

struct TuneOptions : SessionOptions {
  TuneGemmOptions tune_gemm;
  ModelTunerOptions model_tuner;
  FleetLaunch fleet;
  std::string shard;  // plan::read_part; empty: the whole tuning
};

// Tunes the program of `options.tuning.input` with IREE.
CommandResult tune_program(TuneOptions options);
// Measures what --compile-only has compiled of the program, without a compiler (--measure-only).
CommandResult measure_program(TuneOptions options);
// Prints what a tuning of the session's program would do and cost (--dry-run). `sizes`: as for
// tune::tune_program.
CommandResult print_tuning_plan(ProgramSession& session,
                                const std::vector<problem::SizeSet>& sizes);
// Tunes the dispatches that `listed` lists, with the provider registered under this name.
CommandResult tune_list(TuneOptions options, const std::string& provider,
                        std::unique_ptr<provider::ListProvider> listed);
// Writes the report of --compile-only and prints its results. Returns the exit code.
CommandResult print_compiled(const SessionOptions& options, store::Store& store,
                             const tune::CompiledProgram& compiled);
// Returns an input error for a --shard that is no part, or goes with no other option given.
Status check_part(const TuneOptions& options);
// Prints what a part of a tuning did: a shard, or the flag search.
CommandResult print_part(const SessionOptions& options, const tune::Context& context,
                         const std::vector<tune::NotTuned>& not_tuned);
// Divides the tuning over the tasks of a batch system and waits for its end. `words`: of the
// command line, for the tasks.
CommandResult launch_tuning(const TuneOptions& options, const std::vector<std::string>& words,
                            bool is_program);
// Verifies and measures the configurations that a result file gives for its GEMMs.
CommandResult check_gemms(TuneOptions options);

void add_tune_gemm_options(CLI::App& command, TuneGemmOptions& options);

// Translates the flags into hone's own options. Returns a note for each accepted flag that needs no
// action. Input errors: refused flags, and flags that exclude each other.
Result<std::vector<std::string>> apply_tune_gemm_options(TuneOptions& options);

void add_model_tuner_options(CLI::App& command, ModelTunerOptions& options);

// Translates the flags into hone's own options. Returns a note for each accepted flag that needs no
// action. Input errors: refused flags, and a benchmark file that holds no dispatch.
Result<std::vector<std::string>> apply_model_tuner_options(TuneOptions& options);

}  // namespace hone::cli
