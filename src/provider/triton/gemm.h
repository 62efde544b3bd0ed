// The problems of the Triton provider: GEMMs, C[m, n] = sum over k of A[m, k] B[k, n] (+ bias[n]).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "problem/dispatch.h"
#include "problem/types.h"

namespace hone::triton {

struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t batch = 1;
  // Dense storage: row by row, else column by column.
  bool a_rows = true, b_rows = true, c_rows = true;
  problem::ElementType a = problem::ElementType::kF16;
  problem::ElementType b = problem::ElementType::kF16;
  problem::ElementType c = problem::ElementType::kF16;
  std::optional<problem::ElementType> bias;
  bool tf32 = false;  // f32 products on matrix units, of operands rounded to 10 bits; else IEEE

  bool operator==(const Gemm&) const = default;
};

// Type of the sums: i32 for integers, f32 for all else.
problem::ElementType accumulator(const Gemm& gemm);

// Returns an input error that names what the kernels cannot do. Causes: a size below 1; an operand
// of 2^31 elements; operands of different types (two 8-bit floats may differ); a result type that
// sums cannot be narrowed to.
Status check(const Gemm& gemm);

// "gemm_2048x1280x5120_f16_f16_f32_nt": sizes as M x N x K, types of A, B and C, and 'n' or 't' for
// A and B stored by rows or by columns; "_b8" for a batch, "_bias" for a bias, "_tf32", "_ct" for C
// by columns.
std::string name_of(const Gemm& gemm);

// The GEMM as a dispatch: its root is the contraction, the bindings are A, B, the bias and C, and
// the source is its JSON.
problem::Dispatch dispatch_of(const Gemm& gemm);

// JSON form that src/provider/triton/python/problem.py reads.
void to_json(nlohmann::json& json, const Gemm& gemm);

// The GEMM that dispatch_of made the dispatch of. An input error for any other dispatch.
Result<Gemm> gemm_of(const problem::Dispatch& dispatch);

// Element types as tune_gemm.py's flags and files spell them.

// "fp16", "bf16", "fp32", "fp8" (e4m3), "bf8" (e5m2), "int8", "int32"; hone's own names ("f16")
// too.
std::optional<problem::ElementType> type_from_tune_gemm(std::string_view name);
std::string_view tune_gemm_name_of(problem::ElementType type);
// "fp16, bf16, ...", for messages.
std::string tune_gemm_type_names();

}  // namespace hone::triton
