"""As many programs as the GPU can run at a time, each going through tiles of C, with tensor descriptors
(descriptors.py). While a tile is written, the first steps of the next are already on their way.
"""
import triton
import triton.language as tl

from descriptors import add_bias, add_product, store_pieces
from tiles import grouped_tile


@triton.jit
def gemm_persistent(a, b, bias, c, M, N, K, GROUP_M, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                    BLOCK_K: tl.constexpr, A_ROWS: tl.constexpr, B_ROWS: tl.constexpr, C_ROWS: tl.constexpr,
                    SPLIT_STORE: tl.constexpr, HAS_BIAS: tl.constexpr, BIAS_OF_ROWS: tl.constexpr,
                    ACCUMULATE: tl.constexpr, STORE: tl.constexpr, PRECISION: tl.constexpr):
    tl.assume(K > 0)
    tiles = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True):
        tile_m, tile_n = grouped_tile(tile, M, N, GROUP_M, BLOCK_M, BLOCK_N)
        row = tile_m * BLOCK_M
        column = tile_n * BLOCK_N
        sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=ACCUMULATE)
        for k in range(0, K, BLOCK_K):
            sums = add_product(sums, a, b, row, column, k, A_ROWS, B_ROWS, ACCUMULATE, PRECISION)
        if HAS_BIAS:
            sums = add_bias(sums, bias, row, column, M, N, BLOCK_M, BLOCK_N, BIAS_OF_ROWS)
        store_pieces(c, sums, row, column, BLOCK_M, BLOCK_N, C_ROWS, SPLIT_STORE, STORE)
