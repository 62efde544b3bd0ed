// Folders that --out has written (hone tune, hone flags, hone spec external): their flags, spec and
// kernels, read and joined with others.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone::session {

// Contents of files, by file name.
using NamedFiles = std::map<std::string, std::string>;

struct OutFolder {
  std::string name;                // the folder, as given
  std::string target;              // as --target takes it; empty: the flags do not say
  std::vector<std::string> flags;  // without those for the target, the files below and the spec
  std::string spec_path;           // of the tuning spec; empty: there is none
  std::string spec;                // its content
  NamedFiles kernels;              // that replace the compiler's own
  NamedFiles transform_spec;       // that runs before dispatches are formed; at most one
  NamedFiles objects;              // that the transform spec names
};

// Reads a folder. A file that compile_flags.txt names is looked for in the folder first: the folder
// may have moved. Input errors: no compile_flags.txt, or a file that it names is missing.
Result<OutFolder> read_out_folder(const std::filesystem::path& folder);

// Joins folders, in order, without their tuning specs. Input errors name both folders: another
// target, a flag with another value, a kernel, object or transform spec with other content. Of
// transform specs there can be one.
Result<OutFolder> joined_folders(const std::vector<OutFolder>& folders);

// Flags that some of the folders have and others do not, each with the folder: "--flag (out_a)".
std::vector<std::string> flags_of_some(const std::vector<OutFolder>& folders);

// Writes the files of a joined folder into `folder`, all but compile_flags.txt. `spec` is the
// tuning spec's text.
Status write_files(const OutFolder& joined, const std::string& spec,
                   const std::filesystem::path& folder);

// Flags that name the files of a joined folder in `folder`, but for spec and kernels.
std::vector<std::string> transform_flags(const OutFolder& joined,
                                         const std::filesystem::path& folder);

inline constexpr char kSpecName[] = "tuning_spec.mlir";
inline constexpr char kFlagsName[] = "compile_flags.txt";
inline constexpr char kKernelsName[] = "kernels";

}  // namespace hone::session
