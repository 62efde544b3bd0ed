"""One program per tile of C that is BLOCK_N + MORE_N columns wide, with tensor descriptors (descriptors.py).

Triton's tensors have powers of two as sizes. Two of them side by side make tiles of 160 or 192 columns, with
which the tiles of some C are just as many as the GPU has multiprocessors.

b_more and c_more are descriptors of B and C with blocks of MORE_N columns.
"""
import triton
import triton.language as tl

from descriptors import add_bias, store_pieces
from tiles import grouped_tile


@triton.jit
def gemm_wide_tma(a, b, b_more, bias, c, c_more, M, N, K, GROUP_M, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                  MORE_N: tl.constexpr, BLOCK_K: tl.constexpr, A_ROWS: tl.constexpr, B_ROWS: tl.constexpr,
                  C_ROWS: tl.constexpr, SPLIT_STORE: tl.constexpr, HAS_BIAS: tl.constexpr,
                  BIAS_OF_ROWS: tl.constexpr, ACCUMULATE: tl.constexpr, STORE: tl.constexpr,
                  PRECISION: tl.constexpr):
    tile_m, tile_n = grouped_tile(tl.program_id(0), M, N, GROUP_M, BLOCK_M, BLOCK_N + MORE_N)
    row = tile_m * BLOCK_M
    column = tile_n * (BLOCK_N + MORE_N)
    column_more = column + BLOCK_N
    # Without this ptxas waits for each product before the next: it sees sums that come from elsewhere.
    tl.assume(K > 0)
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=ACCUMULATE)
    more = tl.zeros((BLOCK_M, MORE_N), dtype=ACCUMULATE)
    for k in range(0, K, BLOCK_K):
        a_tile = a.load([row, k]) if A_ROWS else a.load([k, row]).T
        b_tile = b.load([k, column]) if B_ROWS else b.load([column, k]).T
        b_more_tile = b_more.load([k, column_more]) if B_ROWS else b_more.load([column_more, k]).T
        sums = tl.dot(a_tile, b_tile, sums, input_precision=PRECISION, out_dtype=ACCUMULATE)
        more = tl.dot(a_tile, b_more_tile, more, input_precision=PRECISION, out_dtype=ACCUMULATE)
    if HAS_BIAS:
        sums = add_bias(sums, bias, row, column, M, N, BLOCK_M, BLOCK_N, BIAS_OF_ROWS)
        more = add_bias(more, bias, row, column_more, M, N, BLOCK_M, MORE_N, BIAS_OF_ROWS)
    store_pieces(c, sums, row, column, BLOCK_M, BLOCK_N, C_ROWS, SPLIT_STORE, STORE)
    store_pieces(c_more, more, row, column_more, BLOCK_M, MORE_N, C_ROWS, 0, STORE)
