#!/usr/bin/env python3
"""hone, z3 and Kernel Tuner's solver on tune_gemm's space and those that IREE states for GPUs, one after the other.

Every solver lists every solution, projected onto the knobs; the counts must agree. Kernel Tuner
(pip install 'kernel_tuner==1.5.*') is given each knob's values, of one without a list of them those that hone's
propagation left, and auxiliary variables as parameters. No GPU is needed. Needs space_bench (cmake --preset bench),
IREE in .venv, and libz3-dev when space_bench was built. z3 is given 120 s for each space.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def kernel_tuner_seconds(space):
    """Seconds and number of configurations, from parameters and restrictions to the list."""
    from kernel_tuner.searchspace import Searchspace
    parameters = {name: list(values) for name, values in space["knobs"].items()}
    for name, (lower, upper) in space.get("auxiliary", {}).items():
        parameters[name] = list(range(lower, upper + 1))
    begin = time.perf_counter()
    found = Searchspace(parameters, list(space["constraints"]), 1024)
    seconds = time.perf_counter() - begin
    knobs = [list(parameters).index(name) for name in space["knobs"]]
    return seconds, len({tuple(each[i] for i in knobs) for each in found.list})


def milliseconds(seconds):
    return f"{1000 * seconds:.1f}" if seconds < 1 else f"{1000 * seconds:,.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=ROOT / "build/bench/bench/space_bench")
    parser.add_argument("--filter", default="", help="part of the spaces' names")
    parser.add_argument("--known", action="store_true", help="tune_gemm's space only; needs no compiler")
    parser.add_argument("--no-z3", action="store_true", help="hone and Kernel Tuner only")
    parser.add_argument("--no-kernel-tuner", action="store_true")
    options = parser.parse_args()
    program = [options.program, *(["--known"] if options.known else [])]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "spaces.json"
        subprocess.run([*program, "--export", file], check=True, cwd=ROOT)
        spaces = json.loads(file.read_text())
    kinds = "whole|hone" if options.no_z3 else "whole|hone|z3"
    report = subprocess.run(
        [*program, f"--benchmark_filter=^({kinds})/.*{options.filter}",
         "--benchmark_format=json"], cwd=ROOT, check=True, capture_output=True, text=True)
    rows = {row["name"].removesuffix("/iterations:1"): row
            for row in json.loads(report.stdout)["benchmarks"]}
    print("| space | configurations | hone, ms | z3, ms | Kernel Tuner 1.5, ms |\n|---|---|---|---|---|")
    wrong = False
    for name, space in spaces.items():
        if f"hone/{name}" not in rows:
            continue
        hone, z3 = rows[f"hone/{name}"], rows.get(f"z3/{name}")
        count = int(hone["configurations"])
        z3_text = "-"
        if z3 is not None:
            z3_text = z3["error_message"] if z3.get("error_occurred") else milliseconds(
                z3["real_time"] / 1000)
            wrong |= "other solutions" in z3_text
        tuner_text = "-"
        if not options.no_kernel_tuner:
            seconds, found = kernel_tuner_seconds(space)
            tuner_text = milliseconds(seconds)
            if found != count:
                tuner_text += f" ({found} configurations)"
                wrong = True
        print(f"| {name} | {count:,} | {hone['real_time']:.2f} | {z3_text} | {tuner_text} |",
              flush=True)
    print("\n| all pipelines with hone's rules | configurations | ms |\n|---|---|---|")
    for name, row in rows.items():
        if name.startswith("whole/"):
            print(f"| {name[6:]} | {int(row['configurations']):,} | {row['real_time']:.2f} |")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
