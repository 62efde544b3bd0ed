// The Python that hone runs under IREE's runtime, part of the binary.
#pragma once

#include "base/embedded_file.h"

namespace hone::iree {

// The files of src/provider/iree/compiler/python: resident_programs.py.
std::span<const EmbeddedFile> python_sources();

}  // namespace hone::iree
