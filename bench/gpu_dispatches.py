#!/usr/bin/env python3
"""Tunes the programs of bench/gpu_programs.py on a GPU and prints one table.

usage: bench/gpu_dispatches.py [--hone FILE] [--device cuda:0] [--target sm_90] [--candidates N]
                               [--budget 60s] [--only NAME ...] [--store FILE] [--iree PATH]

Per program, of its most expensive dispatch: the time of IREE's default, of the best and of the worst
candidate that is right, how many were tried, compiled and right, GFLOP/s, share of the device's peak,
and the seconds that the whole tuning took. Ratios of the best come from interleaved rounds with the
default.
"""
import argparse
import json
import math
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import time

import gpu_programs


def tune(options, name, text, folder):
    program = folder / f"{name}.mlir"
    program.write_text(text)
    command = [options.hone, "tune", program, "--device", options.device, "--target", options.target,
               "--store", options.store, "--out", folder / name, "--budget", options.budget,
               "--strategy", options.strategy, "--no-program", "--json", "--quiet"]
    if options.candidates:
        command += ["--candidates", options.candidates]
    if options.iree:
        command += ["--iree", options.iree]
    begin = time.monotonic()
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    seconds = time.monotonic() - begin
    if done.returncode not in (0, 1):
        return None, done.stderr.strip(), seconds
    return json.loads(done.stdout) if done.stdout else None, done.stderr.strip(), seconds


def slowest_right(store, dispatch):
    """Median seconds of the slowest candidate of the dispatch that was measured to its end."""
    database = sqlite3.connect(store)
    row = database.execute(
        "SELECT max(measurement.median) FROM measurement JOIN dispatch "
        "ON dispatch.id = measurement.dispatch_id WHERE dispatch.name = ? AND phase = 'search'",
        (dispatch,)).fetchone()
    database.close()
    return row[0] if row else None


def ms(seconds):
    return "-" if seconds is None else f"{1e3 * seconds:.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hone", default="build/release/hone")
    parser.add_argument("--iree", default="")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--target", default="sm_90")
    parser.add_argument("--strategy", default="local")
    parser.add_argument("--candidates", type=int)
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--store", default="")
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    gains = []
    print("| program | default ms | best ms | worst ms | gain | GFLOP/s | of peak | tried | right | "
          "failed | wall s |\n|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        options.store = options.store or str(folder / "gpu.db")
        for program, text in gpu_programs.PROGRAMS.items():
            if options.only and program not in options.only:
                continue
            document, said, seconds = tune(options, program, text, folder)
            rows = document["dispatches"] if document else []
            rows = [row for row in rows if row["default_seconds"]]
            if not rows:
                reasons = [each["reason"] for each in (document or {}).get("not_tuned", [])]
                print(f"| {program} | not tuned: {(said or '; '.join(reasons))[:200]} |", flush=True)
                continue
            row = max(rows, key=lambda each: each["default_seconds"])
            gain = row["speedup"]["speedup"] if isinstance(row["speedup"], dict) else row["speedup"]
            gains.append(gain)
            peak = row["share_of_peak_percent"]
            print(f"| {program} | {ms(row['default_seconds'])} | {ms(row['tuned_seconds'])} | "
                  f"{ms(slowest_right(options.store, row['dispatch']))} | {gain:.2f}x | "
                  f"{row['gflops'] or 0:.0f} | {'-' if peak is None else f'{peak:.0f} %'} | "
                  f"{row['tried']} | {row['verified']} | {row['failed']} | {seconds:.1f} |",
                  flush=True)
    if gains:
        print(f"\ngeometric mean {math.exp(sum(map(math.log, gains)) / len(gains)):.2f}x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
