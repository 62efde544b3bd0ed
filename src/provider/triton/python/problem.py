"""What is compiled: a GEMM, the GPU it is for, and one kernel launch of the code that computes it."""
import dataclasses

import triton.language as tl
from triton.backends.compiler import GPUTarget

# Triton's names of an element type in a signature and in code, and its number of bits, by hone's
# name.
TYPES = {
    "f16": ("fp16", tl.float16, 16),
    "bf16": ("bf16", tl.bfloat16, 16),
    "f32": ("fp32", tl.float32, 32),
    "f8E4M3FN": ("fp8e4nv", tl.float8e4nv, 8),
    "f8E5M2": ("fp8e5", tl.float8e5, 8),
    "f8E4M3FNUZ": ("fp8e4b8", tl.float8e4b8, 8),
    "f8E5M2FNUZ": ("fp8e5b16", tl.float8e5b16, 8),
    "i8": ("i8", tl.int8, 8),
    "i32": ("i32", tl.int32, 32),
}


@dataclasses.dataclass(frozen=True)
class Gemm:
    """C[m, n] = sum over k of A[m, k] * B[k, n] (+ bias[n]), for each matrix of a batch; all dense."""

    m: int
    n: int
    k: int
    a: str  # element types, hone's names
    b: str
    c: str
    batch: int = 1
    a_rows: bool = True  # stored row by row, else column by column
    b_rows: bool = True
    c_rows: bool = True
    bias: str = ""  # its element type; empty: none
    accumulate: str = "f32"
    precision: str = "ieee"  # of products of f32: ieee or tf32
    transposed: bool = False  # A is what was given as B and the other way round; the bias is one of rows

    def bindings(self):
        """The position of each operand among the kernel's buffers: inputs first, then C."""
        names = [*(["b", "a"] if self.transposed else ["a", "b"]), *(["bias"] if self.bias else []), "c"]
        return {name: position for position, name in enumerate(names)}

    def transpose(self):
        """The same product as C^T = B^T A^T."""
        return dataclasses.replace(self, m=self.n, n=self.m, a=self.b, b=self.a, a_rows=not self.b_rows,
                                   b_rows=not self.a_rows, c_rows=not self.c_rows,
                                   transposed=not self.transposed)


@dataclasses.dataclass(frozen=True)
class Device:
    """What code is compiled for. `units`: its multiprocessors or compute units; `shared_bytes`: the most shared
    memory (LDS) that one workgroup may have."""

    backend: str  # "cuda" or "hip"
    arch: str  # "90", "gfx942"
    units: int
    shared_bytes: int

    def target(self):
        if self.backend == "cuda":
            return GPUTarget("cuda", int(self.arch), 32)
        return GPUTarget("hip", self.arch, 64 if self.arch.startswith("gfx9") else 32)


@dataclasses.dataclass
class Step:
    """One kernel and its launch. `types` are those of the parameters that are passed, by name; `arguments` say
    what is passed: {"binding": i}, {"scratch": byte offset}, {"i32": value} or {"tensor_map": {...}}; `general`: those
    that are not compiled for multiples of 16, even if they are some."""

    kernel: object
    types: dict
    constants: dict
    arguments: dict
    grid: tuple
    options: dict
    scratch_bytes: int = 0
    general: frozenset = frozenset()


def cdiv(a, b):
    return -(-a // b)
