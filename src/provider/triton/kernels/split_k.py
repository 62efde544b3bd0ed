"""SPLIT_K programs per tile of C, each over its part of k. Where C has fewer tiles than the GPU has
multiprocessors, this gives all of them work.

Two ways to bring the parts together:
- atomic: each program adds to C, which is zeroed before; only for a C of the type that sums have.
- two passes: each program writes its part to the workspace (SPLIT_K x tiles of sums), and sum_parts adds them
  in a fixed order.
"""
import triton
import triton.language as tl

from tiles import grouped_tile, store_tile, tile_product


@triton.jit
def part_of_k(part, SPLIT_K, K, BLOCK_K: tl.constexpr):
    """[begin, end) of part number `part`: whole steps, as equal as they go."""
    steps = tl.cdiv(K, BLOCK_K)
    return part * steps // SPLIT_K * BLOCK_K, min((part + 1) * steps // SPLIT_K * BLOCK_K, K)


@triton.jit
def gemm_split_k_atomic(a, b, bias, c, M, N, K, GROUP_M, SPLIT_K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                        BLOCK_K: tl.constexpr, A_ROWS: tl.constexpr, B_ROWS: tl.constexpr,
                        C_ROWS: tl.constexpr, EVEN_K: tl.constexpr, HAS_BIAS: tl.constexpr,
                        ACCUMULATE: tl.constexpr, PRECISION: tl.constexpr):
    part = tl.program_id(1)
    tile_m, tile_n = grouped_tile(tl.program_id(0), M, N, GROUP_M, BLOCK_M, BLOCK_N)
    k_begin, k_end = part_of_k(part, SPLIT_K, K, BLOCK_K)
    sums = tile_product(a, b, M, N, K, tile_m, tile_n, k_begin, k_end, BLOCK_M, BLOCK_N, BLOCK_K, A_ROWS,
                        B_ROWS, EVEN_K, ACCUMULATE, PRECISION)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    if HAS_BIAS:
        if part == 0:
            sums += tl.load(bias + columns, mask=columns < N, other=0).to(sums.dtype)[None, :]
    if C_ROWS:
        at = c + rows[:, None].to(tl.int64) * N + columns[None, :]
    else:
        at = c + rows[:, None] + columns[None, :].to(tl.int64) * M
    tl.atomic_add(at, sums, mask=(rows[:, None] < M) & (columns[None, :] < N), sem="relaxed")


@triton.jit
def gemm_split_k_parts(a, b, workspace, M, N, K, GROUP_M, SPLIT_K, BLOCK_M: tl.constexpr,
                       BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, A_ROWS: tl.constexpr,
                       B_ROWS: tl.constexpr, EVEN_K: tl.constexpr, ACCUMULATE: tl.constexpr,
                       PRECISION: tl.constexpr):
    part = tl.program_id(1)
    tile = tl.program_id(0)
    tile_m, tile_n = grouped_tile(tile, M, N, GROUP_M, BLOCK_M, BLOCK_N)
    k_begin, k_end = part_of_k(part, SPLIT_K, K, BLOCK_K)
    sums = tile_product(a, b, M, N, K, tile_m, tile_n, k_begin, k_end, BLOCK_M, BLOCK_N, BLOCK_K, A_ROWS,
                        B_ROWS, EVEN_K, ACCUMULATE, PRECISION)
    tiles = tl.num_programs(0)
    within = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    tl.store(workspace + (part * tiles + tile).to(tl.int64) * (BLOCK_M * BLOCK_N) + within, sums)


@triton.jit
def sum_parts(workspace, bias, c, M, N, GROUP_M, SPLIT_K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
              C_ROWS: tl.constexpr, HAS_BIAS: tl.constexpr, ACCUMULATE: tl.constexpr):
    tile = tl.program_id(0)
    tiles = tl.num_programs(0)
    tile_m, tile_n = grouped_tile(tile, M, N, GROUP_M, BLOCK_M, BLOCK_N)
    within = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=ACCUMULATE)
    for part in range(0, SPLIT_K):
        sums += tl.load(workspace + (part * tiles + tile).to(tl.int64) * (BLOCK_M * BLOCK_N) + within)
    store_tile(c, bias, sums, M, N, tile_m, tile_n, BLOCK_M, BLOCK_N, C_ROWS, HAS_BIAS)


ZERO_BLOCK = 1024


@triton.jit
def fill_zero(c, ELEMENTS, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(c + at, tl.zeros((BLOCK,), dtype=c.dtype.element_ty), mask=at < ELEMENTS)
