"""One program per tile of C (and per matrix of a batch)."""
import triton
import triton.language as tl

from tiles import grouped_tile, store_tile, tile_product


@triton.jit
def gemm_blocked(a, b, bias, c, M, N, K, GROUP_M, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                 BLOCK_K: tl.constexpr, A_ROWS: tl.constexpr, B_ROWS: tl.constexpr, C_ROWS: tl.constexpr,
                 EVEN_K: tl.constexpr, HAS_BIAS: tl.constexpr, ACCUMULATE: tl.constexpr,
                 PRECISION: tl.constexpr):
    matrix = tl.program_id(1).to(tl.int64)
    tile_m, tile_n = grouped_tile(tl.program_id(0), M, N, GROUP_M, BLOCK_M, BLOCK_N)
    sums = tile_product(a + matrix * M * K, b + matrix * K * N, M, N, K, tile_m, tile_n, 0, K, BLOCK_M,
                        BLOCK_N, BLOCK_K, A_ROWS, B_ROWS, EVEN_K, ACCUMULATE, PRECISION)
    store_tile(c + matrix * M * N, bias, sums, M, N, tile_m, tile_n, BLOCK_M, BLOCK_N, C_ROWS, HAS_BIAS)
