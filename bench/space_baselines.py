#!/usr/bin/env python3
"""hone, z3 and Kernel Tuner's solver on tune_gemm's space and those that IREE states for GPUs, one after the other.

Every solver lists every solution, projected onto the knobs; the counts must agree. Kernel Tuner
(pip install 'kernel_tuner==1.5.*') is given the raw values of tune_gemm's knobs, of IREE's the values that hone's
propagation left of each, and auxiliary variables as parameters. No GPU is needed. Needs space_bench (cmake --preset bench),
IREE in .venv, and libz3-dev when space_bench was built. z3 is given 120 s for each space.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def tune_gemm(m, n, k):
    """ROCm's tune_gemm v3.4 for Kernel Tuner: raw values, and its pruning rules as restrictions."""
    blocks = [16, 32, 64, 128, 256]
    knobs = {"BLOCK_M": blocks, "BLOCK_N": blocks, "BLOCK_K": blocks,
             "SPLIT_K": [1, 2, 4, 5, 6, 8, 10, 12, 16, 18, 24], "num_warps": [1, 2, 4, 8],
             "GROUP_M": [1, 2, 4, 8, 16, 32], "num_stages": [2], "waves_per_eu": [0],
             "matrix_instr_nonkdim": [16, 32], "kpack": [1, 2]}
    rules = [f"matrix_instr_nonkdim <= {16 if m < 32 or n < 32 else 32}", "BLOCK_M * BLOCK_N >= 64",
             "BLOCK_M >= matrix_instr_nonkdim", "BLOCK_N >= matrix_instr_nonkdim",
             f"BLOCK_M == matrix_instr_nonkdim or {m} > matrix_instr_nonkdim",
             f"BLOCK_N == matrix_instr_nonkdim or {n} > matrix_instr_nonkdim",
             f"BLOCK_M <= {max(16, 2 * m)}", f"BLOCK_N <= {max(16, 2 * n)}",
             f"SPLIT_K == 1 or {k} % (SPLIT_K * BLOCK_K) == 0",
             f"GROUP_M == 1 or GROUP_M * BLOCK_M <= {m}",
             "(BLOCK_M + BLOCK_N) * BLOCK_K <= 32768"]
    if m >= 64 and n >= 64 or k <= 1024:
        rules.append("SPLIT_K == 1")
    if m >= 2048 and n >= 2048:
        rules += ["BLOCK_M >= 64", "BLOCK_N >= 64", "BLOCK_K >= 64", "num_warps >= 4",
                  f"{m} % BLOCK_M == 0", f"{n} % BLOCK_N == 0"]
    return {"knobs": knobs, "constraints": rules}


TUNE_GEMM = [(512, 512, 512), (4096, 4096, 4096), (2048, 1280, 5120), (2048, 10240, 1280),
             (17, 5120, 5120), (16, 4096, 4096)]


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
        spaces = {f"tune_gemm/{m}x{n}x{k}": tune_gemm(m, n, k) for m, n, k in TUNE_GEMM}
        if not options.known:
            subprocess.run([*program, "--export", file], check=True, cwd=ROOT)
            spaces |= json.loads(file.read_text())
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
            # The short ones several times, since hone's are means of many.
            repeats = 5 if name.startswith("tune_gemm/") else 1
            seconds, found = min(kernel_tuner_seconds(space) for _ in range(repeats))
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
