"""One program per tile of C and part of k, with tensor descriptors (descriptors.py).

With SPLIT_K > 1 every part leaves its sums in the workspace; the one that comes last, by a counter, adds all of
them in a fixed order and writes the tile. Nobody waits for anybody, so the programs need not run at the same
time. The last one sets the counter back to 0 for the next launch.

Workspace: one tile of sums per program. Counters: one i32 per tile, 0 before the first launch.
"""
import triton
import triton.language as tl

from descriptors import add_bias, add_product, store_pieces
from split_k import part_of_k
from tiles import grouped_tile


@triton.jit
def gemm_tiles_tma(a, b, bias, c, workspace, counters, M, N, K, GROUP_M, SPLIT_K, BLOCK_M: tl.constexpr,
                   BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, A_ROWS: tl.constexpr, B_ROWS: tl.constexpr,
                   C_ROWS: tl.constexpr, SPLIT_STORE: tl.constexpr, HAS_BIAS: tl.constexpr,
                   BIAS_OF_ROWS: tl.constexpr, ACCUMULATE: tl.constexpr, STORE: tl.constexpr,
                   PRECISION: tl.constexpr, PARTS: tl.constexpr):
    tile = tl.program_id(0)
    part = tl.program_id(1)
    tile_m, tile_n = grouped_tile(tile, M, N, GROUP_M, BLOCK_M, BLOCK_N)
    row = tile_m * BLOCK_M
    column = tile_n * BLOCK_N
    k_begin, k_end = part_of_k(part, SPLIT_K, K, BLOCK_K)
    # Without this ptxas waits for each product before the next: it sees sums that come from elsewhere.
    tl.assume(k_begin < k_end)
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=ACCUMULATE)
    for k in range(k_begin, k_end, BLOCK_K):
        sums = add_product(sums, a, b, row, column, k, A_ROWS, B_ROWS, ACCUMULATE, PRECISION)
    last = True
    if PARTS:
        tiles = tl.num_programs(0)
        within = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
        at = workspace + tile.to(tl.int64) * (BLOCK_M * BLOCK_N) + within
        stride = tiles.to(tl.int64) * (BLOCK_M * BLOCK_N)
        tl.store(at + part * stride, sums, cache_modifier=".cg")
        tl.debug_barrier()  # every thread's part is written before this program counts
        last = tl.atomic_add(counters + tile, 1, sem="acq_rel", scope="gpu") == SPLIT_K - 1
        if last:
            tl.atomic_xchg(counters + tile, 0, sem="relaxed")
            sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=ACCUMULATE)
            for other in range(0, SPLIT_K):
                sums += tl.load(at + other * stride, cache_modifier=".cg")
    if last:
        if HAS_BIAS:
            sums = add_bias(sums, bias, row, column, M, N, BLOCK_M, BLOCK_N, BIAS_OF_ROWS)
        store_pieces(c, sums, row, column, BLOCK_M, BLOCK_N, C_ROWS, SPLIT_STORE, STORE)
