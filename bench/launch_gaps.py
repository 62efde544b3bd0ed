#!/usr/bin/env python3
"""What flags of IREE's CUDA runtime and of its launches do to a program's time.

usage: bench/launch_gaps.py PROGRAM.mlir=SHAPE,... [--chain 200] [--target sm_80] [--device cuda] [--rounds 9] [--iree FOLDER]

A program is followed by the shapes of its inputs: bert.mlir=1x128x768xf16. --chain N adds a program of N dispatches
that wait for one another, each of 1,024 sums. Every variant differs from the default by one flag of the compiler or the
runtime. A round runs iree-benchmark-module once for each variant, in random order. A ratio is the median of the rounds'
own, over the default, with a 95 % interval. A variant that does not compile or run is a line with the reason.

Nothing else may run on the GPU. Exit status: 0 all was timed, 1 something was not, 2 wrong use.
"""
import argparse
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from models import interval, line

RUNTIME = ["--cuda_use_streams=false", "--cuda_allow_inline_execution=true", "--cuda_async_allocations=false",
           "--device_allocator=caching"]
COMPILER = ["--iree-hal-memoization=false", "--iree-hal-indirect-command-buffers=false",
            "--iree-hal-force-indirect-command-buffers", "--iree-stream-partitioning-favor=max-concurrency",
            "--iree-stream-partitioning-favor=min-peak-memory", "--iree-scheduling-optimize-bindings=false",
            "--iree-stream-resource-alias-mutable-bindings", "--iree-execution-model=async-external",
            "--iree-hal-link-executables=false"]
DEFAULT = "default"


def chain(length):
    sums = "\n".join(f"  %s{i + 1} = arith.addf %b{i}, %a : tensor<1024xf32>\n"
                     f"  %b{i + 1} = util.optimization_barrier %s{i + 1} : tensor<1024xf32>" for i in range(length))
    return (f"func.func @chain(%a: tensor<1024xf32>) -> tensor<1024xf32> {{\n"
            f"  %b0 = util.optimization_barrier %a : tensor<1024xf32>\n{sums}\n"
            f"  return %b{length} : tensor<1024xf32>\n}}\n")


def last_line(text):
    return (text.strip().splitlines() or ["no output"])[-1][:100]


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        packages = pathlib.Path(options.iree)
        self.compiler = packages / "iree/compiler/_mlir_libs/iree-compile"
        self.runner = packages / "iree/_runtime_libs/iree-benchmark-module"

    def compile(self, program, flag):
        module = self.folder / f"{program.stem}{abs(hash(flag))}.vmfb"
        backend = (["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu"]
                   if self.options.target == "host" else
                   ["--iree-hal-target-device=cuda", f"--iree-cuda-target={self.options.target}"])
        command = [self.compiler, program, *backend, "-o", module, *([flag] if flag else [])]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        return module if ran.returncode == 0 else last_line(ran.stderr)

    def time(self, module, function, inputs, flag):
        """Milliseconds of a call, or why there are none."""
        command = [self.runner, f"--module={module}", f"--function={function}", f"--device={self.options.device}", *[f"--input={shape}=0.5" for shape in inputs],
                   "--benchmark_min_time=0.3s", "--benchmark_format=json", *([flag] if flag else [])]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode != 0 or "{" not in ran.stdout:
            return last_line(ran.stderr)
        row = json.loads(ran.stdout[ran.stdout.index("{"):])["benchmarks"][0]
        return row["real_time"] * {"ns": 1e-6, "us": 1e-3, "ms": 1}[row["time_unit"]]

    def table(self, program, inputs):
        variants, failed = {}, {}
        function = re.search(r"func\.func @([\w$]+)", program.read_text())[1]
        for flag in [None, *RUNTIME, *COMPILER]:
            module = self.compile(program, flag if flag in COMPILER else None)
            if isinstance(module, str):
                failed[flag] = module
            else:
                variants[flag or DEFAULT] = (module, flag if flag in RUNTIME else None)
        times = {name: [] for name in variants}
        for _ in range(self.options.rounds):
            for name in random.sample(list(times), len(times)):
                value = self.time(variants[name][0], function, inputs, variants[name][1])
                if isinstance(value, str):
                    failed[name] = value
                    del times[name]
                else:
                    times[name].append(value)
        print(f"\n{program.stem}, n = {self.options.rounds}")
        line(["flag", "median ms", "least", "over the default"])
        line(["---"] * 4)
        for name, values in times.items():
            ratios = [value / base for value, base in zip(values, times[DEFAULT])]
            low, high = interval(ratios)
            line([f"`{name}`" if name != DEFAULT else name, f"{statistics.median(values):.4g}", f"{min(values):.4g}",
                  f"{statistics.median(ratios):.3f} [{low:.3f}, {high:.3f}]"])
        for name, reason in failed.items():
            line([f"`{name}`", "-", "-", reason])
        return not failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM.mlir=SHAPE,...")
    parser.add_argument("--chain", type=int, default=0, metavar="N")
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--device", default="cuda", help="as IREE's runtime names it")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--iree", default=os.environ.get("HONE_IREE"), help="site-packages [$HONE_IREE]")
    options = parser.parse_args()
    if not options.iree or not (options.programs or options.chain):
        parser.error("needs IREE's site-packages (--iree), and a program or --chain")
    complete = True
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, pathlib.Path(folder))
        if options.chain:
            program = bench.folder / f"chain_{options.chain}.mlir"
            program.write_text(chain(options.chain))
            complete &= bench.table(program, ["1024xf32"])
        for each in options.programs:
            path, _, shapes = each.partition("=")
            complete &= bench.table(pathlib.Path(path), shapes.split(","))
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
