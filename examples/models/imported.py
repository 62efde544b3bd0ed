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


class Splats:
    """Numbers in the place of weights, drawn in their order: one for each matrix, random ones for each vector.

    Weights of one shape get numbers that differ in their last bits: equal ones would be merged.
    Were a vector one number too, the elements of a row would all be equal, so that a norm would divide
    rounding errors by nothing, and f16 would be wrong by as much as it is.
    """

    def __init__(self, element):
        self.dtype = helper.tensor_dtype_to_np_dtype(element)
        self.random = numpy.random.default_rng(0)
        self.taken = set()

    def draw(self, shape, value):
        """The elements of a vector, or an array of the one number that fills a matrix."""
        length = max(shape, default=1)
        if math.prod(shape) == length:
            # Norms' scales are near 1, biases and shifts near 0; in few steps, which pack well.
            return (value + self.random.integers(-8, 9, length) / 64).astype(self.dtype)
        integer = numpy.dtype(f"u{self.dtype.itemsize}")
        bits = int(numpy.array(value, self.dtype).view(integer))
        while (shape, bits) in self.taken:
            bits += 1
        self.taken.add((shape, bits))
        return numpy.array(bits, integer).view(self.dtype)


def make_splats(graph, path):
    """Puts Splats in the place of the parameters of an imported graph."""
    splats = Splats(graph.element)

    def splat(match):
        name, kind = match.groups()
        data = splats.draw(tuple(int(size) for size in re.findall(r"(\d+)x", kind)), graph.splats[name])
        # Little-endian for a list of elements, a number for a splat.
        text = f'"0x{data.tobytes().hex().upper()}"' if data.ndim else f"0x{data.tobytes()[::-1].hex().upper()}"
        return f"util.global private @{name} {GLOBAL_STAYS} = dense<{text}> : {kind}"

    path.write_text(PARAMETER.sub(splat, path.read_text()))
