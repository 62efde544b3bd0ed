// The Python sources that compile workers run: hone's kernels and the worker itself.
#pragma once

#include "base/file.h"

namespace hone::triton {

// The files of src/provider/triton/kernels and src/provider/triton/python; the worker's is
// "compile_worker.py".
std::span<const EmbeddedFile> sources();

}  // namespace hone::triton
