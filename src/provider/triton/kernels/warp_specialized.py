"""Persistent, with tensor descriptors (descriptors.py) and warps that have one task each, in Gluon (Triton's lower
level, which says which warps do what; Triton 3.6 or later): one warp fetches, num_warps multiply and write. A ring
of STAGES slots in shared memory is between them; each slot has two barriers, `full` (its bytes have come) and
`empty` (its products are done). The fetching warp runs ahead, into the next tile too.

Tensors have powers of two as sizes; MORE_N, if not 0, is the width of a second block to the right of the first,
which makes tiles of, say, 160 columns: for a C with just as many such tiles as the GPU has multiprocessors.
b_more and c_more are descriptors of B and C with blocks of MORE_N columns.

For A and B of 16 bits per element.
"""
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (fence_async_shared, mbarrier, tma, warpgroup_mma,
                                                              warpgroup_mma_wait)

# Named so since Triton 3.8 and 3.9; what they were called before is gone there.
async_load = getattr(tma, "async_load", None) or tma.async_copy_global_to_shared
async_store = getattr(tma, "async_store", None) or tma.async_copy_shared_to_global


@gluon.jit
def corner_of(tile, M, N, GROUP_M, BLOCK_M: gl.constexpr, WIDTH: gl.constexpr):
    """First row and column of tile number `tile`, in the order of tiles.grouped_tile."""
    tiles_m = gl.cdiv(M, BLOCK_M)
    tiles_of_group = GROUP_M * gl.cdiv(N, WIDTH)
    first_m = tile // tiles_of_group * GROUP_M
    group_m = gl.minimum(tiles_m - first_m, GROUP_M)
    within = tile % tiles_of_group
    return (first_m + within % group_m) * BLOCK_M, within // group_m * WIDTH


@gluon.jit
def fetch(matrix, row, column, barrier, slot, ROWS: gl.constexpr):
    if ROWS:
        async_load(matrix, [row, column], barrier, slot)
    else:
        async_load(matrix, [column, row], barrier, slot)


@gluon.jit
def fetch_all(a, b, b_more, a_slots, b_slots, more_slots, full, empty, M, N, K, GROUP_M, BLOCK_M: gl.constexpr,
              BLOCK_N: gl.constexpr, MORE_N: gl.constexpr, BLOCK_K: gl.constexpr, STAGES: gl.constexpr,
              A_ROWS: gl.constexpr, B_ROWS: gl.constexpr):
    WIDTH: gl.constexpr = BLOCK_N + MORE_N
    BYTES: gl.constexpr = (BLOCK_M + WIDTH) * BLOCK_K * 2
    tiles = gl.cdiv(M, BLOCK_M) * gl.cdiv(N, WIDTH)
    step = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        row, column = corner_of(tile, M, N, GROUP_M, BLOCK_M, WIDTH)
        for k in range(0, K, BLOCK_K):
            slot = step % STAGES
            ready = full.index(slot)
            mbarrier.wait(empty.index(slot), (step // STAGES & 1) ^ 1)
            mbarrier.expect(ready, BYTES)
            fetch(a, row, k, ready, a_slots.index(slot), A_ROWS)
            fetch(b, k, column, ready, b_slots.index(slot), B_ROWS)
            if MORE_N:
                fetch(b_more, k, column + BLOCK_N, ready, more_slots.index(slot), B_ROWS)
            step += 1


@gluon.jit
def as_operand(slot, ROWS: gl.constexpr):
    return slot if ROWS else slot.permute((1, 0))


@gluon.jit
def add_bias(sums, bias, row, column, M, N, BIAS_OF_ROWS: gl.constexpr):
    layout: gl.constexpr = sums.type.layout
    if BIAS_OF_ROWS:
        rows = row + gl.arange(0, sums.shape[0], gl.SliceLayout(1, layout))
        return sums + gl.expand_dims(gl.load(bias + rows, mask=rows < M, other=0).to(gl.float32), 1)
    columns = column + gl.arange(0, sums.shape[1], gl.SliceLayout(0, layout))
    return sums + gl.expand_dims(gl.load(bias + columns, mask=columns < N, other=0).to(gl.float32), 0)


@gluon.jit
def write(c, buffer, sums, row, column, C_ROWS: gl.constexpr):
    """Writes a block of C in pieces of the buffer's size; the last is on its way when this returns."""
    WIDTH: gl.constexpr = buffer.shape[1] if C_ROWS else buffer.shape[0]
    if sums.shape[1] > WIDTH:
        halves = gl.permute(gl.reshape(sums, (sums.shape[0], 2, sums.shape[1] // 2)), (0, 2, 1))
        left, right = gl.split(halves)
        write(c, buffer, left, row, column, C_ROWS)
        write(c, buffer, right, row, column + left.shape[1], C_ROWS)
    else:
        tma.store_wait(0)  # what was written before has left the buffer
        as_operand(buffer, C_ROWS).store(sums.to(c.dtype))
        fence_async_shared()
        if C_ROWS:
            async_store(c, [row, column], buffer)
        else:
            async_store(c, [column, row], buffer)


@gluon.jit
def multiply_all(a, b, b_more, bias, c, c_more, a_slots, b_slots, more_slots, full, empty, M, N, K, GROUP_M,
                 BLOCK_M: gl.constexpr, BLOCK_N: gl.constexpr, MORE_N: gl.constexpr, BLOCK_K: gl.constexpr,
                 STAGES: gl.constexpr, A_ROWS: gl.constexpr, B_ROWS: gl.constexpr, C_ROWS: gl.constexpr,
                 HAS_BIAS: gl.constexpr, BIAS_OF_ROWS: gl.constexpr):
    WIDTH: gl.constexpr = BLOCK_N + MORE_N
    layout: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[gl.num_warps(), 1],
                                                     instr_shape=[16, BLOCK_N, 16])
    buffer = gl.allocate_shared_memory(c.dtype, c.block_type.shape, c.layout)
    if MORE_N:
        more_layout: gl.constexpr = gl.NVMMADistributedLayout(version=[3, 0], warps_per_cta=[gl.num_warps(), 1],
                                                              instr_shape=[16, MORE_N, 16])
        more_buffer = gl.allocate_shared_memory(c.dtype, c_more.block_type.shape, c_more.layout)
    tiles = gl.cdiv(M, BLOCK_M) * gl.cdiv(N, WIDTH)
    step = 0
    for tile in range(gl.program_id(0), tiles, gl.num_programs(0)):
        row, column = corner_of(tile, M, N, GROUP_M, BLOCK_M, WIDTH)
        sums = gl.zeros((BLOCK_M, BLOCK_N), gl.float32, layout)
        if MORE_N:
            more = gl.zeros((BLOCK_M, MORE_N), gl.float32, more_layout)
        for k in range(0, K, BLOCK_K):
            slot = step % STAGES
            mbarrier.wait(full.index(slot), step // STAGES & 1)
            a_tile = as_operand(a_slots.index(slot), A_ROWS)
            sums = warpgroup_mma(a_tile, as_operand(b_slots.index(slot), B_ROWS), sums, is_async=True)
            if MORE_N:
                more = warpgroup_mma(a_tile, as_operand(more_slots.index(slot), B_ROWS), more, is_async=True)
                sums, more = warpgroup_mma_wait(2, deps=[sums, more])
            else:
                sums = warpgroup_mma_wait(1, deps=[sums])
            # The products of the step before are done.
            mbarrier.arrive(empty.index((step + STAGES - 1) % STAGES), pred=k > 0)
            step += 1
        if MORE_N:
            sums, more = warpgroup_mma_wait(0, deps=[sums, more])
        else:
            sums = warpgroup_mma_wait(0, deps=[sums])
        mbarrier.arrive(empty.index((step + STAGES - 1) % STAGES))
        if HAS_BIAS:
            sums = add_bias(sums, bias, row, column, M, N, BIAS_OF_ROWS)
        write(c, buffer, sums, row, column, C_ROWS)
        if MORE_N:
            if HAS_BIAS:
                more = add_bias(more, bias, row, column + BLOCK_N, M, N, BIAS_OF_ROWS)
            write(c_more, more_buffer, more, row, column + BLOCK_N, C_ROWS)
    tma.store_wait(0)


@gluon.jit
def gemm_warp_specialized(a, b, b_more, bias, c, c_more, M, N, K, GROUP_M, BLOCK_M: gl.constexpr,
                          BLOCK_N: gl.constexpr, MORE_N: gl.constexpr, BLOCK_K: gl.constexpr,
                          STAGES: gl.constexpr, A_ROWS: gl.constexpr, B_ROWS: gl.constexpr, C_ROWS: gl.constexpr,
                          HAS_BIAS: gl.constexpr, BIAS_OF_ROWS: gl.constexpr):
    a_slots = gl.allocate_shared_memory(a.dtype, [STAGES] + a.block_type.shape, a.layout)
    b_slots = gl.allocate_shared_memory(b.dtype, [STAGES] + b.block_type.shape, b.layout)
    more_slots = b_slots
    if MORE_N:
        more_slots = gl.allocate_shared_memory(b.dtype, [STAGES] + b_more.block_type.shape, b_more.layout)
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    for slot in gl.static_range(STAGES):
        mbarrier.init(full.index(slot), count=1)
        mbarrier.init(empty.index(slot), count=1)
    fence_async_shared()
    gl.warp_specialize([
        (multiply_all, (a, b, b_more, bias, c, c_more, a_slots, b_slots, more_slots, full, empty, M, N, K, GROUP_M,
                        BLOCK_M, BLOCK_N, MORE_N, BLOCK_K, STAGES, A_ROWS, B_ROWS, C_ROWS, HAS_BIAS, BIAS_OF_ROWS)),
        (fetch_all, (a, b, b_more, a_slots, b_slots, more_slots, full, empty, M, N, K, GROUP_M, BLOCK_M, BLOCK_N,
                     MORE_N, BLOCK_K, STAGES, A_ROWS, B_ROWS)),
    ], [1], [40])
