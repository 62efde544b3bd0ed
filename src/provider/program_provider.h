// A Provider whose dispatches are pieces of whole programs. What its compiler and runtime do beside
// compiling candidates is grouped by use: specs, replaced kernels, compiled programs.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "provider/kernel_replacer.h"
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

class ProgramProvider : public Provider {
 public:
  virtual const SpecWriter& specs() const = 0;
  virtual const ProgramRuntime& runtime() const = 0;
  // Null if its programs cannot hold the kernels of others.
  virtual const KernelReplacer* replacer() const { return nullptr; }

  // Flags for a whole program and its target, ordered by how many programs they have helped, most
  // first. Flags that the user has set are skipped. `folder` is the place for FlagChoice::files,
  // which the caller writes.
  virtual std::vector<FlagChoice> flag_choices(const problem::Program&,
                                               const std::vector<std::string>&,
                                               const std::filesystem::path& /*folder*/) const {
    return {};
  }
  // Whether the compiler neither runs, reads nor writes what the value of the flag `name` ("--x" of
  // "--x=1") names. A stored flag that is harmless (a target, an optimisation level) may come from
  // anybody's store.
  virtual bool is_harmless_flag(std::string_view /*name*/) const { return false; }
  // The line that matters in the compiler's message about a whole program that it refused.
  virtual std::string reason_in(std::string_view message) const {
    return std::string(reason_of(message));
  }
  // Text of a script that repeats the proof; empty if this provider has none.
  virtual Result<std::string> proof_script(const ProofScript&) const { return ""; }
};

}  // namespace hone::provider
