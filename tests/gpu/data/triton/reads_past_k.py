"""Masks only B along k: A is read past the end of its rows and, in the last row, of its memory. There is 0 in B for
it, so that only what is no number behind A shows it: 0 times NaN."""
import triton
import triton.language as tl


@triton.jit
def reads_past_k(a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, BLOCK_M: tl.constexpr,
                 BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    tiles_n = tl.cdiv(N, BLOCK_N)
    rows = tl.program_id(0) // tiles_n * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(0) % tiles_n * BLOCK_N + tl.arange(0, BLOCK_N)
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        ks = k + tl.arange(0, BLOCK_K)
        a_tile = tl.load(a + rows[:, None] * stride_am + ks[None, :] * stride_ak,
                         mask=rows[:, None] < M, other=0.0)
        b_tile = tl.load(b + ks[:, None] * stride_bk + columns[None, :] * stride_bn,
                         mask=(ks[:, None] < K) & (columns[None, :] < N), other=0.0)
        sums = tl.dot(a_tile, b_tile, sums)
    tl.store(c + rows[:, None] * N + columns[None, :], sums.to(c.dtype.element_ty),
             mask=(rows[:, None] < M) & (columns[None, :] < N))
