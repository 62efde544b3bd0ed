#!/usr/bin/env python3
"""Tunes 26 programs of one operation each and four whole ones, beside IREE's default and its best flags.

usage: bench/cpu_dispatches.py [--hone build/release/hone] [--store FOLDER] [--threads 1] [--budget 20s]
                               [--program-threads 2] [--program-budget 90s] [--only NAME] [--what dispatches|programs]

For each, `hone tune` measures the program's variants interleaved in one run under IREE's runtime: the
default, IREE's flags (data tiling, with micro-kernels, O3, reordered sums), the spec, alone and with them. "hone" is the
variant that hone recommends. "the better" is the fastest of IREE's own by median; the ratio to it is the
median over the rounds, with a bootstrapped 95 % interval, also where hone recommends one of IREE's own: below 1
that is not the fastest by median, only one that cannot be told from it. Killed, it continues: a program whose document is in --store is read from
there. Needs Python's standard library only.
"""
import argparse
import array
import json
import math
import pathlib
import random
import sqlite3
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import cpu_programs  # noqa: E402

EXAMPLES = HERE.parent / "examples"
WHOLE = ["feed_forward", "attention_block", "residual_block", "mobile_block"]


def is_own(variant):
    """Whether IREE offers it without hone."""
    return "spec" not in variant


def tune(options, name, program, threads, budget):
    """What hone tune says, and the seconds it took."""
    folder = options.store / name
    document = folder / "document.json"
    if not document.exists():
        folder.mkdir(parents=True, exist_ok=True)
        begin = time.monotonic()
        run = subprocess.run([str(options.hone), "tune", str(program), "--no-flags", "--threads", str(threads), "--budget", budget,
                              "--json", "--no-baselines", "--store", str(folder / "hone.db"), "--out",
                              str(folder / "out")], capture_output=True, text=True, check=False)
        if run.returncode not in (0, 1):
            return {"error": (run.stderr.strip().splitlines() or ["no words"])[-1]}
        document.write_text(json.dumps({**json.loads(run.stdout), "wall": time.monotonic() - begin}))
    return json.loads(document.read_text())


def rounds_of(store):
    """Seconds of each round of each variant."""
    database = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    rows = database.execute("SELECT variant, samples FROM program_measurement WHERE purpose = 'proof' ORDER BY id").fetchall()
    database.close()
    return {variant: list(array.array("d", samples)) for variant, samples in rows}


def ratio(theirs, ours, seed=42):
    """Median over the rounds of theirs / ours, with its bootstrapped 95 % interval."""
    ratios = [a / b for a, b in zip(theirs, ours)]
    draw = random.Random(seed)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(2000))
    return statistics.median(ratios), medians[50], medians[1949]


def row(options, name, document):
    seconds = {each["variant"]: each["seconds"] for each in document["programs"]}
    own = [each for each in seconds if is_own(each) and seconds[each]]
    better = min(own, key=lambda each: seconds[each])
    best = document["best"]
    rounds = rounds_of(options.store / name / "hone.db")
    over = ratio(rounds[better], rounds[best])
    kernels = [each["speedup"]["speedup"] if isinstance(each["speedup"], dict) else 1.0
               for each in document["dispatches"]]
    return {"name": name, "default": seconds["default"], "better": better, "better_seconds": seconds[better],
            "hone": seconds[best], "best": best, "over_default": seconds["default"] / seconds[best], "over": over,
            "kernels": kernels, "tried": sum(each["tried"] for each in document["dispatches"]),
            "right": sum(each["verified"] for each in document["dispatches"]), "wall": document["wall"]}


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def table(options, programs, threads, budget):
    print(f"| program | default ms | IREE's best ms | of | hone ms | of | over default | over the better [95 %] | "
          "kernels over default | right | s |\n|---|---|---|---|---|---|---|---|---|---|---|")
    rows = []
    for kind, name, path in programs:
        if options.only not in name:
            continue
        document = tune(options, name, path, threads, budget)
        if "error" in document:
            print(f"| {name} | {document['error']} |", flush=True)
            continue
        each = {**row(options, name, document), "kind": kind}
        rows.append(each)
        middle, low, high = each["over"]
        kernels = ", ".join(f"{speedup:.2f}x" for speedup in each["kernels"])
        print(f"| {name} | {each['default'] * 1e3:.3f} | {each['better_seconds'] * 1e3:.3f} | {each['better']} | "
              f"{each['hone'] * 1e3:.3f} | {each['best']} | {each['over_default']:.2f}x | "
              f"{middle:.2f}x [{low:.2f}, {high:.2f}] | {kernels} | {each['right']} of {each['tried']} | "
              f"{each['wall']:.0f} |", flush=True)
    if not rows:
        return
    print(f"\ngeometric mean over the default {geometric_mean([each['over_default'] for each in rows]):.2f}x, over the "
          f"better {geometric_mean([each['over'][0] for each in rows]):.2f}x, lowest "
          f"{min(each['over'][0] for each in rows):.2f}x; {sum(is_own(each['best']) for each in rows)} of {len(rows)} "
          "kept one of IREE's own\n")
    kinds = {each["kind"]: [] for each in rows}
    for each in rows:
        kinds[each["kind"]].append(each["over"][0])
    if len(kinds) > 1:
        print("by kind: " + "; ".join(f"{kind} {geometric_mean(values):.2f}x" for kind, values in kinds.items()) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", type=pathlib.Path, default=pathlib.Path("build/release/hone"))
    parser.add_argument("--store", type=pathlib.Path, default=pathlib.Path("cpu_dispatches"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--budget", default="20s")
    parser.add_argument("--program-threads", type=int, default=2)
    parser.add_argument("--program-budget", default="90s")
    parser.add_argument("--only", default="")
    parser.add_argument("--what", choices=["dispatches", "programs"])
    options = parser.parse_args()
    sources = options.store / "programs"
    sources.mkdir(parents=True, exist_ok=True)
    programs = []
    for kind, group in cpu_programs.KINDS.items():
        for name, text in group.items():
            path = sources / f"{name}.mlir"
            path.write_text(text)
            programs.append((kind, name, path))
    if options.what != "programs":
        table(options, programs, options.threads, options.budget)
    if options.what != "dispatches":
        table(options, [("program", name, EXAMPLES / f"{name}.mlir") for name in WHOLE], options.program_threads,
              options.program_budget)


if __name__ == "__main__":
    main()
