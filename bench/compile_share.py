#!/usr/bin/env python3
"""The share of random configurations that the compiler accepts, per operation and GPU target.

No GPU is needed. Needs the benchmarks built (cmake --preset bench) and IREE in .venv.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--targets", nargs="+", default=["gfx942", "sm_80"])
    parser.add_argument("--operations", nargs="+", default=[], help="words of their names")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compiles at a time")
    parser.add_argument("--program", default=ROOT / "build/bench/bench/compile_share")
    options = parser.parse_args()
    run = subprocess.Popen(
        [options.program, str(options.samples), str(options.seed), str(options.jobs),
         *options.targets, *options.operations],
        cwd=ROOT, stdout=subprocess.PIPE, text=True)
    print("| target | operation | space of | configurations | compiled | share | kernels |\n"
          "|---|---|---|---|---|---|---|")
    reasons = collections.Counter()
    examples = {}
    for line in run.stdout:
        row = json.loads(line)
        if "no_space" in row:
            print(f"| {row['target']} | {row['operation']} | none: {row['no_space']} | | | | |")
            continue
        print(f"| {row['target']} | {row['operation']} | {row['from']} | {row['configurations']} "
              f"| {row['compiled']} of {row['tried']} | {100 * row['share']:.1f} % "
              f"| {row['kernels_beside_default']} |", flush=True)
        for failure in row["failures"]:
            words = re.sub(r"^.*error: |[^ ]*:[0-9]+:[0-9]+: ", "", failure["failure"])
            reason = (row["target"], row["operation"], words)
            reasons[reason] += 1
            examples[reason] = failure["configuration"]
    for reason, count in reasons.most_common():
        target, operation, words = reason
        print(f"{count} x {target}, {operation}: {words}\n    {examples[reason]}")
    raise SystemExit(run.wait())


if __name__ == "__main__":
    main()
