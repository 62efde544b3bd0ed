// Programs of one contraction, with the operation hone reads from them, and iree-compile on them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "problem/operation.h"
#include "problem/target.h"
#include "provider/iree/cpu/space.h"

namespace hone::iree {

struct ContractionProgram {
  std::string name;
  std::string text;  // MLIR, one function
  problem::Operation root;
  bool fused_consumers = false;
};

// C = A B with A (m,k), B (k,n), as linalg.matmul over a zero fill.
ContractionProgram matmul_program(std::int64_t m, std::int64_t n, std::int64_t k,
                                  const std::string& input = "f32",
                                  const std::string& output = "f32");
// The same with A (k,m) or B (n,k), through linalg.matmul's indexing_maps.
ContractionProgram transposed_program(std::int64_t m, std::int64_t n, std::int64_t k,
                                      bool transposed_a, bool transposed_b);
// A matmul_program whose result goes through + bias, gelu.
ContractionProgram bias_gelu_program(std::int64_t m, std::int64_t n, std::int64_t k);
// `batch` matmuls as a linalg.generic.
ContractionProgram batch_program(std::int64_t batch, std::int64_t m, std::int64_t n,
                                 std::int64_t k);
// C (n,m) of A (k,m) and B (n,k), as a linalg.generic over the loops (n, m, k): what a convolution
// of 1x1 becomes, channels first.
ContractionProgram swapped_program(std::int64_t m, std::int64_t n, std::int64_t k);
// C += A B: the output operand is an argument.
ContractionProgram accumulating_program(std::int64_t m, std::int64_t n, std::int64_t k);

// The machine that the tests describe: AVX-512, 2 MiB of second-level cache, two cores.
problem::CpuTarget avx512_target();

struct Compiled {
  bool succeeded = false;
  std::string words;  // the compiler's, when it failed
  // Attributes in the configured IR, dispatch by dispatch: of the operation that has a
  // distribution, of linalg.fills, of its function.
  std::vector<std::string> root_configs, fill_configs, translation_infos;
};

// iree-compile for llvm-cpu with AVX-512, up to executable-targets (translated, verified, not yet
// through LLVM), with a tuning spec where `spec` is not empty.
Result<Compiled> compile_with_spec(const std::string& program, const std::string& spec,
                                   const std::vector<std::string>& flags = {});

}  // namespace hone::iree
