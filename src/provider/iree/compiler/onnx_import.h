// ONNX models as programs for IREE's compiler, by the importer of its wheel.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "provider/iree/compiler/library.h"
#include "provider/iree/compiler/size_names.h"

namespace hone::iree {

// The importer has the operations of this opset. Models of an older one are raised to it, unless
// they have 2 GiB or more with their weights.
inline constexpr int kOnnxOpset = 17;

// The scope of the parameters that weights become.
inline constexpr char kOnnxScope[] = "model";

// Writes what iree-import-onnx makes of the model to `program` (MLIR text in PyTorch's dialect), in
// a process whose time and memory are limited by `bytes_with_weights`: of the model and of the
// files that its weights lie in. Weights are constants of the program, or where `parameters` names
// a file (.irpa) parameters of scope kOnnxScope in that one: the compiler then neither reads nor
// writes them. `stop_fd`: as run_process has it. Returns the names that the model
// gives to sizes of its inputs. Input error with the importer's own words for a
// model that it does not take; environment error where the importer, Python or its package onnx is
// missing.
Result<SizeNames> import_onnx(const Installation& installation, const std::filesystem::path& model,
                              const std::filesystem::path& program,
                              const std::filesystem::path& parameters,
                              std::uintmax_t bytes_with_weights, int stop_fd = -1);

// Cuts what a Python program prints when it fails down to the error: the traceback's frames are
// left out, and of a long error all but its beginning.
std::string error_in_traceback(const std::string& text);

}  // namespace hone::iree
