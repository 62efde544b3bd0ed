// Looks for Python packages beside hone itself if the user does not say where they are.
#pragma once

#include <filesystem>
#include <vector>

namespace hone {

// Prefixes of Python installations and virtual environments (the folders that hold bin and lib), in
// the order of the search. First comes the prefix whose bin folder holds `executable`, where pip
// puts hone. Then comes `.venv` in each of the folders above `executable`, nearest first, as for a
// build of hone in its source tree. Last is `.venv` in `working_folder`. Their existence is not
// checked. Both paths are absolute, and `executable` is no link.
std::vector<std::filesystem::path> python_environments(const std::filesystem::path& executable,
                                                       const std::filesystem::path& working_folder);

// Returns those beside this program's own file and in the folder it works in.
std::vector<std::filesystem::path> python_environments();

}  // namespace hone
