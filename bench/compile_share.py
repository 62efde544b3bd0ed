#!/usr/bin/env python3
"""The share of random configurations that the compiler accepts, per operation and GPU target.

No GPU is needed. Needs the benchmarks built (cmake --preset bench) and IREE in .venv.
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--targets", nargs="+", default=["gfx942", "sm_80"])
    parser.add_argument("--program", default=ROOT / "build/bench/bench/compile_share")
    options = parser.parse_args()
    # One process per target: the compiler runs on one core.
    runs = [
        subprocess.Popen([options.program, str(options.samples), str(options.seed), target],
                         cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for target in options.targets
    ]
    print("| target | operation | configurations | compiled | share |\n|---|---|---|---|---|")
    reasons = collections.Counter()
    for run in runs:
        for line in run.stdout:
            row = json.loads(line)
            if not row.get("stated", True):
                print(f"| {row['target']} | {row['operation']} | states nothing | | |")
                continue
            print(f"| {row['target']} | {row['operation']} | {row['configurations']} "
                  f"| {row['compiled']} of {row['tried']} | {100 * row['share']:.1f} % |", flush=True)
            for failure in row["failures"]:
                words = re.sub(r"^.*error: |[^ ]*:[0-9]+:[0-9]+: ", "", failure["failure"])
                reasons[(row["target"], row["operation"], words)] += 1
    for (target, operation, words), count in reasons.most_common():
        print(f"{count} x {target}, {operation}: {words}")
    raise SystemExit(max(run.wait() for run in runs))


if __name__ == "__main__":
    main()
