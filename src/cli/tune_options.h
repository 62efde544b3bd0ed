// Options of hone tune.
#pragma once

#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/model_tuner_options.h"
#include "cli/tune_gemm_options.h"
#include "provider/list_provider.h"
#include "session/program_session.h"
#include "session/session_options.h"
#include "tune/dispatch/compile_only.h"

namespace hone::cli {

struct TuneOptions : SessionOptions {
  TuneGemmOptions tune_gemm;
  ModelTunerOptions model_tuner;
};

// Tunes the program of `options.tuning.input` with IREE.
CommandResult tune_program(TuneOptions options);
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
// Verifies and measures the configurations that a result file gives for its GEMMs.
CommandResult check_gemms(TuneOptions options);

}  // namespace hone::cli
