// What hone tune is asked for, as its command line says it.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/core_options.h"
#include "cli/gemm_options.h"
#include "cli/model_tuner_options.h"
#include "cli/runtime_options.h"
#include "cli/toolchain.h"
#include "cli/tune_gemm_options.h"
#include "store/store.h"
#include "tune/services/options.h"

namespace hone::cli {

struct TuneOptions {
  ToolchainOptions toolchain;
  tune::Options tuning;
  std::string model;  // what tuning.input was made of (read_program); empty: it is as it was given
  std::string store = "hone.db";
  std::string budget;    // empty: 10m for a program, 20s for each GEMM
  std::string coverage;  // "95%"; empty: 95 %, or all with --top
  std::size_t top = 0;   // dispatches; 0: any number
  std::string reuse = "equal";
  bool trust = false;  // load code of the store that somebody else compiled
  std::string cache = "warm";
  std::int64_t rotating_bytes = 0;  // of cold operands at least; 0: twice the last-level cache
  RuntimeOptions runtime;
  CoreOptions cores;
  // Whose kernels: of a program "iree" and others beside it ("triton", "external", "library"), of
  // GEMMs "triton". Empty: by INPUT, and all that there are.
  std::vector<std::string> providers;
  bool names_provider(std::string_view name) const {
    return std::ranges::find(providers, name) != providers.end();
  }
  std::vector<std::string> external;  // manifests of kernels of the user's own
  bool searches = false;  // candidates of dispatches: the program's flags and profile have none
  GemmOptions gemms;
  TuneGemmOptions tune_gemm;
  ModelTunerOptions model_tuner;
  std::string device;
  double kernel_seconds = 60;
  bool no_program = false;
  bool no_flags = false;
  bool no_baselines = false;
  bool compile_only = false;
  bool json = false;
  bool quiet = false;
  bool plain = false;
  std::string command_line;
  std::string task;  // store::Run::task
};

// "90", "90s", "10m", "2h" in seconds; an input error for anything else.
Result<double> parse_duration(const std::string& text);

// "95", "95%" or "95 %" as 0.95; an input error for what is not above 0 and at most 100.
Result<double> parse_coverage(const std::string& text);

// The row in the store of what is measured on, by which results are shared.
store::Device device_row(const tune::Options& options);

// Sets the number of compile processes when none was given: one on each core but those of the
// runners, for a device beside which compiling does not disturb.
void leave_cores_to_runners(TuneOptions& options);

// Makes the folder of --out. First of all, so that a store inside it can be made and a folder that
// cannot is said at once: an environment error.
Status make_out(const TuneOptions& options);

// The run's row in the store.
store::Run run_row(const TuneOptions& options);

// The program of `options.tuning.input`, by IREE.
CommandResult tune_program(TuneOptions options);
// GEMMs, by Triton.
CommandResult tune_gemms(TuneOptions options);
// Verifies and measures the configurations that a result file gives for its GEMMs.
CommandResult check_gemms(TuneOptions options);

}  // namespace hone::cli
