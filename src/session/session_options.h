// Options of a command that tunes or measures.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "output/status_line.h"
#include "provider/triton/listed_gemms.h"
#include "session/places.h"
#include "session/runtime_options.h"
#include "session/toolchain.h"
#include "store/store.h"
#include "tune/dispatch/prepared_work.h"
#include "tune/services/options.h"

namespace hone::session {

// Budget, coverage and candidates that --effort stands for; the options of these names override
// each of them.
struct Effort {
  std::string_view name;
  std::string_view budget;           // of a program
  std::string_view dispatch_budget;  // of each listed dispatch
  std::string_view coverage;
  std::size_t candidates;  // most per dispatch; 0: any number
};
inline constexpr Effort kEfforts[] = {{"quick", "1m", "5s", "80%", 40},
                                      {"default", "10m", "20s", "95%", 0},
                                      {"full", "1h", "2m", "100%", 0}};

struct SessionOptions {
  ToolchainOptions toolchain;
  tune::Options tuning;
  std::string model;  // what tuning.input was made of (read_program); empty: it is as it was given
  std::string store = "hone.db";
  std::string effort = "default";  // Effort::name
  std::string budget;              // empty: of the effort
  std::string coverage;            // "95%"; empty: of the effort, or all with --top
  std::size_t top = 0;             // dispatches; 0: any number
  std::string reuse = "equal";
  bool trust = false;  // load code of the store that somebody else compiled
  std::string cache = "warm";
  std::int64_t rotating_bytes = 0;  // of cold operands at least; 0: twice the last-level cache
  RuntimeOptions runtime;
  CoreOptions cores;
  // Providers of kernels: for a program "iree" and others beside it ("triton", "external",
  // "library"), for GEMMs "triton". Empty: chosen by INPUT, all available ones.
  std::vector<std::string> providers;
  bool names_provider(std::string_view name) const {
    return std::ranges::find(providers, name) != providers.end();
  }
  std::vector<std::string> external;  // manifests of kernels of the user's own
  bool searches = false;  // candidates of dispatches: the program's flags and profile have none
  triton::GemmOptions gemms;
  std::string device;
  double kernel_seconds = 60;
  bool no_program = false;
  bool no_flags = false;
  bool no_baselines = false;
  bool compile_only = false;
  bool verify_emulated = false;  // what compile_only compiles, on an emulator of the target
  bool measure_only = false;
  std::optional<tune::MeasuredWork> measured = {};  // by another run, which this one finishes
  bool dry_run = false;
  bool json = false;
  bool quiet = false;
  bool verbose = false;  // notes, and the whole tables at the end
  bool plain = false;
  std::string command_line;
  std::string task;  // store::Run::task
};

// Sets what --effort, --budget, --coverage, --candidates and --top say for `dispatches` listed
// ones, or for a program without a number. Input errors: texts that are no duration or share.
Status take_effort(SessionOptions& options, std::optional<std::size_t> dispatches = {});

// Returns how a session of these options shows its progress.
output::StatusStyle status_style(const SessionOptions& options);

// Returns the store's row of the device, under which results are shared.
store::DeviceRow device_row(const tune::Options& options);

// Sets the number of compile processes if none was given, on a device that compiling does not
// disturb: one for each core beyond those of the runners.
void leave_cores_to_runners(SessionOptions& options);

// Applies --cache, --reuse and --trust.
void take_reuse(SessionOptions& options);

// Makes the folder of --out before anything else, since a store may lie in it. A folder that cannot
// be made is an environment error, reported at once.
Status make_out(const SessionOptions& options);

// Returns the run's row in the store.
store::Run run_row(const SessionOptions& options);

// hone's own version: "0.1.0".
std::string_view version();

}  // namespace hone::session
