"""Triton kernels for gfx942: their sources, signatures and launches. Used by emulated_triton.py."""
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, at < n, 0) + tl.load(y + at, at < n, 0), at < n)


@triton.jit
def gelu(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, at < n, 0).to(tl.float32)
    tl.store(out + at, (0.5 * value * (1 + tl.erf(value * 0.70710678))).to(out.dtype.element_ty), at < n)


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + at, at < columns, -float("inf"))
    value = tl.exp(value - tl.max(value, 0))
    tl.store(out + row * columns + at, value / tl.sum(value, 0), at < columns)


@triton.jit
def layer_norm(x, scale, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + at, at < columns, 0)
    mean = tl.sum(value, 0) / columns
    centred = tl.where(at < columns, value - mean, 0)
    deviation = tl.sum(centred * centred, 0) / columns
    result = centred * tl.rsqrt(deviation + 1e-5) * tl.load(scale + at, at < columns, 0)
    tl.store(out + row * columns + at, result, at < columns)


@triton.jit
def cumulative_sum(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + at, at < columns, 0)
    tl.store(out + row * columns + at, tl.cumsum(value, 0), at < columns)


@triton.jit
def sort_rows(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + at, at < columns, 2147483647)
    tl.store(out + row * columns + at, tl.sort(value), at < columns)


@triton.jit
def histogram(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, at < n, 0)
    tl.atomic_add(out + value, 1, at < n)


@triton.jit
def matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.program_id(2) * BK + tl.arange(0, BK)
    sums = tl.zeros((BM, BN), tl.float32 if a.dtype.element_ty != tl.int8 else tl.int32)
    for start in range(0, tl.cdiv(k, BK * SPLIT)):
        inner = depth + start * BK * SPLIT
        left = tl.load(a + rows[:, None] * k + inner[None, :], (rows[:, None] < m) & (inner[None, :] < k), 0.0)
        right = tl.load(b + inner[:, None] * n + columns[None, :], (inner[:, None] < k) & (columns[None, :] < n), 0.0)
        sums = tl.dot(left, right, sums, out_dtype=sums.dtype)
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    at = c + rows[:, None] * n + columns[None, :]
    if SPLIT == 1:
        tl.store(at, sums.to(c.dtype.element_ty), inside)
    else:
        tl.atomic_add(at, sums, inside)


@triton.jit
def attention(q, k, v, out, length, sharpness, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    column = tl.arange(0, D)
    query = tl.load(q + rows[:, None] * D + column[None, :], rows[:, None] < length, 0.0)
    largest = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    sums = tl.zeros((BM, D), tl.float32)
    for start in range(0, length, BN):
        keys = start + tl.arange(0, BN)
        key = tl.load(k + keys[None, :] * D + column[:, None], keys[None, :] < length, 0.0)
        score = tl.where(keys[None, :] < length, tl.dot(query, key) * sharpness, -float("inf"))
        higher = tl.maximum(largest, tl.max(score, 1))
        weight = tl.exp(score - higher[:, None])
        shrink = tl.exp(largest - higher)
        total = total * shrink + tl.sum(weight, 1)
        value = tl.load(v + keys[:, None] * D + column[None, :], keys[:, None] < length, 0.0)
        sums = sums * shrink[:, None] + tl.dot(weight.to(value.dtype), value)
        largest = higher
    tl.store(out + rows[:, None] * D + column[None, :], (sums / total[:, None]).to(out.dtype.element_ty),
             rows[:, None] < length)
