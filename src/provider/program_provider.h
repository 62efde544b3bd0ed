// A Provider whose dispatches are pieces of whole programs. Its compiler takes flags and specs, and
// its runtime (program_runtime.h) runs the compiled programs.
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
#include "provider/program_runtime.h"
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

  // The device code of kernel `entry` inside a compiled module: PTX, or an AMD code object. Nothing
  // where the module has no such kernel or is not for a GPU.
  virtual std::optional<std::string> device_code(std::string_view module,
                                                 const std::string& entry) const = 0;
  // Runs what the compiler made, where the session's devices are.
  virtual const ProgramRuntime& runtime() const = 0;

 protected:
  explicit ProgramProvider(ProgramFacts facts = {}) : facts_(std::move(facts)) {}

 private:
  ProgramFacts facts_;
};

}  // namespace hone::provider
