#!/usr/bin/env python3
"""Two tuners on one store against one: how much sooner are they done?

usage: bench/shared_store.py [--hone build/release/hone] [--cores A B] [--candidates N] [PROGRAM]

Both take the same candidates (equal seeds) on cores of their own, one compile process each. Prints the
seconds of one tuner, of two, and the ratio; fails when any candidate was compiled or measured twice or
the two together tried others than the one did. Run with nothing else running, on cores that share
little: two threads of one core slow each other.
"""
import argparse
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time


def start(options, store, core, out):
    command = [options.hone, "tune", options.program, "--store", store, "--cores", core, "--jobs", 1,
               "--strategy", "random", "--seed", options.seed, "--candidates", options.candidates,
               "--budget", options.budget, "--no-program", "--quiet", "--out", out]
    return subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL)


def seconds_of(options, store, cores, folder):
    begin = time.monotonic()
    tuners = [start(options, store, core, folder / f"out-{core}") for core in cores]
    codes = [tuner.wait() for tuner in tuners]
    if any(code not in (0, 1) for code in codes):
        sys.exit(f"hone tune ended with {codes}")
    return time.monotonic() - begin


def tried(store):
    database = sqlite3.connect(store)
    configurations = {row[0] for row in database.execute(
        "SELECT configuration FROM candidate WHERE provider = 'iree'")}
    twice = database.execute(
        "SELECT count(*) - count(DISTINCT identity) FROM measurement WHERE phase = 'search'"
    ).fetchone()[0]
    database.close()
    if twice:
        sys.exit(f"{store}: {twice} kernels were measured twice")
    return configurations


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", nargs="?", default="examples/matmul_512.mlir")
    parser.add_argument("--hone", default="build/release/hone")
    parser.add_argument("--cores", nargs=2, default=["0", "1"])
    parser.add_argument("--candidates", type=int, default=400)
    parser.add_argument("--budget", default="20m")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    for turn in range(options.repeat):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            one = seconds_of(options, folder / "one.db", options.cores[:1], folder)
            two = seconds_of(options, folder / "two.db", options.cores, folder)
            if tried(folder / "one.db") != tried(folder / "two.db"):
                sys.exit("two tuners tried other candidates than one did")
            print(f"{options.candidates} candidates: one tuner {one:.1f} s, two {two:.1f} s, "
                  f"{two / one:.2f}x", flush=True)


if __name__ == "__main__":
    main()
