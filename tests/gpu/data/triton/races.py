"""SPLIT programs for a tile add their parts of k to a workspace without atomic additions: with more than one of them
each may overwrite what another has just added. The last that arrives writes C and clears the workspace."""
import triton
import triton.language as tl


@triton.jit
def races(a, b, c, workspace, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, BLOCK_M: tl.constexpr,
          BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, SPLIT: tl.constexpr):
    tile, part = tl.program_id(0), tl.program_id(1)
    tiles_n = tl.cdiv(N, BLOCK_N)
    rows = tile // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(part * BLOCK_K, K, SPLIT * BLOCK_K):
        ks = k + tl.arange(0, BLOCK_K)
        a_tile = tl.load(a + rows[:, None] * stride_am + ks[None, :] * stride_ak,
                         mask=(rows[:, None] < M) & (ks[None, :] < K), other=0.0)
        b_tile = tl.load(b + ks[:, None] * stride_bk + columns[None, :] * stride_bn,
                         mask=(ks[:, None] < K) & (columns[None, :] < N), other=0.0)
        sums = tl.dot(a_tile, b_tile, sums)
    within = tl.arange(0, BLOCK_M)[:, None] * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]
    at = workspace + tile * (BLOCK_M * BLOCK_N) + within
    tl.store(at, tl.load(at, cache_modifier=".cg") + sums, cache_modifier=".cg")
    tl.debug_barrier()
    counter = workspace + tl.num_programs(0) * (BLOCK_M * BLOCK_N) + tile
    arrived = tl.atomic_add(counter, 1.0, sem="acq_rel", scope="gpu")
    if arrived == SPLIT - 1:
        total = tl.load(at, cache_modifier=".cg")
        tl.store(c + rows[:, None] * N + columns[None, :], total.to(c.dtype.element_ty),
                 mask=(rows[:, None] < M) & (columns[None, :] < N))
        tl.store(at, tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32))
        tl.store(counter, 0.0)
