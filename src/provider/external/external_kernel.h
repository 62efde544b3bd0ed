// A kernel that is there already, as PTX, as machine code (an AMD code object, a cubin) or as a
// source with the command that makes one of these, and the manifest (YAML) that says what it
// computes and how it is launched (docs/external-kernels.md).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/types.h"
#include "provider/kernel_manifest.h"

namespace hone::external {

struct ExternalKernel : provider::KernelManifest {
  // An operand as it must lie in memory: densely, the last dimension's elements side by side.
  struct Operand {
    std::string name;  // of operand_names(), or of one that is read behind the sums
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
  int object_line = 0;                   // where the one that is not empty is named
  std::vector<Text> build;               // words of a command; with a source
  std::vector<Text> arguments;           // the function's, in their order
  std::vector<Text> block;               // one to three
  std::optional<Text> shared_memory;     // dynamic, in bytes
  std::optional<Text> scratch;           // memory of the kernel's own, in bytes
  // What is computed behind the sums, in its order, in the compiler's words without dialects and
  // conversions: "addf", "maximumf". Nothing: what is read there is added.
  std::optional<std::vector<Text>> behind;
  std::vector<Text> zeroed;  // operands whose memory must be zero before a launch
  // Names what the kernel is: the manifest, and the file that it names.
  std::string content;
};

// What an argument is called that is the kernel's scratch memory.
inline constexpr std::string_view kScratch = "scratch";

// What is multiplied, and the result.
struct OperandNames {
  std::string_view lhs, rhs, result;
};
// A, B and C of a matmul; of a convolution, where C is the number of channels, image, filter and
// output.
OperandNames operand_names(bool convolution);

// Names of dimensions that layouts may have.
const std::vector<std::string>& dimensions_of(bool convolution);

// Reads the manifest at `path`. Input errors begin with its path and a line: what ManifestReader
// finds, a file that is not there, an operand without a type or with an unknown dimension, an
// argument that is neither an operand, the scratch memory nor an expression.
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
