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

// Looks, in this order, at: `given` (when not empty: a Python interpreter or a virtual
// environment); the environment variable HONE_TRITON (the same); what python_environments() lists
// (where hone itself is installed, `.venv`); `python3` on PATH. The first two must have Triton when
// they are set. Starts each interpreter, but imports nothing large. Environment errors:
// nothing found (says how to get it), a version outside of 3.5 to 3.9: what a kernel's launch looks
// like changes between versions, and hone launches kernels itself.
Result<Installation> find_installation(const std::string& given = {});

}  // namespace hone::triton
