// Compiled programs under the provider's own runtime: their content, their outputs and their times.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/place.h"
#include "problem/dispatch.h"
#include "problem/npy.h"
#include "provider/artifact.h"

namespace hone::provider {

// A whole program under the provider's own runtime.
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

// Launches of one artifact under the provider's own runtime.
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
};

// A kernel's launches while a program ran, as the runtime itself counts and times them.
struct KernelTime {
  std::string name;  // of its dispatch
  std::size_t launches = 0;
  double seconds = 0;  // of all of them
};

// Calls of a program while the runtime counts and times its kernels.
struct ProgramTimes {
  double seconds = 0;  // of one call, the mean
  std::vector<KernelTime> kernels;
};

// The exported functions of a compiled module, without those that have arguments other than
// tensors.
struct ModuleFunctions {
  std::vector<problem::Function> typed;
  std::vector<UntypedFunction> untyped = {};
};

// Seconds of one call, the mean over calls that together take about `seconds`.
using ProgramTimer = std::function<Result<double>(const ProgramCall& call, double seconds)>;
// Kernel times over calls that together take about `seconds`, after one warm-up call. With
// `seconds` 0 it times a single call without warm-up. No kernels if the runtime names none. Fails
// with the tool's words if the program does not run.
using KernelTimer = std::function<Result<ProgramTimes>(const ProgramCall& call, double seconds)>;

class ProgramRuntime {
 public:
  virtual ~ProgramRuntime() = default;

  // Fails with the provider's words if the file is no compiled module.
  virtual Result<ModuleFunctions> functions(const std::filesystem::path& module) const = 0;
  // The device code of kernel `entry` inside a compiled module: PTX on an NVIDIA GPU. Nothing where
  // the module has no such kernel or is not for a GPU.
  virtual std::optional<std::string> device_code(std::string_view module,
                                                 const std::string& entry) const = 0;
  // Calls the program once. The `results` arrays it returns.
  virtual Result<std::vector<problem::Array>> run(const ProgramCall& call,
                                                  std::size_t results) const = 0;
  // Times programs, one after the other. What they have in common (the device, files of weights)
  // may stay loaded from one to the next until the timer is destroyed. It must not outlive the
  // runtime, and one thread at a time may use it.
  virtual ProgramTimer timer() const = 0;
  // Empty where the runtime cannot time each kernel while a program runs on such a device.
  virtual KernelTimer kernel_timer(const device::Address&) const { return {}; }
  // Seconds of one launch of an artifact, the mean over launches that together take about
  // `seconds`.
  virtual Result<double> time_artifact(const ArtifactCall& call, double seconds) const = 0;
};

}  // namespace hone::provider
