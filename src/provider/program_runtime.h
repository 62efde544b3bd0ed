// The runtime seam: runs and times compiled whole programs, on this machine or another one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "device/place.h"
#include "problem/dispatch.h"
#include "problem/npy.h"
#include "provider/artifact.h"

namespace hone::provider {

// A call of a compiled program.
struct ProgramCall {
  std::filesystem::path module;  // compiled
  // Called by its name. If its results are not known, those of a type that NumPy lacks cannot be
  // read back. A function that keeps state is timed in the first call of a module.
  problem::Function function;
  std::vector<std::filesystem::path> inputs;  // .npy files, one per argument
  device::Address device;                     // to run on
  std::vector<std::string> runtime_flags;     // passed through
  int stop_fd = -1;  // once it is readable the call ends with an error of kind kInterrupted
  // Time limit of a call, or of calls that are timed together. A program that takes longer for one
  // call cannot be tuned interactively.
  double most_seconds = 600;
};

// Launches of one artifact under the runtime.
struct ArtifactCall {
  const Artifact* artifact = nullptr;
  // Content by binding: a .npy file, or an empty path for a buffer that is only written.
  std::vector<std::filesystem::path> contents;
  std::vector<problem::TensorType> types;
  device::Address device;  // to run on
  int stop_fd = -1;        // as ProgramCall's
  int launches =
      64;  // one after the other in what is timed as one, so that submitting counts little
};

// A function of a compiled module that does not state its argument types, as in programs from
// PyTorch and ONNX.
struct UntypedFunction {
  std::string name;
  std::size_t inputs = 0, outputs = 0;

  bool operator==(const UntypedFunction&) const = default;

  static void fields(auto& function, auto&& field) {
    field("name", function.name);
    field("inputs", function.inputs);
    field("outputs", function.outputs);
  }
};

// A kernel's launches while a program ran, as the runtime itself counts and times them.
struct KernelTime {
  std::string name;  // of its dispatch
  std::size_t launches = 0;
  double seconds = 0;  // of all of them

  static void fields(auto& kernel, auto&& field) {
    field("name", kernel.name);
    field("launches", kernel.launches);
    field("seconds", kernel.seconds);
  }
};

// Calls of a program while the runtime counts and times its kernels.
struct ProgramTimes {
  double seconds = 0;  // of one call, the mean
  std::vector<KernelTime> kernels;

  static void fields(auto& times, auto&& field) {
    field("seconds", times.seconds);
    field("kernels", times.kernels);
  }
};

// The exported functions of a compiled module, without those that have arguments other than
// tensors.
struct ModuleFunctions {
  std::vector<problem::Function> typed;
  std::vector<UntypedFunction> untyped = {};

  static void fields(auto& functions, auto&& field) {
    field("typed", functions.typed);
    field("untyped", functions.untyped);
  }
};

// Seconds of one call, the mean over calls that together take about `seconds`.
using ProgramTimer = std::function<Result<double>(const ProgramCall& call, double seconds)>;
// Results of one call; what ProgramRuntime::run returns.
using ProgramCaller = std::function<Result<std::vector<problem::Array>>(const ProgramCall& call,
                                                                        std::size_t results)>;
// Kernel times over calls that together take about `seconds`, after one warm-up call. With
// `seconds` 0 it times a single call without warm-up. No kernels if the runtime names none. Fails
// with the tool's words if the program does not run.
using KernelTimer = std::function<Result<ProgramTimes>(const ProgramCall& call, double seconds)>;

// Timers of programs on one device. They must not outlive the runtime, and one thread at a time
// may use each.
struct ProgramTimers {
  // Times programs, one after the other. What they have in common (the device, files of weights)
  // may stay loaded from one to the next until the timer is destroyed.
  ProgramTimer programs;
  // Calls programs likewise, where that saves the seconds that the device takes to open; else
  // empty. A program may find in its memory what the one before has computed.
  ProgramCaller calls = {};
  // Empty where the runtime cannot time each kernel while a program runs on such a device.
  KernelTimer kernels = {};
  // Whether a process keeps to one of several times that a call of less than a millisecond may
  // take.
  bool short_calls_vary = false;
};

// Files that a call names lie on this machine. Errors: those of the runtime, in its words; an
// environment error where it is not installed.
class ProgramRuntime {
 public:
  virtual ~ProgramRuntime() = default;

  // Fails with the runtime's words if the file is no compiled module.
  virtual Result<ModuleFunctions> functions(const std::filesystem::path& module) const = 0;
  // Calls the program once. The `results` arrays it returns.
  virtual Result<std::vector<problem::Array>> run(const ProgramCall& call,
                                                  std::size_t results) const = 0;
  virtual ProgramTimers timers(const device::Address& device) const = 0;
  // Seconds of one launch of an artifact, the mean over launches that together take about
  // `seconds`.
  virtual Result<double> time_artifact(const ArtifactCall& call, double seconds) const = 0;
};

}  // namespace hone::provider
