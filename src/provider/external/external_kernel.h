// An existing kernel: PTX, machine code (an AMD code object, a cubin), or a source with its build
// command. Its manifest (YAML) says what it computes and how it is launched
// (docs/external-kernels.md).
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
  // An operand and its memory layout, which is dense; the last dimension is contiguous.
  struct Operand {
    std::string name;  // of operand_names(), or of one that is read behind the sums
    problem::ElementType type = problem::ElementType::kF16;
    std::vector<std::string> layout;  // names of dimensions, the outermost first
    int line = 0;
  };

  // Name for users and the store: the manifest's file name without its extension. One source may
  // have several manifests.
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
  std::optional<Text> processor;         // that the object's copy names (problem::for_processor)
  // Operations behind the sums (the epilogue), in order, in the compiler's words without dialects
  // and conversions: "addf", "maximumf". None: the operands that are read there are added.
  std::optional<std::vector<Text>> behind;
  std::vector<Text> zeroed;  // operands whose memory must be zero before a launch
  // Content of the kernel: the manifest, and the file that it names.
  std::string content;
};

// Name of an argument that is the kernel's scratch memory.
inline constexpr std::string_view kScratch = "scratch";

// Names of the factors and the result.
struct OperandNames {
  std::string_view lhs, rhs, result;
};
// Names for a matmul: A, B and C. For a convolution, where C is the number of channels: image,
// filter and output.
OperandNames operand_names(bool convolution);

// Reads the manifest at `path`. Input errors begin with its path and a line: ManifestReader's
// errors, a missing file, an operand without a type or with an unknown dimension. An argument must
// be an operand, the scratch memory or an expression.
Result<ExternalKernel> read_external_kernel(const std::string& path);

// Replaces each {NAME} in `text` by the result of `value_of`. Fails for a name that it does not
// know.
Result<std::string> filled_in(
    const std::string& text,
    const std::function<std::optional<std::string>(const std::string&)>& value_of);

}  // namespace hone::external
