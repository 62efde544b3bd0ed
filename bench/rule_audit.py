#!/usr/bin/env python3
"""Does a rule of hone's hide a better configuration? Tunes what lies just outside of each.

hone adds hard rules to those that IREE states for GPUs, each for configurations that fail to
compile. This tunes a program as usual, and then for each rule only configurations that break this
rule and keep all others (hone tune --audit-rule). A rule that hides something shows a ratio above
1: the winner's time by the best time outside. Needs build/release/hone, IREE, and a GPU; without
one, --compile-only says what share of what lies outside compiles at all.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

import gpu_own_programs
import gpu_programs

ROOT = pathlib.Path(__file__).resolve().parent.parent
RULES = [
    "threads cover the copied tile",
    "shared memory of the device",
    "padded output in shared memory",
    "tiles of attention in shared memory",
    "scores are whole instructions",
    "no padding in an implicit GEMM",
    "channels first: 16 columns",
    "channels first: threads",
    "channels first: result in shared memory",
]
PROGRAMS = {
    "matmul": gpu_programs.matmul(2048, 1280, 5120),
    "matmul_odd": gpu_programs.matmul(2040, 1304, 1280),
    "conv_nhwc": gpu_programs.conv_nhwc(2, 34, 34, 640, 3, 3, 640),
    "conv_nchw": gpu_own_programs.conv_nchw(2, 34, 34, 640, 3, 3, 640),
    "attention": gpu_programs.attention(20, 1024, 64),
}


def tune(options, program, store, rule, seconds):
    """The only dispatch's row of hone's report; None where there is no such configuration."""
    command = [options.hone, "tune", program, "--target", options.target, "--store", store,
               "--json"]
    if options.compile_only:
        command += ["--compile-only", "--candidates", str(options.candidates)]
    else:
        command += ["--device", options.device, "--budget", f"{seconds}s", "--no-program",
                    "--out", f"{store}.out"]
    if rule:
        command += ["--audit-rule", rule]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode not in (0, 1) or not run.stdout:
        words = (run.stderr.strip().splitlines() or ["no words"])[-1]
        absent = "is none of the rules" in run.stderr or "only rules added" in run.stderr
        return None if absent else {"error": words}
    return json.loads(run.stdout)["dispatches"][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hone", default=ROOT / "build/release/hone")
    parser.add_argument("--target", default="sm_90")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--budget", type=int, default=10, help="seconds of the usual tuning")
    parser.add_argument("--audit-budget", type=int, default=5, help="seconds outside of each rule")
    parser.add_argument("--compile-only", action="store_true", help="no GPU: what compiles at all")
    parser.add_argument("--candidates", type=int, default=40, help="with --compile-only")
    parser.add_argument("--programs", nargs="+", default=list(PROGRAMS))
    options = parser.parse_args()
    better = False
    if options.compile_only:
        print("| program | rule | outside | compile |\n|---|---|---|---|")
    else:
        print("| program | rule | tried | right | default, us | winner or best outside, us "
              "| winner / outside |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.programs:
            program = pathlib.Path(folder) / f"{name}.mlir"
            program.write_text(PROGRAMS[name])
            winner = None
            for rule in RULES if options.compile_only else [None, *RULES]:
                row = tune(options, program, pathlib.Path(folder) / f"{name}.db", rule,
                           options.audit_budget if rule else options.budget)
                if row is None:
                    continue
                words = rule or "(none: the usual tuning)"
                if "error" in row:
                    print(f"| {name} | {words} | {row['error']} |", flush=True)
                elif options.compile_only:
                    # One of those tried is the default.
                    print(f"| {name} | {words} | {row['tried'] - 1} of {row['space']} "
                          f"| {row['compiled'] - 1} |", flush=True)
                else:
                    seconds = row["tuned_seconds"]
                    winner = winner or seconds
                    better |= seconds < 0.98 * winner
                    print(f"| {name} | {words} | {row['tried']} | {row['verified']} "
                          f"| {1e6 * row['default_seconds']:.1f} | {1e6 * seconds:.1f} "
                          f"| {winner / seconds:.3f} |", flush=True)
    raise SystemExit(1 if better else 0)


if __name__ == "__main__":
    main()
