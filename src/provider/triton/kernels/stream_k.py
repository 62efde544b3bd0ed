"""As many programs as the GPU can run at a time, each with the same number of steps along k, whatever tiles
they belong to (Osama et al., Stream-K, PPoPP 2023).

A tile whose steps are all one program's is written by it. Of any other tile each contributor leaves its sums
in the workspace; the one that comes last, by a counter, adds them in a fixed order and writes the tile. Nobody
waits for anybody, so the programs need not run at the same time. The last one sets the counter back to 0 for
the next launch.

Workspace: two tiles of sums per program, for its first and its last tile. Counters: one i32 per tile, 0 before
the first launch.
"""
import triton
import triton.language as tl

from tiles import grouped_tile, store_tile, tile_product


@triton.jit
def gemm_stream_k(a, b, bias, c, workspace, counters, M, N, K, GROUP_M, BLOCK_M: tl.constexpr,
                  BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, A_ROWS: tl.constexpr, B_ROWS: tl.constexpr,
                  C_ROWS: tl.constexpr, EVEN_K: tl.constexpr, HAS_BIAS: tl.constexpr,
                  ACCUMULATE: tl.constexpr, PRECISION: tl.constexpr):
    programs = tl.num_programs(0).to(tl.int64)
    program = tl.program_id(0).to(tl.int64)
    steps_of_tile = tl.cdiv(K, BLOCK_K)
    steps = tl.cdiv(M, BLOCK_M).to(tl.int64) * tl.cdiv(N, BLOCK_N) * steps_of_tile
    begin = program * steps // programs
    end = (program + 1) * steps // programs
    within = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    step = begin
    while step < end:
        tile = step // steps_of_tile
        tile_begin = tile * steps_of_tile
        stop = min(end, tile_begin + steps_of_tile)
        tile_m, tile_n = grouped_tile(tile.to(tl.int32), M, N, GROUP_M, BLOCK_M, BLOCK_N)
        k_begin = (step - tile_begin).to(tl.int32) * BLOCK_K
        k_end = min((stop - tile_begin).to(tl.int32) * BLOCK_K, K)
        sums = tile_product(a, b, M, N, K, tile_m, tile_n, k_begin, k_end, BLOCK_M, BLOCK_N, BLOCK_K, A_ROWS,
                            B_ROWS, EVEN_K, ACCUMULATE, PRECISION)
        if stop - step == steps_of_tile:
            store_tile(c, bias, sums, M, N, tile_m, tile_n, BLOCK_M, BLOCK_N, C_ROWS, HAS_BIAS)
        else:
            # The program's first tile goes to its slot 0, a later one, which is its last, to slot 1.
            slot = 2 * program + (step > begin).to(tl.int64)
            tl.store(workspace + slot * (BLOCK_M * BLOCK_N) + within, sums, cache_modifier=".cg")
            # The program that has step s is the largest p with p * steps // programs <= s.
            first = (tile_begin * programs + programs - 1) // steps
            first = tl.where(first * steps // programs > tile_begin, first - 1, first)
            tile_end = tile_begin + steps_of_tile
            last = ((tile_end - 1) * programs + programs - 1) // steps
            last = tl.where(last * steps // programs > tile_end - 1, last - 1, last)
            tl.debug_barrier()  # every thread's part is written before this program counts
            arrived = tl.atomic_add(counters + tile, 1, sem="acq_rel", scope="gpu")
            if arrived == (last - first).to(tl.int32):
                total = tl.zeros((BLOCK_M, BLOCK_N), dtype=ACCUMULATE)
                for other in range(first, last + 1):
                    began = other * steps // programs
                    at = 2 * other + (began < tile_begin).to(tl.int64)
                    total += tl.load(workspace + at * (BLOCK_M * BLOCK_N) + within, cache_modifier=".cg")
                store_tile(c, bias, total, M, N, tile_m, tile_n, BLOCK_M, BLOCK_N, C_ROWS, HAS_BIAS)
                tl.atomic_xchg(counters + tile, 0, sem="relaxed")
        step = stop
