// ONNX models as programs for IREE's compiler, by the importer of its wheel.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/library.h"

namespace hone::iree {

// The names that a model gives to sizes which it leaves open until run time, each with the extents
// that have it: "batch" of "input0.0" and "input1.0".
using SizeNames = std::map<std::string, std::vector<std::string>>;

// Converts the names to a comment line for the beginning of a program's text, and reads them from
// such a text. Empty for a program without that line.
std::string comment_of(const SizeNames& names);
SizeNames size_names_in(std::string_view program);

// The opset that the importer supports. Models of an older opset are converted to it, unless they
// have 2 GiB or more with their weights.
inline constexpr int kOnnxOpset = 17;

// The scope of the parameters that hold weights.
inline constexpr char kOnnxScope[] = "model";

// Runs iree-import-onnx and writes its output to `program` (MLIR text in PyTorch's dialect). The
// importer is a process with limits on time and memory that follow from `bytes_with_weights`, the
// size of the model and its weight files. Weights become constants of the program. If `parameters`
// names a file (.irpa), they become parameters of scope kOnnxScope in that file, and the compiler
// neither reads nor writes them. `stop_fd`: as in run_process. Returns the names that the model
// gives to sizes of its inputs. Input error with the importer's own words for a model that it does
// not accept; environment error if the importer, Python or its package onnx is missing.
Result<SizeNames> import_onnx(const Installation& installation, const std::filesystem::path& model,
                              const std::filesystem::path& program,
                              const std::filesystem::path& parameters,
                              std::uintmax_t bytes_with_weights, int stop_fd = -1);

// Reduces the output of a failed Python program to the error: drops the traceback's frames, and all
// but the beginning of a long error.
std::string error_in_traceback(const std::string& text);

}  // namespace hone::iree
