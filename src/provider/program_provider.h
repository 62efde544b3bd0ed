// A Provider whose dispatches are pieces of whole programs: it writes the specs that make its
// compiler use what was found, and runs programs the way users do.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/common_reason.h"
#include "device/place.h"
#include "problem/npy.h"
#include "provider/artifact.h"
#include "provider/provider.h"

namespace hone::provider {

// Spec entry for one dispatch.
struct SpecEntry {
  std::string name;  // of the dispatch
  problem::Operation root;
  Payload payload;
  std::vector<problem::SurroundingOperation> surrounding = {};  // of the dispatch
  // Dispatches, by name, that it is for, where what a matcher sees is not enough; empty: all.
  std::vector<std::string> only = {};
};

// How much of a program a tuning spec reaches under a set of compiler flags.
enum class SpecReach {
  kAll,      // its operations as they are
  kBlocks,   // the same, with weights laid out for products that a spec configures
  kTiles,    // products as products of tiles, with packing and unpacking beside them
  kNothing,  // products are laid out anew after configurations were read
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
  std::vector<FlagFile> files = {};  // which have to be there wherever the flags are given
};

// A file that makes the compiler use another provider's kernel instead of generating its own.
struct ReplacedExecutable {
  std::string executable;  // the symbol of the dispatch's (problem::Dispatch::executable)
  std::string text;        // of the file, which must be called `executable` + ".mlir"

  bool operator==(const ReplacedExecutable&) const = default;
};

// Content of a file that ProgramProvider::replaced() has written.
struct ReplacingKernel {
  std::string dispatch;  // whose kernel's place it takes
  std::string launch;  // which bindings and constants it is launched with, as the compiler says it
  std::string code;
};

// Part of a dispatch's configuration in the compiler's IR.
struct NamedText {
  std::string name;  // as the IR has it; in documents a key
  std::string text;
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

// Seconds of one call, the mean over calls that together take about `seconds`.
using ProgramTimer = std::function<Result<double>(const ProgramCall& call, double seconds)>;

class ProgramProvider : public Provider {
 public:
  // The text of a spec that gives each entry's root operation its configuration. Entries that one
  // matcher cannot tell apart (same_spec_class) must be given once.
  virtual Result<std::string> spec(const std::vector<SpecEntry>& entries) const = 0;
  virtual bool same_spec_class(const problem::Operation& a, const problem::Operation& b) const = 0;
  // Why no spec can have an entry for the dispatch, however it is configured; empty where one can.
  virtual std::string why_no_entry(const problem::Dispatch&) const { return {}; }
  // Whether a spec says the same for both, whatever else they hold.
  virtual bool same_in_spec(const Payload& a, const Payload& b) const { return a == b; }
  // Returns `payload` in the words that the compiler used when it made `artifact` of it, if a spec
  // needs those.
  virtual Result<Payload> as_compiled(const Payload& payload, const Artifact&) const {
    return payload;
  }
  // Returns the configuration of a dispatch as parts of the IR, always in the same order. Parts
  // that every configuration has are present even if empty. A part from the compiler
  // (jobs::kConfigured) is as it prints it; any other is as CompileService::canonical() makes it.
  // Fails for a payload of another provider.
  virtual Result<std::vector<NamedText>> texts_in_ir(const Payload& configured) const = 0;
  // The compiler's default configuration of a dispatch, as far as the dispatch states it.
  virtual Payload default_of(const problem::Dispatch& dispatch) const = 0;
  // The compiler flag that applies the spec in `file`.
  virtual std::string spec_flag(const std::filesystem::path& file) const = 0;
  // Returns the spec that `flags` name, if any, and removes the flags that name it.
  virtual std::optional<std::filesystem::path> take_spec(std::vector<std::string>&) const {
    return std::nullopt;
  }
  // `flags` and all that a compiler outside of hone needs to compile a whole program with the spec.
  virtual std::vector<std::string> with_spec(std::vector<std::string> flags,
                                             const std::filesystem::path& file) const = 0;
  // Whether the compiler neither runs, reads nor writes what the value of the flag `name` ("--x" of
  // "--x=1") names. A stored flag that is harmless (a target, an optimisation level) may come from
  // anybody's store.
  virtual bool is_harmless_flag(std::string_view /*name*/) const { return false; }

  // Replaces the dispatch's own kernel by `code`, which has the form and the launch convention of
  // this provider's kernels. Fails if its programs cannot hold such a kernel.
  virtual Result<ReplacedExecutable> replaced(const problem::Dispatch& dispatch, const std::string&,
                                              const problem::Launch&) const {
    return failure("{} has no way to put a kernel in the place of '{}'", name(), dispatch.name);
  }
  // Reads a file that replaced() has written. Returns an input error for any other file.
  virtual Result<ReplacingKernel> read_replaced(const std::string&) const {
    return input_error("{} has no kernels of others", name());
  }
  // Launch of the dispatch in the form of ReplacingKernel::launch; empty if the dispatch does not
  // state it.
  virtual std::string launch_of(const problem::Dispatch&) const { return {}; }
  // Adds flags that make the compiler use the files of `folder`.
  virtual std::vector<std::string> with_replaced(std::vector<std::string> flags,
                                                 const std::filesystem::path&) const {
    return flags;
  }

  // Flags for a whole program and its target, ordered by how many programs they have helped, most
  // first. Flags that the user has set are skipped. `folder` is the place for FlagChoice::files,
  // which the caller writes.
  virtual std::vector<FlagChoice> flag_choices(const problem::Program&,
                                               const std::vector<std::string>&,
                                               const std::filesystem::path& /*folder*/) const {
    return {};
  }

  // The exported functions of a compiled module, without those that have arguments other than
  // tensors. Fails with the provider's words if the file is no module.
  virtual Result<std::vector<problem::Function>> functions(
      const std::filesystem::path& module) const = 0;
  // Functions of a compiled module that take and return only buffers and do not state their types.
  virtual Result<std::vector<UntypedFunction>> untyped_functions(
      const std::filesystem::path&) const {
    return std::vector<UntypedFunction>();
  }
  // The device code of kernel `entry` inside a compiled module: PTX on an NVIDIA GPU. Nothing where
  // the module has no such kernel or is not for a GPU.
  virtual std::optional<std::string> device_code(std::string_view module,
                                                 const std::string& entry) const = 0;
  // Calls the program once. The `results` arrays it returns.
  virtual Result<std::vector<problem::Array>> run_program(const ProgramCall& call,
                                                          std::size_t results) const = 0;
  // Seconds of one call, the mean over calls that together take about `seconds`.
  virtual Result<double> time_program(const ProgramCall& call, double seconds) const = 0;
  // Times programs as time_program() does, one after the other. What they have in common (the
  // device, files of weights) may stay loaded from one to the next until the timer is destroyed;
  // it must not outlive the provider, and one thread at a time may use it.
  virtual ProgramTimer program_timer() const {
    return [this](const ProgramCall& call, double seconds) { return time_program(call, seconds); };
  }
  // Whether the runtime can time each kernel while a program runs on such a device.
  virtual bool tells_kernel_times(const device::Address&) const { return false; }
  // Kernel times over calls that together take about `seconds`, after one warm-up call. With
  // `seconds` 0 it times a single call without warm-up. No kernels if the runtime names none. Fails
  // with the tool's words if the program does not run.
  virtual Result<ProgramTimes> kernel_times(const ProgramCall&, double /*seconds*/) const {
    return failure("{}'s runtime says nothing of single kernels", name());
  }
  // The line that matters in the compiler's message about a whole program that it refused.
  virtual std::string reason_in(std::string_view message) const {
    return std::string(reason_of(message));
  }
  // Text of a script that repeats the proof; empty if this provider has none.
  virtual Result<std::string> proof_script(const ProofScript&) const { return ""; }
  // Seconds of one launch of an artifact under the provider's own runtime, likewise.
  virtual Result<double> time_artifact(const ArtifactCall& call, double seconds) const = 0;
};

}  // namespace hone::provider
