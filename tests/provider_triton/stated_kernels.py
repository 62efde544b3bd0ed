"""What the tests of kernels for a program's dispatches share: statements, and running kernels in Triton's interpreter.

Triton interprets or compiles by an environment variable that it reads when it is imported, so a test's file is run once
more for the numbers: main(). With HONE_EMULATED_HIP, the folder of the emulating HIP library (tests/amd), `Numbers` are
those of code for gfx942.
"""
import ctypes
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src/provider/triton/python"), str(ROOT / "src/provider/triton/kernels")]
sys.dont_write_bytecode = True
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
EMULATED = os.environ.get("HONE_EMULATED_HIP", "")
HAS_NUMBERS = INTERPRETED or bool(EMULATED)
FOLDER = tempfile.TemporaryDirectory(prefix="hone-stated-")
if not INTERPRETED:
    os.environ["TRITON_CACHE_DIR"] = FOLDER.name

import triton.language as tl
from triton.runtime.interpreter import TensorHandle

from problem import Device

H100 = Device("cuda", "90", 132, 232448)
MI300X = Device("hip", "gfx942", 304, 65536)
ROOT_VALUE = {"op": "root", "type": "f32", "operands": []}


def operation(name, type_, *operands, **more):
    return {"op": name, "type": type_, "operands": list(operands)} | more


def constant(value, type_="f32"):
    return operation("constant", type_, value=value)


def access(view, type_, *strides, offset=0, **more):
    return {"view": view, "type": type_, "offset": offset, "strides": list(strides)} | more


def load(*arguments, **more):
    return access(*arguments, **more) | {"op": "load", "operands": []}


def view(binding, offset=0, words=(), multiple=64):
    return {"binding": binding, "offset": offset, "words": list(words), "multiple": multiple}


class Buffer:
    """An array as a GPU's tensor: what Triton's interpreter asks of one."""

    def __init__(self, array):
        self.array = array
        self.dtype = {"bool": "i1"}.get(str(array.dtype), str(array.dtype))

    def data_ptr(self):
        return self.array.ctypes.data

    def untyped_storage(self):
        return self

    def cpu(self):
        return self

    def new_empty(self, *_, **__):
        return self

    def storage_offset(self):
        return 0

    def size(self):
        return self.array.shape

    def stride(self):
        return self.array.strides

    def set_(self, *_):
        pass

    def copy_(self, _):
        pass


class Library:
    """In place of the GPU's library of functions, which the interpreter does not have."""

    def __getattr__(self, name):
        function = {"pow": numpy.power, "erf": numpy.vectorize(math.erf, otypes=[numpy.float32]),
                    "round": lambda x: numpy.copysign(numpy.floor(numpy.abs(x) + 0.5), x), "atan": numpy.arctan,
                    "atan2": numpy.arctan2, "rsqrt": lambda x: 1 / numpy.sqrt(x)}.get(name) or getattr(numpy, name)

        def compute(*operands):
            numbers = function(*(each.handle.data for each in operands)).astype(numpy.float32)
            shape = [int(each) for each in numbers.shape]
            return tl.tensor(TensorHandle(numbers, tl.float32), tl.block_type(tl.float32, shape))
        return compute


def run(kind, said, bindings, constants, knobs):
    """The kernel on these arrays, which it changes. It is launched twice, since what it has of its own stays as the
    launch before left it."""
    made = kind(said, pathlib.Path(FOLDER.name))
    knobs = made.default | knobs
    if EMULATED:
        emulated(made, bindings, constants, knobs)
        return
    kernel = made.load(made.source(knobs))
    kernel.fn.__globals__["libdevice"] = Library()
    own = [numpy.array(each["words"], numpy.uint32).view(numpy.float16) for each in made.tables]
    if made.scratch_bytes(knobs):
        own.append(numpy.zeros(made.scratch_bytes(knobs) // 4, numpy.int32 if made.scratch_type() == "i32" else
                               numpy.float32))
    for _ in range(2):
        kernel[made.grid(knobs, H100)](*map(Buffer, bindings), *constants, *map(Buffer, own))


def emulated(made, bindings, constants, knobs):
    if made.has_descriptors(knobs) or knobs.get("PRECISION", 0) > 1:
        raise unittest.SkipTest("gfx942 has no tensor descriptors, nor products of tf32 in parts")
    sys.path.insert(0, str(ROOT / "tests/amd"))
    from emulated_triton import Device as EmulatedDevice
    answer, code = made.compile(knobs, MI300X, "")
    launch = answer["launch"]
    device = EmulatedDevice(EMULATED)
    # A binding may begin within an array.
    whole = [each if each.base is None else each.base for each in bindings]
    buffers = [device.upload(each) for each in whole]
    values = [ctypes.c_void_p(buffer.value + each.ctypes.data - of.ctypes.data)
              for each, of, buffer in zip(bindings, whole, buffers)] + [ctypes.c_int32(each) for each in constants]
    with device.loaded(code, launch["entry"]) as function:
        for _ in range(2):
            device.launch(function, launch["grid"], launch["block"][0], launch["shared_bytes"], values)
    for each, buffer in zip(whole, buffers):
        each[...] = device.download(buffer, each)
        device.free(buffer)


def numbers(*shape, seed=0, type_=numpy.float16):
    """Multiples of 1/8 within 1, whose products and sums are exact in f32."""
    generator = numpy.random.default_rng([seed, *shape])
    if type_ == numpy.int8:
        return generator.integers(-128, 128, shape, type_)
    return (generator.integers(-8, 9, shape) / 8).astype(type_)


def f32(array):
    return array.astype(numpy.float32)


class Compiles(unittest.TestCase):
    """`kind`: of the kernels; `knobs`: theirs, unless a test says others."""

    kind = None
    knobs = {}

    def compiled(self, said, knobs=None, assemble_for="", device=H100):
        made = self.kind(said, pathlib.Path(FOLDER.name))
        return made.compile(self.knobs | (knobs or {}), device, assemble_for)

    def ptx(self, said, parameters, knobs=None):
        """The PTX, which the assembler takes and which is launched as IREE launches."""
        answer, code = self.compiled(said, knobs)
        text = code.decode()
        self.assertEqual(answer["format"], "cuda-ptx")
        listed = re.findall(r"\.entry ([\w$]+)\(([^)]*)\)", text)
        self.assertEqual([name for name, _ in listed], ["main_async_dispatch_0"])
        self.assertEqual(answer["launch"]["entry"], "main_async_dispatch_0")
        self.assertEqual(re.findall(r"\.param \.(\w+)", listed[0][1]), parameters)
        read = {int(each) for each in re.findall(r"main_async_dispatch_0_param_(\d+)", text)}
        self.assertLessEqual(max(read), len(parameters) - 1)
        self.assertFalse(self.kind.name in text)
        self.assertTrue(".version 8.3" in text)
        # It is the same text wherever it is made.
        self.assertFalse(FOLDER.name in text)
        self.assertFalse(re.search(r"\.loc\b", text))
        answer, code = self.compiled(said, knobs, "sm_90")
        self.assertEqual(answer["format"], "cuda-cubin")
        self.assertEqual(code[:4], b"\x7fELF")
        self.assertGreater(answer["stages"]["assemble"], 0)
        return text

    def assert_pipelined(self, text, instruction="wgmma.mma_async"):
        self.assertTrue(instruction in text, instruction)
        copies = re.findall(r"cp\.async\.c[ag]\.shared\.global .*?, 0x([0-9a-f]+)", text)
        self.assertEqual(set(copies), {"10"})

    def refusal(self, said, knobs=None, device=H100):
        with self.assertRaises(ValueError) as raised:
            self.compiled(said, knobs, device=device)
        return str(raised.exception)


def interpreted(test, file):
    """Runs the file's numbers."""
    done = subprocess.run([sys.executable, "-B", file, "Numbers"], env=os.environ | {"TRITON_INTERPRET": "1"},
                          capture_output=True, text=True, check=False)
    test.assertEqual(done.returncode, 0, done.stderr)


def main():
    if not HAS_NUMBERS and any(each.startswith("Numbers") for each in sys.argv[1:]):
        os.execve(sys.executable, [sys.executable, "-B", *sys.argv], os.environ | {"TRITON_INTERPRET": "1"})
    unittest.main()
