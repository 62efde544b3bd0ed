// Finds the Python in which Triton is installed.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace hone::triton {

struct Installation {
  std::filesystem::path python;  // an interpreter that can import it
  std::string version;           // "3.6.0"
};

// Looks for a Python with Triton, in this order: `given` (if not empty: an interpreter or a virtual
// environment); the environment variable HONE_TRITON (the same); python_environments() (where hone
// itself is installed, `.venv`); `python3` on PATH. The first two must have Triton if they are set.
// Starts each interpreter, but imports nothing large. Environment errors: nothing found (says how
// to get it), or a version outside of 3.5 to 3.9. A kernel's launch changes between versions, and
// hone launches kernels itself.
Result<Installation> find_installation(const std::string& given = {});

}  // namespace hone::triton
