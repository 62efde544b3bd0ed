"""ONNX graphs as MLIR, by IREE's importer; weights may stay outside or be one number each."""
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
from onnx import helper

from builder import GLOBAL_STAYS

PARAMETER = re.compile(r"util\.global private @(\S+) = #\w+\.parameter\.named<[^>]*> : (tensor<.*>)")


def write(graph, path):
    """Weights that the graph has are in the file; those that it lacks are parameters of it."""
    with tempfile.TemporaryDirectory() as folder:
        onnx = pathlib.Path(folder) / f"{graph.name}.onnx"
        graph.write(onnx)
        command = [sys.executable, "-m", "iree.compiler.tools.import_onnx", onnx, "-o", path]
        if graph.weight_inputs:
            command += ["--externalize-params", "--no-save-params",
                        f"--externalize-inputs-threshold={len(graph.inputs)}",
                        f"--num-elements-threshold={1 << 40}"]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"the importer failed: {done.stderr.strip() or done.returncode}")


def make_splats(graph, path):
    """Puts one number in the place of each matrix among the parameters of an imported graph.

    Weights of one shape get numbers that differ in their last bits: equal ones would be merged.
    Vectors get random numbers. Were they one number too, the elements of a row would all be equal, so
    that a norm would divide rounding errors by nothing, and f16 would be wrong by as much as it is.
    """
    element = helper.tensor_dtype_to_np_dtype(graph.element)
    integer = numpy.dtype(f"u{element.itemsize}")
    random = numpy.random.default_rng(0)
    taken = set()

    def splat(match):
        name, shape = match.groups()
        sizes = [int(size) for size in re.findall(r"(\d+)x", shape)]
        length = max(sizes, default=1)
        if math.prod(sizes) == length:
            # Norms' scales are near 1, biases and shifts near 0; in few steps, which pack well.
            data = graph.splats[name] + random.integers(-8, 9, length) / 64
            return (f"util.global private @{name} {GLOBAL_STAYS} = "
                    f'dense<"0x{data.astype(element).tobytes().hex().upper()}"> : {shape}')
        bits = int(numpy.array(graph.splats[name], element).view(integer))
        while (shape, bits) in taken:
            bits += 1
        taken.add((shape, bits))
        return (f"util.global private @{name} {GLOBAL_STAYS} = "
                f"dense<0x{bits:0{2 * element.itemsize}X}> : {shape}")

    path.write_text(PARAMETER.sub(splat, path.read_text()))
