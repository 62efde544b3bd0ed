// ONNX models as programs for IREE's compiler, by the importer of its wheel.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "provider/iree/compiler/library.h"

namespace hone::iree {

// The importer has the operations of this opset; models of an older one are raised to it.
inline constexpr int kOnnxOpset = 17;

// The scope of the parameters that weights become.
inline constexpr char kOnnxScope[] = "model";

// Writes what iree-import-onnx makes of the model to `program` (MLIR text in PyTorch's dialect), in
// a process whose time and memory are limited by the model's size. Weights are constants of the
// program, or where `parameters` names a file (.irpa) parameters of scope kOnnxScope in that one:
// the compiler then neither reads nor writes them. `stop_fd`: as run_process has it. Input error
// with the importer's own words for a model that it does not take; environment error where the
// importer, Python or its package onnx is missing.
Status import_onnx(const Installation& installation, const std::filesystem::path& model,
                   const std::filesystem::path& program,
                   const std::filesystem::path& parameters = {}, int stop_fd = -1);

// Cuts what a Python program prints when it fails down to the error: the traceback's frames are
// left out, and of a long error all but its beginning.
std::string error_in_traceback(const std::string& text);

}  // namespace hone::iree
