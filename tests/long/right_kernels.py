#!/usr/bin/env python3
"""A right kernel is called right: of the programs of bench/cpu_programs.py, drawn configurations are compiled and
verified, about a thousand in all. IREE compiles them; none may be called wrong.

Exit status: 0 none was, 1 some was, or a program could not be tuned, 2 wrong use.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import cpu_programs  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", required=True)
    parser.add_argument("--candidates", type=int, default=40, help="of each dispatch (default: 40)")
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    verified, failures, bad = 0, {}, []
    for name, text in cpu_programs.PROGRAMS.items():
        with tempfile.TemporaryDirectory(prefix="hone-right-") as folder:
            program = pathlib.Path(folder) / f"{name}.mlir"
            program.write_text(text)
            done = subprocess.run(
                [options.hone, "tune", program, "--candidates", str(options.candidates), "--budget", "60s",
                 "--strategy", "random", "--seed", options.seed, "--threads", "1", "--no-program", "--no-baselines",
                 "--store", f"{folder}/hone.db", "--out", f"{folder}/out", "--json"],
                capture_output=True, text=True)
        if done.returncode not in (0, 1) or not done.stdout:
            bad.append(f"{name}: {(done.stderr.strip().splitlines() or ['no words'])[-1]}")
            continue
        for dispatch in json.loads(done.stdout)["dispatches"]:
            verified += dispatch["verified"]
            for kind, count in dispatch["failed"].items():
                failures[kind] = failures.get(kind, 0) + count
                if kind == "wrong":
                    bad.append(f"{name}: {count} of {dispatch['operation']} called wrong")
            print(f"{name}: {dispatch['tried']} tried, {dispatch['verified']} right, {dispatch['failed']}", flush=True)
    print(f"{verified} compiled kernels called right; failures: {failures}")
    for each in bad:
        print(each, file=sys.stderr)
    return 1 if bad or verified == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
