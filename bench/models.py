#!/usr/bin/env python3
"""Whole models on a CPU: IREE's default, the flag sets that everybody knows, `hone flags`, `hone tune`,
and other runtimes beside them, in interleaved rounds.

usage: bench/models.py [--hone FILE] [--only MODEL ...] [--threads 2] [--flags 2m] [--tune 10m]
                       [--rounds 12] [--peers PYTHON] [--out FOLDER]

The models are those of MODELS, made by examples/models/make.py with random weights, as ONNX. What
`hone flags` and `hone tune` leave is used as its user would: `iree-compile model.mlir
@compile_flags.txt` and `iree-benchmark-module`. --peers is a Python with onnxruntime and openvino,
which run the same .onnx on as many threads. Each round runs each once, in random order, in a process
of its own; times are medians over rounds, ratios are medians of the rounds' own ratios with the
interval that holds the median at 95 % (of order statistics). --out keeps models, stores and
samples.json, and what is there is not made again. Nothing else may run on the machine.

Exit status: 0 all was timed, 1 something was not, 2 wrong use.
"""
import argparse
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = ROOT / ".venv/bin/python"
MODELS = {"resnet50": [], "mobilenet_v2": [], "bert": ["--layers", "4"], "unet": [],
          "llama": ["--layers", "2", "--width", "1024", "--heads", "16", "--key-heads", "4",
                    "--inner", "4096"]}
KNOWN = {"default": [], "data tiling": ["--iree-opt-data-tiling"],
         "data tiling + micro-kernels": ["--iree-opt-data-tiling", "--iree-llvmcpu-enable-ukernels=all"],
         "O3": ["--iree-opt-level=O3"]}
TARGET = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
          "--iree-llvmcpu-target-cpu=host"]
PEERS = ["onnxruntime", "openvino"]
SAMPLE_SECONDS = 1.0
ENOUGH = 16

# Run by --peers: arguments are the runtime, the model, its inputs' folder and the threads.
PEER = """
import pathlib, sys, time
import numpy
runtime, model, folder, threads = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4])
files = sorted(folder.glob("input*.npy"), key=lambda each: int(each.stem[5:]))
inputs = [numpy.load(each) for each in files]
if runtime == "onnxruntime":
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feed = {each.name: data for each, data in zip(session.get_inputs(), inputs)}
    call = lambda: session.run(None, feed)
else:
    import openvino
    options = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
               "INFERENCE_PRECISION_HINT": "f32"}
    request = openvino.Core().compile_model(model, "CPU", options).create_infer_request()
    call = lambda: request.infer(inputs)
call(), call()
calls, begin = 0, time.perf_counter()
while time.perf_counter() - begin < %f:
    call()
    calls += 1
print((time.perf_counter() - begin) / calls)
""" % SAMPLE_SECONDS


class Failed(Exception):
    pass


def run(command, timeout=3600):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=timeout)
    if done.returncode not in (0, 1) or (done.returncode == 1 and not done.stdout):
        words = (done.stderr.strip().splitlines() or ["failed without a word"])[0]
        raise Failed(f"{pathlib.Path(str(command[0])).name}: {words[:300]}")
    return done.stdout


def tool(name):
    return ROOT / ".venv/bin" / name


class Model:
    """One model and what is timed of it."""

    def __init__(self, options, name):
        self.options, self.name = options, name
        self.folder = options.out / name
        self.folder.mkdir(parents=True, exist_ok=True)
        self.onnx, self.mlir = self.folder / "model.onnx", self.folder / "model.mlir"
        self.seconds, self.modules = {}, {}

    def make(self):
        for path in (self.onnx, self.mlir):
            if not path.exists():
                run([PYTHON, ROOT / "examples/models/make.py", self.name, *MODELS[self.name], "--out", path])
        made = run([PYTHON, "-c", """
import sys, numpy, onnx
graph = onnx.load(sys.argv[1]).graph
weights = {each.name for each in graph.initializer}
random = numpy.random.default_rng(1)
for number, value in enumerate(each for each in graph.input if each.name not in weights):
    kind = value.type.tensor_type
    shape = [each.dim_value for each in kind.shape.dim]
    array = random.standard_normal(shape).astype(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))
    numpy.save(f"{sys.argv[2]}/input{number}.npy", array)
print(graph.name)
""", self.onnx, self.folder])
        self.function = made.strip()

    def hone(self, command, budget):
        """The seconds that it took; its flags are in the folder then."""
        out = self.folder / command
        took = out / "seconds"
        if not took.exists():
            begin = time.monotonic()
            said = run([self.options.hone, command, self.mlir, "--budget", budget, "--threads",
                        self.options.threads, "--store", self.folder / "hone.db", "--out", out, "--json", "--quiet"])
            (out / "document.json").write_text(said)
            took.write_text(str(time.monotonic() - begin))
        self.seconds[command] = float(took.read_text())
        return [f"@{out / 'compile_flags.txt'}"]

    def covered(self):
        """The share of the time in dispatches of which ENOUGH candidates were right, or all that there are were tried."""
        document = json.loads((self.folder / "tune" / "document.json").read_text())
        planned = {each["dispatch"]: each["search"]["planned"] for each in document["search"]}
        share = 0.0
        for row in document["dispatches"]:
            if row["verified"] >= ENOUGH or 0 < planned.get(row["dispatch"], 0) <= row["tried"]:
                share += row["share_percent"] or 0
        return share

    def compile(self, variant, flags):
        module = self.folder / (variant.replace(" ", "_") + ".vmfb")
        if not module.exists():
            run([tool("iree-compile"), self.mlir, *flags, "-o", module])
        self.modules[variant] = module

    def sample(self, variant):
        if variant in PEERS:
            return float(run([self.options.peers, "-c", PEER, variant, self.onnx, self.folder, self.options.threads]))
        cores = ",".join(str(core) for core in range(self.options.threads))
        device = ["--device=local-sync"] if self.options.threads == 1 else [
            "--device=local-task", f"--task_topology_cpu_ids={cores}"]
        inputs = sorted(self.folder.glob("input*.npy"), key=lambda each: int(each.stem[5:]))
        text = run([tool("iree-benchmark-module"), f"--module={self.modules[variant]}", *device,
                    f"--function={self.function}", *(f"--input=@{each}" for each in inputs),
                    f"--benchmark_min_time={SAMPLE_SECONDS}s", "--benchmark_format=json"])
        row = json.loads(text)["benchmarks"][0]
        return row["real_time"] * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[row["time_unit"]]

    def time(self):
        self.make()
        for variant, flags in KNOWN.items():
            self.compile(variant, [*TARGET, *flags])
        self.compile("hone flags", self.hone("flags", self.options.flags))
        self.compile("hone tune", self.hone("tune", self.options.tune))
        variants = [*self.modules, *(PEERS if self.options.peers else [])]
        rounds = {variant: [] for variant in variants}
        order = random.Random(1)
        for _ in range(self.options.rounds):
            for variant in order.sample(variants, len(variants)):
                rounds[variant].append(self.sample(variant))
        (self.folder / "samples.json").write_text(json.dumps(rounds))
        return rounds


def interval(values):
    """Of the median, at 95 % or a little more (binomial order statistics)."""
    values, n = sorted(values), len(values)
    outside, low = 0.0, 0
    while low < n // 2 and outside + math.comb(n, low) / 2**n <= 0.025:
        outside += math.comb(n, low) / 2**n
        low += 1
    low = max(0, low - 1)
    return values[low], values[n - 1 - low]


def over(rounds, slow, fast):
    ratios = [a / b for a, b in zip(rounds[slow], rounds[fast])]
    low, high = interval(ratios)
    return f"{statistics.median(ratios):.2f}x [{low:.2f}, {high:.2f}]"


def line(parts):
    print("| " + " | ".join(parts) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", default=ROOT / "build/release/hone")
    parser.add_argument("--only", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--flags", default="2m", metavar="TIME")
    parser.add_argument("--tune", default="10m", metavar="TIME")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--peers", type=pathlib.Path, metavar="PYTHON")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        options.out = options.out or pathlib.Path(folder)
        options.out = options.out.resolve()
        peers = PEERS if options.peers else []
        titles = ["model", *KNOWN, "hone flags", "hone tune", *peers, "tune over the best known",
                  "tune over flags", *(f"{peer} over tune" for peer in peers), f"time in dispatches with {ENOUGH} right candidates", "seconds: flags, tune"]
        line(titles)
        line(["---"] * len(titles))
        gains, failed = [], 0
        for name in options.only:
            model = Model(options, name)
            try:
                rounds = model.time()
            except (Failed, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"{name}: {error}", file=sys.stderr)
                continue
            median = {variant: statistics.median(times) for variant, times in rounds.items()}
            known = min(KNOWN, key=median.get)
            gains.append(median[known] / median["hone tune"])
            line([name, *(f"{1e3 * median[variant]:.1f} ms" for variant in rounds),
                  over(rounds, known, "hone tune"), over(rounds, "hone flags", "hone tune"),
                  *(over(rounds, "hone tune", peer) for peer in peers),
                  f"{model.covered():.0f} %", f"{model.seconds['flags']:.0f}, {model.seconds['tune']:.0f}"])
        if gains:
            mean = math.exp(statistics.fmean(math.log(each) for each in gains))
            print(f"geometric mean over the best known set: {mean:.2f}x of {len(gains)} models")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
