// The Python that an installation of IREE's wheels is for.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/process.h"

namespace hone::iree {

// Runs Python with `arguments` so that it finds what lies in the site-packages folder `packages`:
// the interpreter of the environment that the folder is of (<prefix>/lib/python3.*/site-packages),
// or, where the folder is of none, `python3` of PATH with the folder on its path.
Command python_of(const std::filesystem::path& packages, std::vector<std::string> arguments);

// Runs a file of python_sources(), which is there, likewise.
Command python_of(const std::filesystem::path& packages, std::string_view file,
                  std::vector<std::string> arguments);

}  // namespace hone::iree
