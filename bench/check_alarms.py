#!/usr/bin/env python3
"""How often `hone check` finds planted regressions, and how often it raises a false alarm.

usage: bench/check_alarms.py [--runs 20] [--dispatches 50] [--cases planted,itself,other-code] [--work FOLDER]
                             [--hone PATH] [--slow-down 1.04] [--machine KEY] [--out rows.json]

Makes a program of products of different sizes, a sum and a difference, tunes it into a store, and checks that store
again and again:
- planted: a spec entry chooses a configuration that takes about --slow-down times the default's time in one dispatch,
  and tiles of one element in another; the source of the sum is that of the difference. All must be named.
- itself: nothing is changed. The code is the same byte for byte, so nothing is measured.
- other-code: a flag changes the debug information, so that all code differs and is measured, and the instructions are
  the same. Whatever is called slower is a false alarm.

All runs on one core: on several a few tiles may be dealt out differently from one minute to the next. Nothing else may
run on the machine. Exit status: 0 if nine of ten runs named all that is planted and at most three of
twenty alarmed falsely, 1 if not.
"""
import argparse
import datetime
import json
import pathlib
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
OTHER_CODE = "--flag=--iree-hal-executable-debug-level=3"
TINY = "distribution = [1, 1, 0], vector_common_parallel = [1, 1, 0], vector_reduction = [0, 0, 1]"
SLIGHT, SLOWEST = [f"product_{i}_dispatch*" for i in range(5, 45, 4)], "product_20_dispatch*"


def product(i):
    """128 x (128 + 16 i) x 384 in f32: from 60 us on two cores."""
    n, k = 128 + 16 * i, 384
    a, b, c = f"tensor<128x{k}xf32>", f"tensor<{k}x{n}xf32>", f"tensor<128x{n}xf32>"
    return (f"func.func @product_{i}(%a: {a}, %b: {b}) -> {c} {{\n  %zero = arith.constant 0.0 : f32\n"
            f"  %empty = tensor.empty() : {c}\n  %fill = linalg.fill ins(%zero : f32) outs(%empty : {c}) -> {c}\n"
            f"  %c = linalg.matmul ins(%a, %b : {a}, {b}) outs(%fill : {c}) -> {c}\n  return %c : {c}\n}}\n")


def elementwise(name):
    kind = "tensor<512x2048xf32>"
    return (f"func.func @{name}(%a: {kind}, %b: {kind}) -> {kind} {{\n  %r = arith.{name} %a, %b : {kind}\n"
            f"  return %r : {kind}\n}}\n")


class Bench:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.program, self.store, self.planted = work / "program.mlir", work / "known.db", work / "planted.db"

    def hone(self, *arguments, allowed=(0,)):
        done = subprocess.run([self.options.hone, *map(str, arguments)], capture_output=True, text=True, check=False,
                              cwd=self.work)
        if done.returncode not in allowed:
            sys.exit(f"hone {' '.join(map(str, arguments))}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def tune(self, store, *arguments):
        if not store.exists():
            self.hone("tune", self.program, "--threads", "1", "--store", store, "--out", store.with_suffix(""), "--quiet", "--no-program",
                      "--no-flags", "--no-baselines", *arguments)

    def make_stores(self):
        count = self.options.dispatches - 2
        self.program.write_text("".join(map(product, range(count))) + elementwise("addf") + elementwise("subf"))
        self.tune(self.store, "--dispatch", "*", "--candidates", "1", "--budget", "2m")
        shutil.copy(self.store, self.planted)
        with sqlite3.connect(self.planted) as database:
            database.execute("UPDATE dispatch SET source_id = (SELECT source_id FROM dispatch WHERE name LIKE 'subf%')"
                             " WHERE name LIKE 'addf%'")

    def entry(self, name, dispatch):
        """A spec with a configuration of a dispatch, and how many times the default's time it takes."""
        store = self.work / f"{name}.db"
        self.tune(store, "--dispatch", dispatch, "--strategy", "random", "--candidates", "60", "--budget", "40s")
        rows = json.loads(self.hone("store", "export", store, "--format", "json"))["candidates"]
        rows = [row for row in rows if row["right"] and row["sentinel_ratio"] and row["configuration"] != "{}"]
        row = min(rows, key=lambda row: abs(row["sentinel_ratio"] - self.options.slow_down))
        self.hone("show", row["candidate"], "--store", store, "--out", self.work / name)
        return self.work / name / "tuning_spec.mlir", row["sentinel_ratio"]

    def make_spec(self):
        # Few configurations take a wanted time: several dispatches are searched until one comes near.
        for self.slight in SLIGHT:
            slight, ratio = self.entry(self.slight.split("_dispatch")[0], self.slight)
            if abs(ratio - self.options.slow_down) <= 0.01:
                break
        slowest, _ = self.entry("slowest", SLOWEST)
        slowest.write_text(re.sub(r"#iree_cpu.lowering_config<[^>]*>", f"#iree_cpu.lowering_config<{TINY}>",
                                  slowest.read_text()))
        self.spec = self.work / "planted.mlir"
        self.hone("spec", "merge", slight, slowest, "-o", self.spec)
        return round(ratio, 3)

    def check(self, store, *flags):
        begin = time.monotonic()
        told = json.loads(self.hone("check", store, "--threads", "1", "--json", *flags, allowed=(0, 1)))
        # A tuned configuration is not applied under another spec: only defaults are counted.
        alarms = {code["dispatch"]: code["outcome"] for code in told["codes"]
                  if code["code"] == "default" and code["outcome"] in ("slower", "wrong", "fails")}
        measured = sum(code["old_seconds"] is not None for code in told["codes"])
        ratios = {code["dispatch"]: code["ratio"] for code in told["codes"] if code["code"] == "default"}
        return alarms, ratios, measured, time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--dispatches", type=int, default=50)
    parser.add_argument("--cases", default="planted,itself,other-code")
    parser.add_argument("--work", type=pathlib.Path, help="keeps stores, so that a later call goes on with them")
    parser.add_argument("--hone", type=lambda path: pathlib.Path(path).resolve(), default=ROOT / "build/release/hone")
    parser.add_argument("--slow-down", type=float, default=1.04)
    parser.add_argument("--machine", help="key of bench/results/machines.json")
    parser.add_argument("--out", type=pathlib.Path, help="JSON of the runs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = (options.work or pathlib.Path(folder)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        bench = Bench(options, work)
        bench.make_stores()
        ratio = bench.make_spec() if "planted" in options.cases else None
        rows, good = [], True
        for case in options.cases.split(","):
            named, false, seconds, times = 0, 0, [], []
            for run in range(options.runs):
                if case == "planted":
                    alarms, ratios, measured, took = bench.check(
                        bench.planted, f"--flag=--iree-codegen-tuning-spec-path={bench.spec}")
                    expected = {"slower": 2, "wrong": 1}
                    found = {outcome: list(alarms.values()).count(outcome) for outcome in expected}
                    times.append([ratios[name] for name in sorted(alarms) if alarms[name] == "slower"])
                    named += found == expected and any(name.startswith("addf") for name in alarms)
                    false += any(not name.startswith((bench.slight[:-1], SLOWEST[:-1], "addf")) for name in alarms)
                else:
                    alarms, _, measured, took = bench.check(bench.store, *([OTHER_CODE] if case == "other-code" else []))
                    false += bool(alarms)
                seconds.append(took)
                print(f"{case} {run + 1}: {alarms or 'no alarm'}, {measured} measured, {took:.0f} s", flush=True)
            row = {"case": case, "runs": options.runs, "dispatches": options.dispatches, "false_alarms": false,
                   "seconds": round(statistics.median(seconds), 1), "machine": options.machine,
                   "date": datetime.date.today().isoformat()}
            if case == "planted":
                row |= {"named": named, "planted": ratio, "seen": times}
                good = good and named >= 0.9 * options.runs
            good = good and false <= 0.15 * options.runs
            rows.append(row)
            print(json.dumps(row), flush=True)
        if options.out:
            options.out.write_text(json.dumps(rows, indent=1) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
