// What hone tune is asked for, as its command line says it.
#pragma once

#include "cli/command.h"
#include "cli/model_tuner_options.h"
#include "cli/tune_gemm_options.h"
#include "session/session_options.h"

namespace hone::cli {

struct TuneOptions : SessionOptions {
  TuneGemmOptions tune_gemm;
  ModelTunerOptions model_tuner;
};

// The program of `options.tuning.input`, by IREE.
CommandResult tune_program(TuneOptions options);
// GEMMs, by Triton.
CommandResult tune_gemms(TuneOptions options);
// Verifies and measures the configurations that a result file gives for its GEMMs.
CommandResult check_gemms(TuneOptions options);

}  // namespace hone::cli
