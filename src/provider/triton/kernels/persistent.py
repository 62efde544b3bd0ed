"""As many programs as the GPU can run at a time, each going through tiles of C, with tensor descriptors (TMA):
the hardware fetches whole tiles and fills what lies outside with zeros. For NVIDIA sm_90 and later; the rows of
A, B and C must be whole multiples of 16 bytes.

The descriptors are made by whoever launches: blocks [BLOCK_M, BLOCK_K] of A (stored [BLOCK_K, BLOCK_M] where A is
stored by columns), likewise B, and of C [BLOCK_M, BLOCK_N], or half of the columns with SPLIT_STORE, which takes
less shared memory.
"""
import triton
import triton.language as tl

from tiles import grouped_tile


@triton.jit
def gemm_persistent(a, b, bias, c, M, N, K, GROUP_M, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                    BLOCK_K: tl.constexpr, A_ROWS: tl.constexpr, B_ROWS: tl.constexpr, SPLIT_STORE: tl.constexpr,
                    HAS_BIAS: tl.constexpr, ACCUMULATE: tl.constexpr, STORE: tl.constexpr,
                    PRECISION: tl.constexpr):
    tiles = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True):
        tile_m, tile_n = grouped_tile(tile, M, N, GROUP_M, BLOCK_M, BLOCK_N)
        row = tile_m * BLOCK_M
        column = tile_n * BLOCK_N
        sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=ACCUMULATE)
        for k in range(0, K, BLOCK_K):
            a_tile = a.load([row, k]) if A_ROWS else a.load([k, row]).T
            b_tile = b.load([k, column]) if B_ROWS else b.load([column, k]).T
            sums = tl.dot(a_tile, b_tile, sums, input_precision=PRECISION, out_dtype=ACCUMULATE)
        if HAS_BIAS:
            columns = column + tl.arange(0, BLOCK_N)
            sums += tl.load(bias + columns, mask=columns < N, other=0).to(ACCUMULATE)[None, :]
        if SPLIT_STORE:
            halves = tl.permute(tl.reshape(sums, (BLOCK_M, 2, BLOCK_N // 2)), (0, 2, 1))
            left, right = tl.split(halves)
            c.store([row, column], left.to(STORE))
            c.store([row, column + BLOCK_N // 2], right.to(STORE))
        else:
            c.store([row, column], sums.to(STORE))
