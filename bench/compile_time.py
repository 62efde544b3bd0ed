#!/usr/bin/env python3
"""Seconds of compiling one candidate: hone's forked workers beside one iree-compile process each.

usage: bench/compile_time.py [--hone build/release/hone] [--candidates 16] [PROGRAM]

The same configurations are compiled both ways, on one core, in one run: by hone (`--jobs 1`, time
of the job in its own process), by the native iree-compile binary on the whole program with the
configuration's spec, and by it on the dispatch alone. Prints minimum and median of each.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{command[0]} failed: {done.stderr}")
    return done.stdout


def timed(*command):
    begin = time.perf_counter()
    run("taskset", "-c", "0", *command)
    return time.perf_counter() - begin


def report(name, seconds, baseline):
    median = statistics.median(seconds)
    print(f"{name:44} n {len(seconds):3}  min {min(seconds) * 1e3:6.0f} ms  median "
          f"{median * 1e3:6.0f} ms  {median / baseline:5.2f}x", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?", default="examples/matmul_512.mlir")
    parser.add_argument("--hone", default="build/release/hone")
    parser.add_argument("--candidates", default="16")
    options = parser.parse_args()
    iree = json.loads(run(options.hone, "devices", "--json"))["iree"]["library"]
    compiler = pathlib.Path(iree).parent / "iree-compile"
    with tempfile.TemporaryDirectory(prefix="hone-bench-") as name:
        folder = pathlib.Path(name)
        store = folder / "hone.db"
        run("taskset", "-c", "0", options.hone, "tune", options.program, "--jobs", "1", "--threads",
            "1", "--no-program", "--candidates", options.candidates, "--budget", "5m", "--json",
            "--store", store, "--out", folder / "out")
        rows = json.loads(run(options.hone, "store", "export", store, "--format", "json"))
        hone, whole, alone = [], [], []
        for row in rows["candidates"]:
            if row["provider"] != "iree" or row["default"] or not row["compile_seconds"]:
                continue
            hone.append(row["compile_seconds"])
            shown = folder / str(row["candidate"])
            run(options.hone, "show", row["candidate"], "--store", store, "--out", shown)
            flags = json.loads(row["flags"]) + [
                f"--iree-codegen-tuning-spec-path={shown / 'tuning_spec.mlir'}"]
            whole.append(timed(compiler, options.program, *flags, "-o", shown / "whole.vmfb"))
            alone.append(timed(compiler, shown / "dispatch.mlir", *flags,
                               "--compile-from=executable-sources", "--compile-to=hal", "-o",
                               shown / "alone.mlir"))
        baseline = statistics.median(whole)
        print(f"{options.program}, one core, the same {len(hone)} configurations")
        report("iree-compile, whole program and spec", whole, baseline)
        report("iree-compile, the dispatch alone and spec", alone, baseline)
        report("hone, a fork of a prepared process", hone, baseline)


if __name__ == "__main__":
    main()
