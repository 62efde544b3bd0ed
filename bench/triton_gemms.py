"""Measures hone's Triton GEMMs on a GPU and prints a table for each question. scripts/bench-triton calls it.

usage: triton_gemms.py [--hone FILE] [--out FOLDER] [--budget TIME] QUESTION...
  autotune   131 configurations of 2048x1280x5120 beside @triton.autotune, cold caches, interleaved thrice
  tune_gemm  the whole space of tune_gemm of 2048x1280x5120
  library    ten problems, both layouts of B, beside cuBLASLt in the same run
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from triton_configurations import as_hone_knobs, configurations  # noqa: E402

PROBLEMS = [("fp16", 2048, 10240, 1280), ("fp16", 4096, 4096, 4096), ("fp16", 3456, 1024, 2048),
            ("fp16", 2048, 1280, 5120), ("fp16", 2048, 1280, 1280), ("fp16", 8192, 640, 640),
            ("fp16", 64, 4096, 4096), ("fp16", 16, 8192, 8192), ("bf16", 4096, 7168, 2112),
            ("bf16", 128, 7168, 16384)]


def tune(options, name, arguments):
    """(document, wall seconds) of one hone tune, from an empty store."""
    folder = options.out / name
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    begin = time.monotonic()
    run = subprocess.run([options.hone, "tune", "--provider", "triton", "--json", "--store", folder / "hone.db",
                          "--out", folder, "--device", options.device, *map(str, arguments)],
                         capture_output=True, text=True, check=False)
    wall = time.monotonic() - begin
    if run.returncode not in (0, 1) or not run.stdout.strip():
        sys.exit(f"{name}: exit status {run.returncode}: {run.stderr}")
    (folder / "document.json").write_text(run.stdout)
    return json.loads(run.stdout), wall


def size(m, n, k, dtype="fp16", columns=True):
    return ["-m", m, "-n", n, "-k", k, "--dtype-a", dtype, "--dtype-b", dtype, "--dtype-c", dtype,
            *(["--col-b"] if columns else [])]


def print_budget(document):
    for row in document["time_budget"]:
        print(f"    {row['of']:10} {row['phase']:20} {row['seconds']:7.2f} s  {row['count']}")


def counts(document):
    row = document["gpu"][0]
    return {key: row[key] for key in ("tried", "compiled", "wrong", "right") if key in row}


def autotune(options):
    given = [part for each in configurations() for part in ("--config", as_hone_knobs(each))]
    for turn in range(options.turns):
        theirs = json.loads(subprocess.run(
            [sys.executable, HERE / "triton_autotune.py", "2048", "1280", "5120"], capture_output=True, text=True,
            check=True).stdout)
        print(f"@triton.autotune: {theirs['autotune_s']:.1f} s (and {theirs['import_s']:.1f} s of import), best "
              f"{theirs['best_ms'] * 1e3:.1f} us: {theirs['best']}")
        for repeat in range(options.repeats):
            document, wall = tune(options, f"autotune-{turn}-{repeat}",
                                  [*size(2048, 1280, 5120), "--relax", "all", "--budget", options.quick,
                                   "--no-baselines", *given])
            ours = document["gemms"][0]
            print(f"hone: {wall:.1f} s in all, best {ours['time'] * 1e6:.1f} us: {ours['configuration']}, "
                  f"{counts(document)}")
            print_budget(document)


def tune_gemm(options):
    document, wall = tune(options, "tune_gemm", [*size(2048, 1280, 5120), "--space", "tune_gemm", "--strategy",
                                                 "prior", "--budget", options.space_budget, "--compile-timeout",
                                                 options.compile_timeout, "--no-baselines"])
    ours = document["gemms"][0]
    print(f"tune_gemm's space: {wall:.1f} s, best {ours['time'] * 1e6:.1f} us, {ours['configuration']}, "
          f"{counts(document)}")
    print_budget(document)


def library(options):
    ratios, bests = [], []
    print("problem, B, TFLOP/s, cuBLASLt's first heuristic / hone, its best / hone, right, wall, configuration")
    for dtype, m, n, k in options.problems:
        for columns in (True, False):
            name = f"{dtype}-{m}x{n}x{k}-{'nk' if columns else 'kn'}"
            document, wall = tune(options, name, [*size(m, n, k, dtype, columns), "--cache", "cold", "--budget",
                                                  options.budget])
            ours, gpu = document["gemms"][0], document["gpu"][0]
            first, best = ((gpu[key] or {}).get("over_tuned") for key in ("cublaslt_first", "cublaslt_best"))
            if first and best:
                ratios.append(first)
                bests.append(best)
            print(f"{name:28} {ours['tflops']:7.1f} {first or math.nan:6.3f} {best or math.nan:6.3f} "
                  f"{counts(document)} {wall:5.1f} s {ours['configuration']}", flush=True)
    mean = lambda values: math.exp(sum(map(math.log, values)) / len(values))  # noqa: E731
    print(f"geometric mean of cuBLASLt's time / hone's: first heuristic {mean(ratios):.3f}, best of all it returns "
          f"{mean(bests):.3f}; above 1.0 of the first on {sum(each > 1 for each in ratios)} of {len(ratios)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    questions = {"autotune": autotune, "tune_gemm": tune_gemm, "library": library}
    parser.add_argument("questions", nargs="+", choices=questions)
    parser.add_argument("--hone", default=os.environ.get("HONE", "build/release/hone"))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/triton"))
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--budget", default="12s", help="of each problem of `library`")
    parser.add_argument("--quick", default="5s", help="of `autotune`")
    parser.add_argument("--turns", type=int, default=3, help="of `autotune`")
    parser.add_argument("--repeats", type=int, default=1, help="of hone in each turn of `autotune`")
    parser.add_argument("--space-budget", default="80s", help="of `tune_gemm`")
    parser.add_argument("--compile-timeout", default="6", help="seconds of one candidate of `tune_gemm`")
    parser.add_argument("--only", type=int, nargs="*", help="problems of `library`, by place")
    options = parser.parse_args()
    options.problems = [PROBLEMS[i] for i in options.only] if options.only else PROBLEMS
    for question in options.questions:
        print(f"== {question}", flush=True)
        questions[question](options)


if __name__ == "__main__":
    main()
