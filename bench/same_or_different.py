#!/usr/bin/env python3
"""How often are hone's verdicts wrong on this machine?

usage: bench/same_or_different.py same|planted|entry|loaded [--count N] [--first N] [--hone FILE] [--threads N]

same     `hone compare` of a kernel with itself (--what modules: of a module with itself): at most
         5 of 100 may be called different.
planted  `hone compare` of a module with one that has 33 rows for every 32, so 3.1 % more of the same
         work: at least 95 of 100 must be called slower.
entry    the same of a program of five products with its spec, and with a spec in which one of the five
         entries costs the program about 3 %.
loaded   the same tuning again and again while a load on another core starts and stops at random: is
         the winner one of the tie set of a quiet tuning, every time? The candidates are the same.

Run with nothing else running. --first and --record FILE split a long run: the seeds go on from
--first, and each result is a line of FILE.
"""
import argparse
import json
import multiprocessing
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

MATMUL = """func.func @product(%a: tensor<{m}x256xf32>, %b: tensor<256x256xf32>) -> tensor<{m}x256xf32> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{m}x256xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<{m}x256xf32>) -> tensor<{m}x256xf32>
  %product = linalg.matmul ins(%a, %b : tensor<{m}x256xf32>, tensor<256x256xf32>)
                           outs(%filled : tensor<{m}x256xf32>) -> tensor<{m}x256xf32>
  return %product : tensor<{m}x256xf32>
}}
"""
ROWS, MORE_ROWS = 1024, 1056
FIVE = [(160, 192, 320), (192, 320, 160), (224, 160, 288), (288, 224, 160), (320, 160, 256)]  # m, n, k


def run(*command, codes=(0, 1), prints=True):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode not in codes or prints and not done.stdout:  # 1 is a verdict too
        sys.exit(f"{command[0]} failed ({done.returncode}): {done.stderr}")
    return done.stdout


def compile_module(options, folder, rows):
    library = json.loads(run(options.hone, "devices", "--json"))["iree"]["library"]
    source, module = folder / f"{rows}.mlir", folder / f"{rows}.vmfb"
    source.write_text(MATMUL.format(m=rows))
    run(pathlib.Path(library).parent / "iree-compile", source, "-o", module,
        "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=host", codes=(0,), prints=False)
    return module


def record(options, line):
    if options.record:
        with open(options.record, "a") as file:
            file.write(json.dumps(line) + "\n")


def compare_often(options, *operands):
    """The verdicts of `--count` comparisons, by name."""
    verdicts, ratios = {}, []
    for seed in range(options.first, options.first + options.count):
        begin = time.monotonic()
        document = json.loads(run(options.hone, "compare", *operands, "--threads", options.threads,
                                  "--seed", seed, "--rounds", options.rounds, "--seconds",
                                  options.seconds, "--json"))
        pair = document["comparisons"][0]
        verdicts[pair["verdict"]] = verdicts.get(pair["verdict"], 0) + 1
        ratios.append(pair["ratio"])
        line = {"part": options.part, "what": options.what, "seed": seed,
                "verdict": pair["verdict"], "ratio": pair["ratio"], "low": pair["low"],
                "high": pair["high"], "smallest_difference": pair["smallest_difference"],
                "noise": document["machine"]["noise"]["smallest_difference"],
                "background": pair["machine"].get("background"),
                "seconds": round(time.monotonic() - begin, 2)}
        record(options, line)
        if options.verbose or pair["verdict"] != "no different" and options.part == "same":
            print(json.dumps(line), flush=True)
    ratios.sort()
    print(f"ratios: {ratios[0]:.4f} to {ratios[-1]:.4f}, median {ratios[len(ratios) // 2]:.4f}")
    return verdicts


def same(options, folder):
    if options.what == "modules":
        module = compile_module(options, folder, ROWS)
        verdicts = compare_often(options, module, module)
    else:
        verdicts = compare_often(options, "--program", options.program, "--config", "default",
                                 "--config", "default")
    different = options.count - verdicts.get("no different", 0)
    print(f"the same {options.what} twice: {different} of {options.count} called different "
          f"{verdicts}")
    return different <= 0.05 * options.count


def planted(options, folder):
    a, b = (compile_module(options, folder, rows) for rows in (ROWS, MORE_ROWS))
    verdicts = compare_often(options, a, b)
    found = verdicts.get("slower", 0)
    print(f"{100 * (MORE_ROWS / ROWS - 1):.1f} % more rows: {found} of {options.count} found "
          f"{verdicts}")
    return found >= 0.95 * options.count


def five_products():
    arguments = ", ".join(f"%a{i}: tensor<{m}x{k}xf32>, %b{i}: tensor<{k}x{n}xf32>"
                          for i, (m, n, k) in enumerate(FIVE))
    results = ", ".join(f"tensor<{m}x{n}xf32>" for m, n, _ in FIVE)
    lines = [f"func.func @five({arguments}) -> ({results}) {{", "  %zero = arith.constant 0.0 : f32"]
    for i, (m, n, k) in enumerate(FIVE):
        result = f"tensor<{m}x{n}xf32>"
        lines += [f"  %e{i} = tensor.empty() : {result}",
                  f"  %f{i} = linalg.fill ins(%zero : f32) outs(%e{i} : {result}) -> {result}",
                  f"  %p{i} = linalg.matmul ins(%a{i}, %b{i} : tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>)"
                  f" outs(%f{i} : {result}) -> {result}"]
    lines.append(f"  return {', '.join(f'%p{i}' for i in range(len(FIVE)))} : {results}")
    return "\n".join(lines) + "\n}\n"


def entries_of(spec):
    """{dispatch: (number, text of its two sequences)}"""
    parts = re.split(r"(?=  // \S+: )|(?=  transform\.named_sequence @__kernel_config)", spec)
    found = {}
    for part in parts:
        match = re.search(r"@match_(\d+)_(\w+)\(", part)
        if match:
            found[match[2]] = (match[1], part)
    return found


def entry(options, folder):
    program, store, out = folder / "five.mlir", folder / "five.db", folder / "out"
    program.write_text(five_products())
    document = json.loads(run(options.hone, "tune", program, "--threads", options.threads, "--no-program",
                              "--budget", options.budget, "--store", store, "--out", out, "--json"))
    spec = (out / "tuning_spec.mlir").read_text()
    entries = entries_of(spec)
    if len(entries) != len(FIVE):
        sys.exit(f"the spec has {len(entries)} entries: {sorted(entries)}; more --budget?")
    rows = json.loads(run(options.hone, "store", "export", store, "--format", "json"))["candidates"]
    rows = [row for row in rows if row["provider"] == "iree" and row["median_seconds"] and row["right"]]
    winners = {row["winner"] for row in document["dispatches"]}
    best = {row["dispatch_name"]: row["median_seconds"] for row in rows if row["candidate"] in winners}
    whole = sum(best.values())
    slower = [((row["median_seconds"] - best[row["dispatch_name"]]) / whole, row) for row in rows
              if row["dispatch_name"] in best and not row["default"]]
    share, row = min(slower, key=lambda each: abs(each[0] - 0.031))
    run(options.hone, "show", row["candidate"], "--store", store, "--out", folder / "shown")
    (number, text) = entries[row["dispatch_name"]]
    (_, (own_number, own)), = entries_of((folder / "shown" / "tuning_spec.mlir").read_text()).items()
    with_slower = folder / "slower.mlir"
    name = row["dispatch_name"]
    with_slower.write_text(spec.replace(text, own.replace(f"_{own_number}_{name}", f"_{number}_{name}")))
    print(f"in {name} {row['configuration']} takes {100 * share:.1f} % of the five", flush=True)
    verdicts = compare_often(options, "--program", program, out / "tuning_spec.mlir", with_slower)
    found = verdicts.get("slower", 0)
    print(f"one slower entry of five: {found} of {options.count} found {verdicts}")
    return found >= 0.95 * options.count


def load(core, seed):
    """Spins or streams through memory on a core, with pauses, each of random length."""
    os.sched_setaffinity(0, {core})
    generator = random.Random(seed)
    block = bytearray(64 << 20)
    while True:
        end = time.monotonic() + generator.uniform(0.1, 1.5)
        streams = generator.random() < 0.5
        while time.monotonic() < end:
            bytes(block) if streams else sum(range(100000))
        time.sleep(generator.uniform(0.1, 1.5))


def tune(options, store):
    """The winner's configuration and those of its tie set; the default's is "{}"."""
    document = json.loads(run(options.hone, "tune", options.program, "--cores", options.core,
                              "--candidates", options.candidates, "--seed", 7, "--budget",
                              options.budget, "--no-program", "--json", "--store", store, "--out",
                              store.with_suffix(".out")))
    row = document["dispatches"][0]
    exported = json.loads(run(options.hone, "store", "export", store, "--format", "json"))
    by_id = {each["candidate"]: text_of(each["configuration"]) for each in exported["candidates"]}
    winner = text_of(row["configuration"] or "{}")
    return winner, {by_id[each] for each in row["ties"]} | {winner}, row["tried"]


def text_of(configuration):
    parsed = json.loads(configuration) if isinstance(configuration, str) else configuration
    return json.dumps(parsed, sort_keys=True)


def loaded(options, folder):
    _, ties, tried = tune(options, folder / "quiet.db")
    print(f"quiet: {tried} candidates, tie set of {len(ties)}: {sorted(ties)}", flush=True)
    inside = 0
    for seed in range(options.first, options.first + options.count):
        process = multiprocessing.Process(target=load, args=(options.load_core, seed), daemon=True)
        process.start()
        begin = time.monotonic()
        winner, own, tried = tune(options, folder / f"{seed}.db")
        process.kill()
        process.join()
        inside += winner in ties
        line = {"part": "loaded", "seed": seed, "inside": winner in ties, "winner": winner,
                "tried": tried, "own_ties": len(own), "seconds": round(time.monotonic() - begin, 2)}
        record(options, line)
        print(json.dumps(line), flush=True)
    print(f"with a load on core {options.load_core}: the winner is in the quiet tie set in {inside} "
          f"of {options.count}")
    return inside == options.count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["same", "planted", "entry", "loaded"])
    parser.add_argument("--hone", default="build/release/hone")
    parser.add_argument("--program", default="examples/matmul_512.mlir")
    parser.add_argument("--what", choices=["kernels", "modules"], default="kernels")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--threads", default="1")
    parser.add_argument("--rounds", default="30")
    parser.add_argument("--seconds", default="0.05", help="of a sample of a module")
    parser.add_argument("--core", default="0", help="that the loaded tuning runs on")
    parser.add_argument("--load-core", type=int, default=1)
    parser.add_argument("--candidates", default="8")
    parser.add_argument("--budget", default="60s")
    parser.add_argument("--record", help="file that each result is added to, a line of JSON each")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hone-bench-") as name:
        part = {"same": same, "planted": planted, "entry": entry,
                "loaded": loaded}[options.part]
        return 0 if part(options, pathlib.Path(name)) else 1


if __name__ == "__main__":
    sys.exit(main())
