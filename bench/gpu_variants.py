"""Ways to run a model for bench/gpu_models.py, in processes that stay: modules of IREE and networks of PyTorch."""
import argparse
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile

import numpy
from onnx import helper

from models import ROOT, TARGET, Failed
from resident_programs import Resident

sys.path.insert(0, str(ROOT / "examples/models"))
from builder import Graph
from make import MODELS

STEP_SECONDS = 3600  # most that a step may take
LONGEST_ANSWER = 120  # of a process that is ready, in seconds
# The library has iree-compile's main function; the program itself need not be there.
COMPILE = """
import ctypes, sys
words = [b"iree-compile", *(word.encode() for word in sys.argv[2:])]
sys.exit(ctypes.CDLL(sys.argv[1]).ireeCompilerRunMain(len(words), (ctypes.c_char_p * len(words))(*words)))
"""


def run_in(folder, words, needs=None):
    """Standard output of a command run in a folder; `needs` is a file that tells its success, not the exit status."""
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True,
                          timeout=STEP_SECONDS, check=False)
    if not needs.exists() if needs else done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise Failed(next((line for line in lines if "error" in line), lines[0])[:300])
    return done.stdout


def make_inputs(what, folder):
    """Files with random numbers for the inputs of a model, and how many outputs it has."""
    graph = Graph(what["model"], what["element"], has_weights=False)
    MODELS[what["model"]][0](graph, **what["sizes"])
    numbers, files = numpy.random.default_rng(1), []
    for value in graph.inputs:
        kind = value.type.tensor_type
        data = numbers.standard_normal([size.dim_value for size in kind.shape.dim], numpy.float32)
        files.append((folder / f"input{len(files)}_{value.name}.npy").resolve())
        numpy.save(files[-1], data.astype(helper.tensor_dtype_to_np_dtype(kind.elem_type)))
    return files, len(graph.outputs)


def error_of(outputs, truth):
    """Largest share that the root mean square error of an output has of the output's own; none if not finite."""
    shares = []
    for got, wanted in zip(outputs, truth, strict=True):
        got, wanted = got.astype(numpy.float64), wanted.astype(numpy.float64)
        if got.shape != wanted.shape or not numpy.isfinite(got).all():
            return None
        shares.append(numpy.sqrt(((got - wanted) ** 2).mean() / (wanted**2).mean()))
    return float(max(shares))


def iree_packages():
    """Folder of Python packages with IREE: HONE_IREE, or that of an environment there or in .venv; none without."""
    places = [pathlib.Path(os.environ["HONE_IREE"]).resolve()] if os.environ.get("HONE_IREE") else [ROOT / ".venv"]
    places += places[0].glob("lib/python3*/site-packages")
    return next((place for place in places if (place / "iree/_runtime_libs").exists()), None)


class Iree:
    """IREE of options.packages."""

    def __init__(self, options, function, inputs, outputs):
        self.packages = options.packages
        self.tools = self.packages / "iree/_runtime_libs"
        self.function, self.inputs, self.outputs_count = function, inputs, outputs
        if options.device == "cpu":
            self.device, self.default_flags = "local-task", TARGET
        else:
            kind, _, index = options.device.partition(":")
            self.device = kind if index in ("", "0") else f"{kind}://{index}"
            self.default_flags = ["--iree-hal-target-device=cuda", f"--iree-cuda-target={options.target}"]
        self.resident = None

    def compile(self, words, module, folder):
        library = self.packages / "iree/compiler/_mlir_libs/libIREECompiler.so"
        part = module.with_suffix(".part")
        run_in(folder, [sys.executable, "-c", COMPILE, library, *words, "-o", part])
        part.rename(module)

    def sample(self, module, seconds):
        try:
            if self.resident is None:
                self.resident = Resident(argparse.Namespace(
                    packages=self.packages, device=self.device, flags=[], parameters=[], module=module,
                    function=self.function, input=[str(file) for file in self.inputs], seconds=seconds), [])
            return self.resident.sample(module=str(module), seconds=seconds)
        except (Failed, OSError):
            self.end()
            raise

    def outputs(self, module):
        with tempfile.TemporaryDirectory() as folder:
            files = [pathlib.Path(folder) / f"{number}.npy" for number in range(self.outputs_count)]
            run_in(folder, [self.tools / "iree-run-module", f"--device={self.device}", f"--module={module}",
                            f"--function={self.function}", *(f"--input=@{file}" for file in self.inputs),
                            *(f"--output=@{file}" for file in files)])
            return [numpy.load(file) for file in files]

    def end(self):
        if self.resident is not None:
            self.resident.process.kill()
            self.resident.process.wait()
        self.resident = None


class Torch:
    """One way of PyTorch to run a model (bench/torch_networks.py); failed unless ready within `limit` seconds."""

    def __init__(self, options, what, inputs, mode, limit):
        settings = {**what, "inputs": [str(file) for file in inputs], "mode": mode, "device": options.device}
        # A later call finds what this one has compiled.
        environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(options.work / "inductor")}
        command = [options.torch, "-B", ROOT / "bench/torch_networks.py", json.dumps(settings)]
        self.log = options.work / "torch.log"
        with self.log.open("a") as log:
            self.process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=log, env=environment)
        self.started = self.answer(limit)

    def answer(self, limit):
        if not select.select([self.process.stdout], [], [], limit)[0]:
            self.end()
            raise Failed(f"no answer within {limit:.0f} s")
        text = self.process.stdout.readline()
        said = json.loads(text) if text else {"error": "\n".join(self.log.read_text().splitlines()[-1:]) or "it ended"}
        if "error" in said:
            self.end()
            raise Failed(said["error"])
        return said

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self.answer(LONGEST_ANSWER)

    def sample(self, seconds):
        return self.ask(time=seconds)["seconds"]

    def outputs(self):
        with tempfile.TemporaryDirectory() as folder:
            self.ask(outputs=folder)
            count = len(list(pathlib.Path(folder).iterdir()))
            return [numpy.load(f"{folder}/output{number}.npy") for number in range(count)]

    def end(self):
        self.process.kill()
        self.process.wait()
