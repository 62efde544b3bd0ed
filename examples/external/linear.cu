// A layer of a network, C = f(A B + bias), as somebody might have written it by hand: f16 operands, sums in f32 on
// the tensor cores, f the exact gelu with -DGELU=1. A is M x K, B K x N, C M x N, rows one behind the other.
//
// BM, BN, BK: the tile of a block. WM, WN: that of a warp. STAGES: tiles of A and B in flight. GROUP: rows of tiles
// that follow one another, so that blocks at work at the same time share tiles in the L2 cache.
// The tiles divide M, N and K; linear.yaml says so to whoever launches this.
#include <cuda_fp16.h>

#include <cstdint>

namespace {

constexpr int kThreads = (BM / WM) * (BN / WN) * 32;
// 16 bytes more than a row has keep the eight rows that ldmatrix reads at once in different banks.
constexpr int kRowA = BK + 8, kRowB = BN + 8;
constexpr int kStage = BM * kRowA + BK * kRowB;  // elements
constexpr int kTilesM = WM / 16, kTilesN = WN / 8;

__device__ uint32_t shared_address(const half* at) { return static_cast<uint32_t>(__cvta_generic_to_shared(at)); }

// Copies ROWS x COLUMNS elements, sixteen bytes a thread, without passing registers.
template <int ROWS, int COLUMNS, int PITCH>
__device__ void copy_tile(half* to, const half* from, int pitch) {
  constexpr int kPieces = COLUMNS / 8;
#pragma unroll
  for (int piece = static_cast<int>(threadIdx.x); piece < ROWS * kPieces; piece += kThreads) {
    const int row = piece / kPieces, column = piece % kPieces * 8;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to + row * PITCH + column)),
                 "l"(from + static_cast<int64_t>(row) * pitch + column));
  }
}

__device__ void load_a(uint32_t (&fragment)[4], const half* at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(shared_address(at)));
}

// Two neighbours along N: their halves along K come one after the other.
__device__ void load_b(uint32_t (&left)[2], uint32_t (&right)[2], const half* at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(left[0]), "=r"(left[1]), "=r"(right[0]), "=r"(right[1])
               : "r"(shared_address(at)));
}

__device__ void multiply(float (&sums)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ float activated(float value) {
  return GELU ? 0.5f * value * (1.0f + erff(value * 0.70710678f)) : value;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads)
    linear(const half* __restrict__ A, const half* __restrict__ B, const float* __restrict__ bias,
           half* __restrict__ C, int M, int N, int K) {
  extern __shared__ __align__(16) half shared[];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_m = warp / (BN / WN) * WM, warp_n = warp % (BN / WN) * WN;

  // A group of GROUP rows of tiles is walked column by column.
  const int rows = M / BM, columns = N / BN, in_group = GROUP * columns;
  const int first = static_cast<int>(blockIdx.x) / in_group * GROUP;
  const int height = min(rows - first, GROUP), within = static_cast<int>(blockIdx.x) % in_group;
  const int row = (first + within % height) * BM, column = within / height * BN;

  const half* const a = A + static_cast<int64_t>(row) * K;
  const half* const b = B + column;
  const auto load = [&](int step) {
    if (step < K / BK) {
      half* const stage = shared + step % STAGES * kStage;
      copy_tile<BM, BK, kRowA>(stage, a + step * BK, K);
      copy_tile<BK, BN, kRowB>(stage + BM * kRowA, b + static_cast<int64_t>(step) * BK * N, N);
    }
    asm volatile("cp.async.commit_group;");
  };

  float sums[kTilesM][kTilesN][4] = {};
#pragma unroll
  for (int step = 0; step < STAGES - 1; ++step) load(step);
  for (int step = 0; step < K / BK; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
    // Behind it everybody's copies of this stage are there, and nobody reads the stage that is loaded next any more.
    __syncthreads();
    load(step + STAGES - 1);
    const half* const tile_a = shared + step % STAGES * kStage + (warp_m + lane % 16) * kRowA + lane / 16 * 8;
    const half* const tile_b = shared + step % STAGES * kStage + BM * kRowA + lane % 16 * kRowB + warp_n + lane / 16 * 8;
#pragma unroll
    for (int k = 0; k < BK; k += 16) {
      uint32_t left[kTilesM][4], right[kTilesN][2];
#pragma unroll
      for (int m = 0; m < kTilesM; ++m) load_a(left[m], tile_a + m * 16 * kRowA + k);
#pragma unroll
      for (int n = 0; n < kTilesN; n += 2) load_b(right[n], right[n + 1], tile_b + k * kRowB + n * 8);
#pragma unroll
      for (int m = 0; m < kTilesM; ++m)
#pragma unroll
        for (int n = 0; n < kTilesN; ++n) multiply(sums[m][n], left[m], right[n]);
    }
  }

#pragma unroll
  for (int n = 0; n < kTilesN; ++n) {
    const int at = column + warp_n + n * 8 + lane % 4 * 2;
    const float bias0 = bias[at], bias1 = bias[at + 1];
#pragma unroll
    for (int m = 0; m < kTilesM; ++m)
#pragma unroll
      for (int half_tile = 0; half_tile < 2; ++half_tile) {
        const int64_t line = row + warp_m + m * 16 + half_tile * 8 + lane / 4;
        const float* const pair = sums[m][n] + half_tile * 2;
        *reinterpret_cast<half2*>(C + line * N + at) =
            __floats2half2_rn(activated(pair[0] + bias0), activated(pair[1] + bias1));
      }
  }
}
