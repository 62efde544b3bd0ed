"""A right matrix product; drops_tiles.yaml launches it with too few programs."""
import triton
import triton.language as tl


@triton.jit
def masked(a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, BLOCK_M: tl.constexpr,
           BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    tiles_n = tl.cdiv(N, BLOCK_N)
    rows = tl.program_id(0) // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(0) % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        ks = k + tl.arange(0, BLOCK_K)
        a_tile = tl.load(a + rows[:, None] * stride_am + ks[None, :] * stride_ak,
                         mask=(rows[:, None] < M) & (ks[None, :] < K), other=0.0)
        b_tile = tl.load(b + ks[:, None] * stride_bk + columns[None, :] * stride_bn,
                         mask=(ks[:, None] < K) & (columns[None, :] < N), other=0.0)
        sums = tl.dot(a_tile, b_tile, sums)
    tl.store(c + rows[:, None] * N + columns[None, :], sums.to(c.dtype.element_ty),
             mask=(rows[:, None] < M) & (columns[None, :] < N))
