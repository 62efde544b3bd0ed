// A Provider whose dispatches are pieces of whole programs. Its compiler takes flags and specs, and
// its own runtime runs the compiled programs.
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "device/place.h"
#include "problem/dispatch.h"
#include "problem/npy.h"
#include "provider/artifact.h"
#include "provider/provider.h"
#include "provider/spec_writer.h"

namespace hone::provider {

// How much of a program a tuning spec reaches under a set of compiler flags.
enum class SpecReach {
  kAll,      // its operations as they are
  kBlocks,   // the same, with weights laid out for products that a spec configures
  kTiles,    // products as products of tiles, with packing and unpacking beside them
  kNothing,  // products are laid out anew after configurations were read
};

// Change that a choice of flags makes in the dispatches that a program is split into. These tell of
// it before anything is compiled.
enum class DispatchChange {
  kNone,     // or not enough to judge it by
  kFusion,   // which operations become one dispatch
  kRegions,  // likewise, by a spec made for the program (problem::Regions)
  kLayouts,  // how operands lie in memory
};

// A file that flags name.
struct FlagFile {
  std::filesystem::path path;
  std::string text;
};

// Compiler flags for a whole program that are chosen together.
struct FlagChoice {
  std::string name;   // "data tiling"
  std::string group;  // at most one of a group is chosen: "data tiling", "convolutions"
  std::vector<std::string> flags;
  std::string reason;        // what it does, and when that helps
  std::string why_not = {};  // it can do nothing for the program at hand; empty where it may
  // Part of the program that is tuned under these flags; kNothing: the flags compete with tuning.
  SpecReach reach = SpecReach::kAll;
  DispatchChange changes = DispatchChange::kNone;
  std::vector<FlagFile> files = {};  // which have to be there wherever the flags are given
};

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
// Results of one call; what ProgramProvider::run returns.
using ProgramCaller = std::function<Result<std::vector<problem::Array>>(const ProgramCall& call,
                                                                        std::size_t results)>;
// Kernel times over calls that together take about `seconds`, after one warm-up call. With
// `seconds` 0 it times a single call without warm-up. No kernels if the runtime names none. Fails
// with the tool's words if the program does not run.
using KernelTimer = std::function<Result<ProgramTimes>(const ProgramCall& call, double seconds)>;

// Timers of programs on one device. They must not outlive the provider, and one thread at a time
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

// Inputs of a script that repeats a proof without hone.
struct ProofScript {
  std::filesystem::path folder;   // that the other paths begin at, from the script's own
  std::filesystem::path program;  // as the compiler takes it
  std::vector<std::string> environment = {};  // "NAME=VALUE", for all that the script runs
  std::vector<std::string> default_flags;     // of the compiler, the user's own
  std::filesystem::path flags_file;           // a response file of those that were found
  ProgramCall call;  // without a module; all that it returns is in `results`
  // Largest absolute difference from the default's elements, by result. The tool's own tolerance
  // applies where it is larger.
  std::vector<double> tolerances = {};
  bool default_is_wrong = false;  // what was found repairs it: that they differ is no error
};

// Facts about a provider's compiler and tools, the same for all programs.
struct ProgramFacts {
  // Flags ("--x" of "--x=1") whose value names nothing that the compiler runs, reads or writes: a
  // target, an optimisation level.
  std::vector<std::string> harmless_flags = {};
  // Returns the line that matters in the compiler's message about a whole program that it refused.
  std::string (*reason_in)(std::string_view message) = [](std::string_view message) {
    return std::string(reason_of(message));
  };
  // Returns the text of a script that repeats a proof. Null if this provider has none.
  Result<std::string> (*proof_script)(const ProofScript&) = nullptr;
};

class ProgramProvider : public Provider {
 public:
  const ProgramFacts& facts() const { return facts_; }
  // Whether a stored flag may come from anybody's store.
  bool is_harmless_flag(std::string_view name) const {
    return std::ranges::count(facts_.harmless_flags, name) > 0;
  }
  virtual const SpecWriter& specs() const = 0;
  // Flags for a whole program and its target, ordered by how many programs they have helped, most
  // first. Flags that the user has set are skipped. `folder` is the place for FlagChoice::files,
  // which the caller writes.
  virtual std::vector<FlagChoice> flag_choices(const problem::Program&,
                                               const std::vector<std::string>&,
                                               const std::filesystem::path& /*folder*/) const {
    return {};
  }

  // Fails with the provider's words if the file is no compiled module.
  virtual Result<ModuleFunctions> functions(const std::filesystem::path& module) const = 0;
  // The device code of kernel `entry` inside a compiled module: PTX on an NVIDIA GPU. Nothing where
  // the module has no such kernel or is not for a GPU.
  virtual std::optional<std::string> device_code(std::string_view module,
                                                 const std::string& entry) const = 0;
  // Calls the program once. The `results` arrays it returns.
  virtual Result<std::vector<problem::Array>> run(const ProgramCall& call,
                                                  std::size_t results) const = 0;
  virtual ProgramTimers timers(const device::Address& device) const = 0;
  // Seconds of one launch of an artifact, the mean over launches that together take about
  // `seconds`.
  virtual Result<double> time_artifact(const ArtifactCall& call, double seconds) const = 0;

 protected:
  explicit ProgramProvider(ProgramFacts facts = {}) : facts_(std::move(facts)) {}

 private:
  ProgramFacts facts_;
};

}  // namespace hone::provider
