// The Provider seam: who makes artifacts, states their space, and runs whole programs the way users
// do. A Provider lives in the tuner's process and never calls a compiler itself: compiling is done
// by worker processes (tune/compile_service.h).
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/npy.h"
#include "provider/artifact.h"
#include "space/space.h"

namespace hone::provider {

// A configuration as the compiler reads it.
struct Attributes {
  std::string lowering_config;   // "#iree_cpu.lowering_config<distribution = [64, 64, 0], ...>"
  std::string translation_info;  // "#iree_codegen.translation_info<pipeline = ...>"
  // Lowering configurations of the operation that initialises the root's output and of those that
  // read its result, where the root's configuration needs theirs to fit; else empty.
  std::string init_config = {};
  std::string consumer_config = {};
  // Likewise of the other operations of the dispatch that have as many loops as the root: of those
  // that reduce, and of those that read what was reduced.
  std::string sibling_reduction_config = {};
  std::string sibling_config = {};
  // Of a root that is made of two products (attention): the configurations of its parts.
  std::string decomposition_config = {};
  // Where the compiler states its own constraints: which of its statements, and a value for each of
  // its knobs. The compiler makes the texts above of them; they are empty.
  int statement = -1;
  std::map<std::string, std::int64_t> knobs = {};
  // Knobs of hone's own, of what the compiler leaves out of its statement: they change what it made
  // of the others.
  std::map<std::string, std::int64_t> options = {};

  bool operator==(const Attributes&) const = default;
};

void to_json(nlohmann::json& json, const Attributes& attributes);
void from_json(const nlohmann::json& json, Attributes& attributes);

// What a spec says about one dispatch.
struct SpecEntry {
  std::string name;  // of the dispatch
  problem::Operation root;
  Attributes attributes;
};

// A whole program under the provider's own runtime.
struct ProgramCall {
  std::filesystem::path module;  // compiled
  std::string function;
  std::vector<std::filesystem::path> inputs;  // .npy files, one per argument
  std::vector<int> cores;                     // to run on, one thread each
  std::vector<std::string> runtime_flags;     // passed through
  // Where they are known: results of a type that NumPy lacks cannot be read back otherwise.
  std::vector<problem::TensorType> results = {};
  int stop_fd = -1;  // once it is readable the call ends with an error of kind kInterrupted
  std::optional<int> cuda = {};  // the GPU to run on instead of the cores, by the driver's number
};

// One artifact under the provider's own runtime.
struct ArtifactCall {
  const Artifact* artifact = nullptr;
  // One per binding: a .npy file with its content, or empty for a buffer that is only written.
  std::vector<std::filesystem::path> contents;
  std::vector<problem::TensorType> types;
  std::vector<int> cores;  // to run on, one thread each
  int stop_fd = -1;        // as ProgramCall's
};

class Provider {
 public:
  virtual ~Provider() = default;

  virtual std::string_view name() const = 0;

  // Whether the compiler itself states the space of a dispatch (Dispatch::stated_constraints); it
  // is asked before space_of() is.
  virtual bool compiler_states_spaces() const { return false; }
  // Why there is no space for a dispatch whose constraints were asked for; empty where there is.
  virtual std::string why_no_space(const problem::Dispatch& dispatch) const {
    return dispatch.not_tunable;
  }
  // The legal configurations of a dispatch. An input error that says why there are none to state.
  virtual Result<space::Space> space_of(const problem::Dispatch& dispatch) const = 0;

  // What the compiler is told for `configuration`, which is one of space_of(dispatch).
  virtual Result<Attributes> attributes(const problem::Dispatch& dispatch,
                                        const space::Space& space,
                                        const space::Configuration& configuration) const = 0;

  // The text of a spec that gives each entry's root operation its attributes. Entries that one
  // matcher cannot tell apart (same_spec_class) must be given once.
  virtual Result<std::string> spec(const std::vector<SpecEntry>& entries) const = 0;
  virtual bool same_spec_class(const problem::Operation& a, const problem::Operation& b) const = 0;
  // The compiler flag that applies the spec in `file`.
  virtual std::string spec_flag(const std::filesystem::path& file) const = 0;

  // The functions of a compiled module that can be called from outside; those with arguments that
  // are no tensors are left out. A failure with the provider's words when the file is no module.
  virtual Result<std::vector<problem::Function>> functions(
      const std::filesystem::path& module) const = 0;
  // The device code of kernel `entry` inside a compiled module: PTX on an NVIDIA GPU. Nothing where
  // the module has no such kernel or is not for a GPU.
  virtual std::optional<std::string> device_code(std::string_view module,
                                                 const std::string& entry) const = 0;
  // Calls the program once. The `results` arrays it returns.
  virtual Result<std::vector<problem::Array>> run_program(const ProgramCall& call,
                                                          std::size_t results) const = 0;
  // Seconds of one call, the mean over calls that together take about `seconds`.
  virtual Result<double> time_program(const ProgramCall& call, double seconds) const = 0;
  // Seconds of one launch of an artifact under the provider's own runtime, likewise.
  virtual Result<double> time_artifact(const ArtifactCall& call, double seconds) const = 0;
};

}  // namespace hone::provider
