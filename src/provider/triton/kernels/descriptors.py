"""What the kernels with tensor descriptors (TMA) share: the hardware fetches whole tiles and fills what lies
outside with zeros. For NVIDIA sm_90 and later; the rows of A, B and C must be whole multiples of 16 bytes.

The descriptors are made by whoever launches: blocks [BLOCK_M, BLOCK_K] of A (stored [BLOCK_K, BLOCK_M] where A is
stored by columns), likewise B [BLOCK_K, BLOCK_N], and of C [BLOCK_M, BLOCK_N >> SPLIT_STORE]: C is written in
1 << SPLIT_STORE pieces, side by side, which takes less shared memory.
"""
import triton
import triton.language as tl


@triton.jit
def add_product(sums, a, b, row, column, k, A_ROWS: tl.constexpr, B_ROWS: tl.constexpr, ACCUMULATE: tl.constexpr,
                PRECISION: tl.constexpr):
    """sums + the product of one step along k."""
    a_tile = a.load([row, k]) if A_ROWS else a.load([k, row]).T
    b_tile = b.load([k, column]) if B_ROWS else b.load([column, k]).T
    return tl.dot(a_tile, b_tile, sums, input_precision=PRECISION, out_dtype=ACCUMULATE)


@triton.jit
def add_bias(sums, bias, row, column, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
             BIAS_OF_ROWS: tl.constexpr):
    """The bias belongs to columns of C, or to its rows where the product is computed transposed."""
    if BIAS_OF_ROWS:
        rows = row + tl.arange(0, BLOCK_M)
        return sums + tl.load(bias + rows, mask=rows < M, other=0).to(sums.dtype)[:, None]
    columns = column + tl.arange(0, BLOCK_N)
    return sums + tl.load(bias + columns, mask=columns < N, other=0).to(sums.dtype)[None, :]


@triton.jit
def left_and_right(tile, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    return tl.split(tl.permute(tl.reshape(tile, (BLOCK_M, 2, BLOCK_N // 2)), (0, 2, 1)))


@triton.jit
def store_piece(c, piece, row, column, C_ROWS: tl.constexpr, STORE: tl.constexpr):
    if C_ROWS:
        c.store([row, column], piece.to(STORE))
    else:
        c.store([column, row], piece.to(STORE).T)


@triton.jit
def store_pieces(c, sums, row, column, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, C_ROWS: tl.constexpr,
                 SPLIT_STORE: tl.constexpr, STORE: tl.constexpr):
    """Writes a tile of C, in C's type; the hardware leaves out what lies outside C."""
    if SPLIT_STORE:
        left, right = left_and_right(sums, BLOCK_M, BLOCK_N)
        store_pieces(c, left, row, column, BLOCK_M, BLOCK_N // 2, C_ROWS, SPLIT_STORE - 1, STORE)
        store_pieces(c, right, row, column + BLOCK_N // 2, BLOCK_M, BLOCK_N // 2, C_ROWS, SPLIT_STORE - 1, STORE)
    else:
        store_piece(c, sums, row, column, C_ROWS, STORE)
