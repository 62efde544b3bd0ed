#!/usr/bin/env python3
"""Triton kernels compiled for gfx942 and launched through the HIP library of tests/amd, against numpy.

usage: emulated_triton.py --hip FOLDER [--keep FOLDER] [--only WORD]

Exit status: 0 all are right, 1 some are not, 3 Triton is missing. --keep FOLDER writes the code objects.
"""
import argparse
import contextlib
import ctypes
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))


class Device:
    """The calls of HIP that a launch needs."""

    def __init__(self, folder):
        self.hip = ctypes.CDLL(str(pathlib.Path(folder) / "libamdhip64.so.7"))
        self.check(self.hip.hipInit(0))

    def check(self, error):
        if error != 0:
            raise RuntimeError(f"HIP error {error}")

    def upload(self, array):
        pointer = ctypes.c_void_p()
        self.check(self.hip.hipMalloc(ctypes.byref(pointer), ctypes.c_size_t(array.nbytes)))
        self.check(self.hip.hipMemcpyHtoD(pointer, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)))
        return pointer

    def download(self, pointer, like):
        import numpy
        array = numpy.empty_like(like)
        self.check(self.hip.hipMemcpyDtoH(ctypes.c_void_p(array.ctypes.data), pointer, ctypes.c_size_t(array.nbytes)))
        return array

    def free(self, pointer):
        self.check(self.hip.hipFree(pointer))

    @contextlib.contextmanager
    def loaded(self, image, name):
        """The function of a code object."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.hip.hipModuleLoadData(ctypes.byref(module), image))
        self.check(self.hip.hipModuleGetFunction(ctypes.byref(function), module, name.encode()))
        yield function
        self.check(self.hip.hipModuleUnload(module))

    def launch(self, function, grid, threads, shared, values):
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
        self.check(self.hip.hipModuleLaunchKernel(function, *grid, threads, 1, 1, shared, None, pointers, None))
        self.check(self.hip.hipDeviceSynchronize())


SPELLED = {"float32": "*fp32", "float16": "*fp16", "bfloat16": "*bf16", "float8_e4m3fnuz": "*fp8e4b8",
           "float8_e5m2fnuz": "*fp8e5b16", "int8": "*i8", "int32": "*i32"}


def compiled(kernel, arguments, constants, **options):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    names = kernel.arg_names
    signature = {}
    for name, value in zip(names, arguments):
        signature[name] = SPELLED[str(value.dtype)] if hasattr(value, "dtype") else "fp32" if isinstance(value, float) else "i32"
    signature |= {name: "constexpr" for name in constants}
    attributes = {(index,): [["tt.divisibility", 16]] for index, value in enumerate(arguments)
                  if hasattr(value, "dtype") or (isinstance(value, int) and value % 16 == 0)}
    source = ASTSource(kernel, signature, constexprs=constants, attrs=attributes)
    return triton.compile(source, target=GPUTarget("hip", "gfx942", 64), options=options)


def cases():
    """(name, kernel, arguments, index of the result, constants, grid, options, expected, tolerance)"""
    import ml_dtypes
    import numpy
    import triton_kernels as kernels
    random = numpy.random.default_rng(3)
    normal = lambda *shape: random.standard_normal(shape).astype(numpy.float32)
    small = lambda *shape: random.integers(-3, 4, shape)
    x, y = normal(1000), normal(1000)
    yield "add", kernels.add, [x, y, numpy.zeros_like(x), 1000], 2, {"BLOCK": 256}, (4, 1, 1), {}, x + y, 0
    from math import erf
    half = x.astype(numpy.float16)
    wide = half.astype(numpy.float32)
    yield ("gelu", kernels.gelu, [half, numpy.zeros_like(half), 1000], 1, {"BLOCK": 512}, (2, 1, 1), {},
           0.5 * wide * (1 + numpy.vectorize(erf)(wide * 0.70710678)), 2e-3)
    rows = normal(7, 300)
    exponents = numpy.exp(rows - rows.max(1, keepdims=True))
    yield ("softmax", kernels.softmax, [rows, numpy.zeros_like(rows), 300], 1, {"BLOCK": 512}, (7, 1, 1), {},
           exponents / exponents.sum(1, keepdims=True), 1e-6)
    scale = normal(300)
    centred = rows - rows.mean(1, keepdims=True)
    yield ("layer norm", kernels.layer_norm, [rows, scale, numpy.zeros_like(rows), 300], 2, {"BLOCK": 512}, (7, 1, 1),
           {"num_warps": 8}, centred / numpy.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * scale, 1e-5)
    integers = random.integers(-1000, 1000, (5, 200)).astype(numpy.int32)
    yield ("cumulative sum", kernels.cumulative_sum, [integers, numpy.zeros_like(integers), 200], 1, {"BLOCK": 256}, (5, 1, 1),
           {}, integers.cumsum(1), 0)
    yield ("sort", kernels.sort_rows, [integers, numpy.zeros_like(integers), 200], 1, {"BLOCK": 256}, (5, 1, 1), {},
           numpy.sort(integers, 1), 0)
    bins = random.integers(0, 10, 3000).astype(numpy.int32)
    yield ("histogram", kernels.histogram, [bins, numpy.zeros(10, numpy.int32), 3000], 1, {"BLOCK": 1024}, (3, 1, 1), {},
           numpy.bincount(bins, minlength=10), 0)
    types = {"f16": numpy.float16, "bf16": ml_dtypes.bfloat16, "f32 (xf32)": numpy.float32, "fp8": ml_dtypes.float8_e4m3fnuz,
             "bf8": ml_dtypes.float8_e5m2fnuz, "i8": numpy.int8}
    shapes = [((96, 80, 100), (64, 64, 32), 1, {}), ((128, 128, 128), (128, 64, 64), 1, {"num_stages": 2, "num_warps": 8}),
              ((33, 47, 200), (32, 32, 64), 4, {"matrix_instr_nonkdim": 16}), ((64, 64, 64), (64, 64, 64), 1, {"matrix_instr_nonkdim": 32, "kpack": 2})]
    for word, dtype in types.items():
        for (m, n, k), (bm, bn, bk), split, options in shapes:
            if word == "i8" and split > 1:
                continue
            a, b = small(m, k).astype(dtype), small(k, n).astype(dtype)
            result = numpy.zeros((m, n), numpy.int32 if word == "i8" else numpy.float32)
            constants = {"BM": bm, "BN": bn, "BK": bk, "SPLIT": split}
            grid = ((m + bm - 1) // bm, (n + bn - 1) // bn, split)
            yield (f"matmul {word} {m}x{n}x{k} split {split}", kernels.matmul, [a, b, result, m, n, k], 2, constants, grid, options,
                   a.astype(numpy.float32) @ b.astype(numpy.float32), 0)
    for word, dtype in (("f16", numpy.float16), ("bf16", ml_dtypes.bfloat16)):
        q, k, v = (normal(100, 64).astype(dtype) for _ in range(3))
        scores = q.astype(numpy.float32) @ k.astype(numpy.float32).T * 0.125
        weights = numpy.exp(scores - scores.max(1, keepdims=True))
        weights /= weights.sum(1, keepdims=True)
        yield (f"attention {word}", kernels.attention, [q, k, v, numpy.zeros_like(q), 100, 0.125], 3,
               {"D": 64, "BM": 64, "BN": 32}, (2, 1, 1), {}, weights @ v.astype(numpy.float32), 2e-2 if word == "bf16" else 2e-3)


def run(device, arguments, result, name, image, grid, metadata):
    pointers = [device.upload(value) if hasattr(value, "dtype") else value for value in arguments]
    values = [each if isinstance(each, ctypes.c_void_p) else ctypes.c_float(each) if isinstance(each, float)
              else ctypes.c_int32(each) for each in pointers]
    # Two null pointers: Triton's scratch memories.
    values += [ctypes.c_void_p(), ctypes.c_void_p()]
    with device.loaded(image, name) as function:
        device.launch(function, grid, 64 * metadata.num_warps, metadata.shared, values)
    return device.download(pointers[result], arguments[result])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hip", required=True)
    parser.add_argument("--keep")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    try:
        import triton  # noqa: F401
    except ImportError:
        print("Triton is missing: scripts/setup")
        return 3
    import numpy
    device = Device(options.hip)
    failed = count = 0
    for name, kernel, arguments, result, constants, grid, more, expected, tolerance in cases():
        if options.only not in name:
            continue
        count += 1
        binary = compiled(kernel, arguments, constants, **more)
        if options.keep:
            pathlib.Path(options.keep, name.replace(" ", "_") + ".hsaco").write_bytes(binary.asm["hsaco"])
        got = run(device, arguments, result, binary.metadata.name, binary.asm["hsaco"], grid, binary.metadata)
        worst = numpy.abs(got.astype(numpy.float64) - expected).max()
        if not worst <= tolerance:
            failed += 1
            print(f"FAILED {name}: {worst} away")
    print(f"{count - failed} of {count} Triton kernels right")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
