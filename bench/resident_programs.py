#!/usr/bin/env python3
"""One process of IREE's runtime that times programs one after the other, beside a process of iree-benchmark-module for
each sample: do they tell the same time, and what does a sample cost?

usage: bench/resident_programs.py MODULE FUNCTION [--input FILE.npy ...] [--device local-sync] [--cores 0,1]
                                  [--parameters SCOPE=FILE] [--seconds 0.15] [--rounds 12] [--packages FOLDER]

Both sample in turn, in random order. Printed are the median times of a call, the ratio of the process that stays to the
tool with its 95 % interval (of order statistics over rounds), and the median seconds that a sample takes as a whole.
--packages is the folder of Python packages that holds `iree`, where it is not .venv's. Nothing else may run.
Exit status: 0 both were timed, 1 one was not, 2 wrong use.
"""
import argparse
import json
import os
import pathlib
import random
import socket
import statistics
import subprocess
import sys
import time

from models import Failed, interval

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src/provider/iree/compiler/python/resident_programs.py"


class Resident:
    def __init__(self, options, pin):
        ours, theirs = socket.socketpair()
        settings = {"device": options.device, "flags": options.flags, "parameters": options.parameters}
        # The process looks for its parent at descriptor 3.
        start = f"exec 3<&{theirs.fileno()}; exec \"$@\""
        # A bare folder of packages is for the Python that runs this.
        own = options.packages.resolve().parent.parent.parent / "bin/python3"
        bare = not options.packages.parent.name.startswith("python3") or not own.exists()
        python = sys.executable if bare else own
        environment = {**os.environ, "PYTHONPATH": str(options.packages)} if bare else None
        command = [python, SOURCE, json.dumps(settings)]
        self.process = subprocess.Popen(["bash", "-c", start, "bash", *pin, *map(str, command)],
                                        pass_fds=[theirs.fileno()], env=environment)
        theirs.close()
        self.socket = ours
        self.lines = ours.makefile("rw", encoding="utf-8")
        self.answer()
        self.request = {"module": str(options.module), "function": options.function,
                        "inputs": options.input, "seconds": options.seconds}

    def answer(self):
        said = json.loads(self.lines.readline() or '{"error": "the process ended"}')
        if "error" in said:
            raise Failed(said["error"])
        return said

    def sample(self, **changes):
        """Seconds a call; `changes` of the request that the options made, such as module."""
        self.lines.write(json.dumps({**self.request, **changes}) + "\n")
        self.lines.flush()
        return self.answer()["seconds"]


def sample_of_tool(options, pin):
    command = [*pin, options.packages / "iree/_runtime_libs/iree-benchmark-module", f"--device={options.device}",
               *options.flags, f"--module={options.module}", f"--function={options.function}",
               *(f"--input=@{each}" for each in options.input),
               *(f"--parameters={each}" for each in options.parameters),
               f"--benchmark_min_time={options.seconds}s", "--benchmark_min_warmup_time=0.02",
               "--benchmark_format=json"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"iree-benchmark-module: {done.stderr.strip()[-300:]}")
    row = json.loads(done.stdout)["benchmarks"][0]
    return row["real_time"] * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[row["time_unit"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", type=pathlib.Path)
    parser.add_argument("function")
    parser.add_argument("--input", nargs="+", default=[], metavar="FILE.npy")
    parser.add_argument("--device", default="local-sync")
    parser.add_argument("--cores", help="that local devices run on")
    parser.add_argument("--parameters", nargs="+", default=[], metavar="SCOPE=FILE")
    parser.add_argument("--seconds", type=float, default=0.15)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--packages", type=pathlib.Path, metavar="FOLDER")
    options = parser.parse_args()
    if options.packages is None:
        options.packages = next((ROOT / ".venv/lib").glob("python3*/site-packages"))
    pin = ["taskset", "-c", options.cores] if options.cores else []
    options.flags = []
    if options.cores and options.device == "local-task":
        options.flags = [f"--task_topology_cpu_ids={options.cores}"]
    begin = time.monotonic()
    resident = Resident(options, pin)
    start = time.monotonic() - begin
    ways = {"stays": resident.sample, "tool": lambda: sample_of_tool(options, pin)}
    seconds, walls = {way: [] for way in ways}, {way: [] for way in ways}
    order = random.Random(1)
    for _ in range(options.rounds):
        for way in order.sample(list(ways), len(ways)):
            begin = time.monotonic()
            seconds[way].append(ways[way]())
            walls[way].append(time.monotonic() - begin)
    ratios = [ours / theirs for ours, theirs in zip(seconds["stays"], seconds["tool"])]
    low, high = interval(ratios)
    for way in ways:
        print(f"{way:5}  a call {1e3 * statistics.median(seconds[way]):9.4f} ms (min {1e3 * min(seconds[way]):.4f}, "
              f"max {1e3 * max(seconds[way]):.4f}), a sample {statistics.median(walls[way]):.2f} s")
    print(f"stays / tool: {statistics.median(ratios):.3f}x [{low:.3f}, {high:.3f}] of {options.rounds} rounds; "
          f"to start it: {start:.2f} s")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as error:
        sys.exit(f"resident_programs.py: {error}")
