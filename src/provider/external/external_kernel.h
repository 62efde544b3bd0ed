// A kernel that is there already, as PTX or as a source with the command that makes PTX of it, and
// the manifest (YAML) that says what it computes and how it is launched (docs/external-kernels.md).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "problem/types.h"
#include "provider/kernel_manifest.h"

namespace hone::external {

struct ExternalKernel : provider::KernelManifest {
  // An operand as it must lie in memory: densely, the last dimension's elements side by side.
  struct Operand {
    std::string name;  // A, B, C, or one that is read behind the sums
    problem::ElementType type = problem::ElementType::kF16;
    std::vector<std::string> layout;  // names of dimensions, the outermost first
    int line = 0;
  };

  // What users and the store call it: the manifest's file without its ending. One source may have
  // several manifests.
  std::string name() const { return std::filesystem::path(manifest).stem().string(); }

  bool convolution = false;  // else a matmul
  std::vector<Operand> operands;
  std::filesystem::path object, source;  // one is empty; from the manifest's folder where relative
  std::vector<Text> build;               // words of a command; with a source
  std::vector<Text> arguments;           // the function's, in their order
  std::vector<Text> block;               // one to three
  std::optional<Text> shared_memory;     // dynamic, in bytes
  // Names what the kernel is: the manifest, and the file that it names.
  std::string content;
};

// Names of dimensions that layouts may have.
const std::vector<std::string>& dimensions_of(bool convolution);

// Reads the manifest at `path`. Input errors begin with its path and a line: what ManifestReader
// finds, a file that is not there, an operand without a type or with an unknown dimension, an
// argument that is neither an operand nor an expression.
Result<ExternalKernel> read_external_kernel(const std::string& path);

// Names that the manifest's expressions may use besides knobs, with the values 1: of a matmul M, N,
// K, batch, of a convolution the dimensions of its layouts and HO, WO, stride_h, stride_w,
// dilation_h, dilation_w; of the device shared_bytes.
space::Names names_in_manifest(bool convolution);

// `text` with {NAME} replaced by what `value_of` gives. A failure for a name that it does not know.
Result<std::string> filled_in(
    const std::string& text,
    const std::function<std::optional<std::string>(const std::string&)>& value_of);

}  // namespace hone::external
