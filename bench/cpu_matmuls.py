#!/usr/bin/env python3
"""Tunes five CPU programs and prints them beside IREE's own best and OpenBLAS.

usage: bench/cpu_matmuls.py [--hone build/release/hone] [--threads 1,2] [--budget 45s] [--only NAME]

For each program and number of threads `hone tune` measures everything interleaved in one run: the
whole program with IREE's default flags, with data tiling, with its micro-kernels, with the spec
(under IREE's runtime tools); the dispatch beside OpenBLAS (on hone's own threads). Ratios above 1
are faster. "hone" is what hone recommends for the program: where no spec beats IREE's own flags it
falls back to them, which is counted. Needs nothing but Python's standard library.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile


def matmul(m, n, k, lhs, out):
    a, b, c = f"tensor<{m}x{k}x{lhs}>", f"tensor<{k}x{n}x{lhs}>", f"tensor<{m}x{n}x{out}>"
    return f"""func.func @program(%a: {a}, %b: {b}) -> {c} {{
  %zero = arith.constant 0.0 : {out}
  %empty = tensor.empty() : {c}
  %init = linalg.fill ins(%zero : {out}) outs(%empty : {c}) -> {c}
  %r = linalg.matmul ins(%a, %b : {a}, {b}) outs(%init : {c}) -> {c}
  return %r : {c}
}}
"""


def matmul_bias_gelu(m, n, k):
    a, b, c = f"tensor<{m}x{k}xf32>", f"tensor<{k}x{n}xf32>", f"tensor<{m}x{n}xf32>"
    return f"""#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
func.func @program(%a: {a}, %b: {b}, %bias: tensor<{n}xf32>) -> {c} {{
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %rsqrt2 = arith.constant 0.70710678 : f32
  %empty = tensor.empty() : {c}
  %init = linalg.fill ins(%zero : f32) outs(%empty : {c}) -> {c}
  %h = linalg.matmul ins(%a, %b : {a}, {b}) outs(%init : {c}) -> {c}
  %g = linalg.generic {{indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%h, %bias : {c}, tensor<{n}xf32>) outs(%empty : {c}) {{
  ^bb0(%x: f32, %y: f32, %out: f32):
    %s = arith.addf %x, %y : f32
    %t = arith.mulf %s, %rsqrt2 : f32
    %e = math.erf %t : f32
    %p = arith.addf %e, %one : f32
    %q = arith.mulf %s, %p : f32
    %r = arith.mulf %q, %half : f32
    linalg.yield %r : f32
  }} -> {c}
  return %g : {c}
}}
"""


PROGRAMS = {
    "512^3 f32": matmul(512, 512, 512, "f32", "f32"),
    "1024^3 f32": matmul(1024, 1024, 1024, "f32", "f32"),
    "384x512x1536 f32": matmul(384, 512, 1536, "f32", "f32"),
    "2048x1280x1280 f16": matmul(2048, 1280, 1280, "f16", "f32"),
    "128x3072x768 gelu": matmul_bias_gelu(128, 3072, 768),
}


def tune(hone, name, text, threads, budget, folder):
    """The JSON document of `hone tune`, and the program's variants by name."""
    folder = folder / f"{name.replace(' ', '_').replace('^', '')}_{threads}"
    folder.mkdir()
    program = folder / "program.mlir"
    program.write_text(text)
    command = [hone, "tune", program, "--no-flags", "--threads", str(threads), "--budget", budget, "--json",
               "--store", folder / "hone.db", "--out", folder / "out"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"hone tune failed on {name}: {done.stderr}")
    return json.loads(done.stdout)


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hone", default="build/release/hone")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--budget", default="45s")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hone-bench-") as folder:
        for threads in (int(each) for each in options.threads.split(",")):
            print(f"\n{threads} thread{'s' if threads > 1 else ''}: ms of the whole program")
            print(f"{'program':20}{'default':>9}{'tiling':>9}{'+ukernel':>9}{'spec':>9}{'hone':>9}"
                  f"{'/default':>9}{'/better':>9}  {'recommended':28}"
                  f"{'GFLOP/s':>8}{'OpenBLAS':>9}{'of peak':>8}  verified", flush=True)
            over_default, over_better, fallbacks = [], [], 0
            for name, text in PROGRAMS.items():
                if options.only not in name:
                    continue
                result = tune(options.hone, name, text, threads, options.budget,
                              pathlib.Path(folder))
                seconds = {row["variant"]: row["seconds"] for row in result["programs"]}
                dispatch = result["dispatches"][0]
                own = [seconds[key] for key in ("default", "data tiling",
                                                "data tiling + micro-kernels") if seconds[key]]
                chosen = seconds[result["best"]]
                fallback = result["best"] != "default" and "spec" not in result["best"]
                fallbacks += fallback
                # A fallback is one of IREE's own: its ratio to the better of them is 1 but for
                # the choice among equals.
                over_default.append(seconds["default"] / chosen)
                over_better.append(1.0 if fallback else min(own) / chosen)
                ms = [seconds.get(key) for key in ("default", "data tiling",
                                                   "data tiling + micro-kernels", "spec")]
                cells = "".join(f"{value * 1e3:9.3f}" if value else f"{'-':>9}"
                                for value in ms + [chosen])
                openblas = dispatch["openblas_gflops"]
                print(f"{name:20}{cells}{over_default[-1]:8.2f}x{over_better[-1]:8.2f}x  "
                      f"{result['best'] + (' (fallback)' if fallback else ''):28}"
                      f"{dispatch['gflops']:8.1f}"
                      f"{openblas if openblas is None else round(openblas, 1)!s:>9}"
                      f"{dispatch['share_of_peak_percent']:7.0f}%  "
                      f"{dispatch['verified']} of {dispatch['tried']}", flush=True)
            print(f"geometric mean over IREE's default {geometric_mean(over_default):.2f}x, over "
                  f"the better of IREE's own {geometric_mean(over_better):.2f}x; lowest "
                  f"{min(over_better):.2f}x; {fallbacks} fallback(s) to IREE's flags")


if __name__ == "__main__":
    main()
