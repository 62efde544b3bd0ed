"""Stream-K (stream_k.py) with tensor descriptors (descriptors.py), as many programs as the GPU runs at a time.

Most tiles are whole: each program goes through WHOLE of them, one after the other. What is left, fewer tiles than
there are programs, is shared: each program has the same number of steps along k of it.

Workspace: two tiles of sums per program, which has steps of at most two shared tiles. Counters: one i32 per
tile, 0 before the first launch.
"""
import triton
import triton.language as tl

from descriptors import add_bias, add_product, store_pieces
from tiles import grouped_tile


@triton.jit
def owner(step, steps, sharers):
    """The program that has this step: the largest p with p * steps // sharers <= step."""
    guess = (step * sharers + sharers - 1) // steps
    return tl.where(guess * steps // sharers > step, guess - 1, guess)


@triton.jit
def gemm_stream_k_tma(a, b, bias, c, workspace, counters, M, N, K, GROUP_M, WHOLE, BLOCK_M: tl.constexpr,
                      BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, A_ROWS: tl.constexpr, B_ROWS: tl.constexpr,
                      C_ROWS: tl.constexpr, SPLIT_STORE: tl.constexpr, HAS_BIAS: tl.constexpr,
                      BIAS_OF_ROWS: tl.constexpr, ACCUMULATE: tl.constexpr, STORE: tl.constexpr,
                      PRECISION: tl.constexpr):
    programs = tl.num_programs(0)
    program = tl.program_id(0)
    tile_steps = tl.cdiv(K, BLOCK_K)
    tiles = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)
    whole_tiles = WHOLE * programs
    steps = (tiles - whole_tiles).to(tl.int64) * tile_steps
    # Each sharer has a step at least, so that every program between a tile's first and last owner counts.
    sharers = tl.maximum(tl.minimum(steps, programs), 1)
    begin = tl.minimum(program, sharers) * steps // sharers
    end = tl.minimum(program + 1, sharers) * steps // sharers
    within = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    first_tile = (begin // tile_steps).to(tl.int32)
    shared_pieces = tl.where(end > begin, ((end - 1) // tile_steps).to(tl.int32) - first_tile + 1, 0)
    for piece in range(0, shared_pieces + WHOLE):
        # Shared tiles first, so that what the last of them waits for is long done.
        shared = piece < shared_pieces
        tile_begin = (first_tile + piece).to(tl.int64) * tile_steps
        step = tl.where(shared, tl.maximum(begin - tile_begin, 0), 0).to(tl.int32)
        stop = tl.where(shared, tl.minimum(end - tile_begin, tile_steps), tile_steps).to(tl.int32)
        tile = tl.where(shared, whole_tiles + first_tile + piece, program + (piece - shared_pieces) * programs)
        tile_m, tile_n = grouped_tile(tile, M, N, GROUP_M, BLOCK_M, BLOCK_N)
        row = tile_m * BLOCK_M
        column = tile_n * BLOCK_N
        # Without this ptxas waits for each product before the next: it sees sums that come from elsewhere.
        tl.assume(step < stop)
        sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=ACCUMULATE)
        for k in range(step, stop):
            sums = add_product(sums, a, b, row, column, k * BLOCK_K, A_ROWS, B_ROWS, ACCUMULATE, PRECISION)
        last = True
        if stop - step < tile_steps:
            # The program's first tile goes to its slot 0, a later one, which is its last, to slot 1.
            slot = (2 * program + (piece > 0).to(tl.int32)).to(tl.int64)
            tl.store(workspace + slot * (BLOCK_M * BLOCK_N) + within, sums, cache_modifier=".cg")
            tl.debug_barrier()  # every thread's part is written before this program counts
            first = owner(tile_begin, steps, sharers).to(tl.int32)
            others = owner(tile_begin + tile_steps - 1, steps, sharers).to(tl.int32) - first
            last = tl.atomic_add(counters + tile, 1, sem="acq_rel", scope="gpu") == others
            if last:
                tl.atomic_xchg(counters + tile, 0, sem="relaxed")
                sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=ACCUMULATE)
                for other in range(first, first + others + 1):
                    at = (2 * other + (other * steps // sharers < tile_begin).to(tl.int32)).to(tl.int64)
                    sums += tl.load(workspace + at * (BLOCK_M * BLOCK_N) + within, cache_modifier=".cg")
        if last:
            if HAS_BIAS:
                sums = add_bias(sums, bias, row, column, M, N, BLOCK_M, BLOCK_N, BIAS_OF_ROWS)
            store_pieces(c, sums, row, column, BLOCK_M, BLOCK_N, C_ROWS, SPLIT_STORE, STORE)
