"""What the GEMM kernels share. C[m, n] = sum over k of A[m, k] * B[k, n] (+ bias[n]).

A, B and C are dense. A_ROWS: A is stored row by row (m x k), else column by column (k x m); B_ROWS and C_ROWS
likewise. EVEN_K: the step divides k, so that loads along k need no mask.
"""
import triton
import triton.language as tl


@triton.jit
def grouped_tile(tile, M, N, GROUP_M, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """Row and column of tile number `tile`. GROUP_M rows of tiles are walked column by column, so that the
    tiles in flight share rows of A and columns of B in the L2 cache."""
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    tiles_of_group = GROUP_M * tiles_n
    first_m = tile // tiles_of_group * GROUP_M
    group_m = min(tiles_m - first_m, GROUP_M)
    within = tile % tiles_of_group
    return first_m + within % group_m, within // group_m


@triton.jit
def tile_product(a, b, M, N, K, tile_m, tile_n, k_begin, k_end, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                 BLOCK_K: tl.constexpr, A_ROWS: tl.constexpr, B_ROWS: tl.constexpr, EVEN_K: tl.constexpr,
                 ACCUMULATE: tl.constexpr, PRECISION: tl.constexpr):
    """The product of one tile over k in [k_begin, k_end). k_begin is a multiple of BLOCK_K."""
    # Rows beyond the last wrap round: in bounds, and what comes of them is not stored.
    rows = ((tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M).to(tl.int64)
    columns = ((tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N).to(tl.int64)
    ks = k_begin + tl.arange(0, BLOCK_K)
    if A_ROWS:
        a_at = a + rows[:, None] * K + ks[None, :]
    else:
        a_at = a + rows[:, None] + ks[None, :].to(tl.int64) * M
    if B_ROWS:
        b_at = b + ks[:, None].to(tl.int64) * N + columns[None, :]
    else:
        b_at = b + ks[:, None] + columns[None, :] * K
    # Without this ptxas waits for each product before the next: it sees sums that come from elsewhere.
    tl.assume(k_begin < k_end)
    NOTHING: tl.constexpr = 0.0 if a.dtype.element_ty.is_floating() else 0
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=ACCUMULATE)
    for k in range(k_begin, k_end, BLOCK_K):
        if EVEN_K:
            a_tile = tl.load(a_at)
            b_tile = tl.load(b_at)
        else:
            inside = tl.arange(0, BLOCK_K) < k_end - k
            a_tile = tl.load(a_at, mask=inside[None, :], other=NOTHING)
            b_tile = tl.load(b_at, mask=inside[:, None], other=NOTHING)
        sums = tl.dot(a_tile, b_tile, sums, input_precision=PRECISION, out_dtype=ACCUMULATE)
        a_at += BLOCK_K if A_ROWS else BLOCK_K * M
        b_at += BLOCK_K * N if B_ROWS else BLOCK_K
    return sums


@triton.jit
def store_tile(c, bias, sums, M, N, tile_m, tile_n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
               C_ROWS: tl.constexpr, HAS_BIAS: tl.constexpr):
    """Adds the bias and writes what lies inside C, in C's type."""
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    if HAS_BIAS:
        sums += tl.load(bias + columns, mask=columns < N, other=0).to(sums.dtype)[None, :]
    if C_ROWS:
        at = c + rows[:, None].to(tl.int64) * N + columns[None, :]
    else:
        at = c + rows[:, None] + columns[None, :].to(tl.int64) * M
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(at, sums.to(c.dtype.element_ty), mask=inside)
