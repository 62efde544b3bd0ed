#!/usr/bin/env python3
"""Runs the whole tuner again and again with different seeds: is it the same winner?

usage: bench/repeatability.py [--hone build/release/hone] [--runs 10] [--budget 30s] [PROGRAM]

Each run has a store of its own. Prints the winner and its time over the sentinel's (the default's at
the same moments) per run, their coefficient of variation, and beside it that of iree-benchmark-module
on one module. Then all winners are measured interleaved: one outside their tie set is a flip.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile


def run(*command, codes=(0, 1)):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode not in codes:
        sys.exit(f"{command[0]} failed: {done.stderr}")
    return done.stdout


def variation(values):
    return 100 * statistics.stdev(values) / statistics.mean(values)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?", default="examples/matmul_512.mlir")
    parser.add_argument("--hone", default="build/release/hone")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--budget", default="30s")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--function", default="matmul_512")
    parser.add_argument("--inputs", default="512x512xf32,512x512xf32")
    options = parser.parse_args()

    def tune(store, seed, *more):
        return json.loads(run(options.hone, "tune", options.program, "--threads", options.threads,
                              "--seed", seed, "--json", "--store", store, "--out",
                              store.with_suffix(".out"), *more))["dispatches"][0]

    with tempfile.TemporaryDirectory(prefix="hone-bench-") as name:
        folder = pathlib.Path(name)
        ratios, winners, stores = [], [], []
        for seed in range(1, options.runs + 1):
            stores.append(folder / f"{seed}.db")
            row = tune(stores[-1], seed, "--no-program", "--budget", options.budget)
            ratios.append(1 / row["speedup"]["speedup"])
            winners.append(json.dumps(row["configuration"]))
            print(f"seed {seed:2}: winner/sentinel {ratios[-1]:.4f}, {row['tried']} tried, "
                  f"{len(row['ties'])} tied: {winners[-1]}", flush=True)
        print(f"winner/sentinel over {options.runs} runs: mean {statistics.mean(ratios):.4f}, "
              f"CoV {variation(ratios):.2f} %")
        distinct = sorted(set(winners))
        by_hand = [part for winner in distinct for part in ("--config", text_of(winner))]
        store = folder / "all.db"
        row = tune(store, 1, "--no-program", "--budget", "60s", *by_hand)
        rows = json.loads(run(options.hone, "store", "export", store, "--format", "json"))
        by_id = {each["candidate"]: json.loads(each["configuration"])
                 for each in rows["candidates"]}
        tied = [by_id[each] for each in row["ties"]]
        flips = [each for each in distinct if json.loads(each) not in tied]
        print(f"{len(distinct)} different winners, measured interleaved: tie set of {len(tied)}; "
              f"outside it: {len(flips)} {flips}")
        benchmark_module(options, folder)


def benchmark_module(options, folder):
    """The same number of runs of IREE's own benchmark on one module, for comparison."""
    library = pathlib.Path(json.loads(run(options.hone, "devices", "--json"))["iree"]["library"])
    compiler = library.parent / "iree-compile"
    tool = library.parent.parent.parent / "_runtime_libs" / "iree-benchmark-module"
    flags = [f"@{folder / '1.out' / 'compile_flags.txt'}"]
    module = folder / "program.vmfb"
    run(compiler, options.program, *flags, "-o", module)
    times = []
    for _ in range(options.runs):
        out = run("taskset", "-c", "0", tool, f"--module={module}", "--device=local-sync",
                  "--function=" + options.function,
                  *[f"--input={each}=1" for each in options.inputs.split(",")],
                  "--benchmark_format=json")
        times.append(json.loads(out)["benchmarks"][0]["real_time"])
    print(f"iree-benchmark-module on one module, {options.runs} runs: CoV {variation(times):.2f} %")


def text_of(configuration):
    return ",".join(f"{name}={value}" for name, value in json.loads(configuration).items())


if __name__ == "__main__":
    main()
