// The Python that hone runs with IREE's wheels, part of the binary.
#pragma once

#include "base/file.h"

namespace hone::iree {

// The files of src/provider/iree/compiler/python: import_onnx.py, resident_programs.py.
std::span<const EmbeddedFile> python_sources();

}  // namespace hone::iree
