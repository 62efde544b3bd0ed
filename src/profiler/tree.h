// Files of the dispatch profiler and their functions, in the old tool's layout:
//   DIR/generated/linalg/KIND/OPERATION/OPERATION.mlir and what is made of it beside it,
//   DIR/generated/reference_cache/OPERATION/*.npy.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profiler/operation.h"

namespace hone::profiler {

// Files of an operation below `generated_dir`, which is --generated-dir: the folder that holds
// `generated`.
class OperationFiles {
 public:
  OperationFiles(const std::filesystem::path& generated_dir, const NamedOperation& operation);

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path source() const;           // OPERATION.mlir
  std::filesystem::path verify_module() const;    // OPERATION_verify.vmfb
  std::filesystem::path profile_module() const;   // OPERATION_profile.vmfb
  std::filesystem::path compiler_output() const;  // iree_compile_cmd_stdout.mlir
  const std::filesystem::path& reference_folder() const { return reference_folder_; }

 private:
  std::string name_;
  std::filesystem::path folder_;
  std::filesystem::path reference_folder_;
};

// Operation and configuration. The name, OPERATION_CONFIGURATION, is the function's.
struct NamedDispatch {
  NamedOperation operation;
  std::string
      configuration;  // "tile_config_128x128_32x5_tensorcore_mmasync", "tile_config_default"

  std::string name() const { return operation.name() + "_" + configuration; }
  bool operator==(const NamedDispatch&) const = default;
};

// Prefix of every configuration's name.
inline constexpr std::string_view kConfigurationPrefix = "tile_config_";
inline constexpr std::string_view kDefaultConfiguration = "tile_config_default";

// Content of a tree.
struct Tree {
  std::vector<NamedOperation> operations;  // by kind, then by sizes, types and layouts
  // Folders below a kind's that belong to no operation, each with the reason: another program's, or
  // another version's.
  std::vector<std::string> strangers;
};

// Returns the operations that have a source file below `generated_dir`. An input error if there is
// no `generated_dir`/generated/linalg, and an environment error if it cannot be read.
Result<Tree> read_tree(const std::filesystem::path& generated_dir);

// Returns the dispatches of the operation, one for each function of its source file, in the file's
// order. Input errors: a file that cannot be read, one without functions, and one with a function
// that is not of this operation.
Result<std::vector<NamedDispatch>> dispatches_of(const std::filesystem::path& generated_dir,
                                                 const NamedOperation& operation);
// Reads them from a file's text; `where` names the file in messages.
Result<std::vector<NamedDispatch>> dispatches_in(std::string_view source,
                                                 const NamedOperation& operation,
                                                 std::string_view where);

// Returns the file's text without the functions that are not among `names`; text outside of
// functions stays. A function is from "func.func @NAME(" at the beginning of a line to the next
// line that is "}".
std::string only_functions(std::string_view source, const std::vector<std::string>& names);

// Returns the lowering configuration that the file gives the alias "#NAME"; empty if there is none.
std::string lowering_config_of(std::string_view source, std::string_view name);

// Joins several files into one: a compiler's frontend costs about the same for one function as for
// ten. Renames aliases of attributes ("#tile = ..."), which each file defines for itself.
std::string joined_sources(const std::vector<std::string>& sources);

}  // namespace hone::profiler
