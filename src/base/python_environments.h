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

// The folders of Python packages (site-packages, dist-packages) that exist in
// python_environments(), in $VIRTUAL_ENV and in the environment of the python3 on PATH, in this
// order. Of a link in PATH the target's environment counts too.
std::vector<std::filesystem::path> python_packages();

// The folders on PATH that exist, or on another variable of that form.
std::vector<std::filesystem::path> path_folders(const char* variable = "PATH");

}  // namespace hone
