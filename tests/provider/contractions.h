// Contractions and targets filled by hand.
#pragma once

#include "problem/operation.h"
#include "problem/target.h"

namespace hone::iree {

// Loops (m, n, k), A (m,k), B (k,n), C (m,n).
inline problem::Operation matmul(std::int64_t m, std::int64_t n, std::int64_t k,
                                 problem::ElementType input = problem::ElementType::kF32) {
  using problem::LoopRole;
  problem::Operation root;
  root.kind = problem::OperationKind::kMatmul;
  root.name = "linalg.matmul";
  root.loops = {{false, m, LoopRole::kM}, {false, n, LoopRole::kN}, {true, k, LoopRole::kK}};
  root.operands = {{{input, {m, k}}, {0, 2}, false},
                   {{input, {k, n}}, {2, 1}, false},
                   {{problem::ElementType::kF32, {m, n}}, {0, 1}, true}};
  return root;
}

// The same product as a convolution of 1x1 gives it, channels first: loops (n, m, k), first operand
// (k,m), second (n,k), result (n,m).
inline problem::Operation swapped_matmul(std::int64_t m, std::int64_t n, std::int64_t k) {
  using problem::ElementType;
  using problem::LoopRole;
  problem::Operation root;
  root.kind = problem::OperationKind::kMatmul;
  root.name = "linalg.generic";
  root.loops = {{false, n, LoopRole::kN}, {false, m, LoopRole::kM}, {true, k, LoopRole::kK}};
  root.operands = {{{ElementType::kF32, {k, m}}, {2, 1}, false},
                   {{ElementType::kF32, {n, k}}, {0, 2}, false},
                   {{ElementType::kF32, {n, m}}, {0, 1}, true}};
  return root;
}

// Loops (b, m, n, k).
inline problem::Operation batch_matmul(std::int64_t b, std::int64_t m, std::int64_t n,
                                       std::int64_t k) {
  using problem::LoopRole;
  problem::Operation root;
  root.kind = problem::OperationKind::kBatchMatmul;
  root.name = "linalg.batch_matmul";
  root.loops = {{false, b, LoopRole::kBatch},
                {false, m, LoopRole::kM},
                {false, n, LoopRole::kN},
                {true, k, LoopRole::kK}};
  root.operands = {{{problem::ElementType::kF32, {b, m, k}}, {0, 1, 3}, false},
                   {{problem::ElementType::kF32, {b, k, n}}, {0, 3, 2}, false},
                   {{problem::ElementType::kF32, {b, m, n}}, {0, 1, 2}, true}};
  return root;
}

// 512-bit vectors: 16 f32 lanes, 32 registers.
inline problem::CpuTarget avx512(int cores) {
  problem::CpuTarget target;
  target.cpu = "hand-filled";
  target.vector_bits = 512;
  target.vector_registers = 32;
  target.l1d_bytes = 48 * 1024;
  target.l2_bytes = 2048 * 1024;
  target.cores = cores;
  return target;
}

}  // namespace hone::iree
