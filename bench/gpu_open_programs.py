#!/usr/bin/env python3
"""Tunes programs whose sizes are open until run time on a GPU, and lists what is wrong.

usage: bench/gpu_open_programs.py [--hone FILE] [--device cuda:0] [--target sm_90] [--budget 8s]
                                  [--only NAME ...] [--compile-only]

The sizes are primes and the like, so that hardly any tile divides them: what compiles and does not
take remainders is wrong here. Prints per program how many candidates compiled, were right and wrong,
the gain of the best, and what the wrong ones have in common. Exit status: 0 nothing failed, 1
something did.
"""
import argparse
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

import gpu_programs


def product(op, lhs, rhs, out, opened, element="f16"):
    """A matrix product; `opened`: argument and dimension of each '?' of `out`, in order."""
    types = {"a": f"tensor<{lhs}x{element}>", "b": f"tensor<{rhs}x{element}>"}
    lines, names = [], []
    for i, (argument, dimension) in enumerate(opened):
        lines += [f"  %i{i} = arith.constant {dimension} : index",
                  f"  %d{i} = tensor.dim %{argument}, %i{i} : {types[argument]}"]
        names.append(f"%d{i}")
    result = f"tensor<{out}xf32>"
    return "\n".join([
        f"func.func @main(%a: {types['a']}, %b: {types['b']}) -> {result} {{",
        "  %zero = arith.constant 0.0 : f32", *lines,
        f"  %empty = tensor.empty({', '.join(names)}) : {result}",
        f"  %filled = linalg.fill ins(%zero : f32) outs(%empty : {result}) -> {result}",
        f"  %out = {op} ins(%a, %b : {types['a']}, {types['b']}) outs(%filled : {result}) -> {result}",
        f"  return %out : {result}", "}", ""])


def opened(text, argument, dimension, replace):
    """A program of gpu_programs with '?' in its types; the sizes are those of an argument."""
    for old, new in replace:
        text = text.replace(old, new)
    kind = re.search(rf"%{argument}: (tensor<[^>]*>)", text).group(1)
    size = (f"  %i = arith.constant {dimension} : index\n"
            f"  %d = tensor.dim %{argument}, %i : {kind}\n")
    text = re.sub(r"tensor\.empty\(\) : (tensor<\S*\?)", r"tensor.empty(%d) : \1", text)
    first = text.index("{\n", text.index("func.func")) + 2
    return text[:first] + size + text[first:]


row_sum = gpu_programs.row_sum(4096, 1024)
PROGRAMS = {
    "matmul_m": (product("linalg.matmul", "?x1280", "1280x1024", "?x1024", [("a", 0)]), ["M=509"]),
    "matmul_n": (product("linalg.matmul", "512x1280", "1280x?", "512x?", [("b", 1)]), ["N=509"]),
    "matmul_f32_m": (product("linalg.matmul", "?x1280", "1280x1024", "?x1024", [("a", 0)], "f32"),
                     ["M=509"]),
    "batch_matmul_b": (product("linalg.batch_matmul", "?x512x256", "?x256x512", "?x512x512",
                               [("a", 0)]), ["B=7"]),
    "batch_matmul_m": (product("linalg.batch_matmul", "16x?x256", "16x256x512", "16x?x512",
                               [("a", 1)]), ["M=253"]),
    "matvec_m": (product("linalg.matvec", "?x1280", "1280", "?", [("a", 0)]), ["M=4099"]),
    "bias_gelu_m": (opened(gpu_programs.matmul_bias_gelu(2048, 5120, 1280), "a", 0,
                           [("2048x", "?x")]), ["M=509"]),
    "row_sum_rows": (opened(row_sum, "a", 0, [("4096", "?")]), ["input0.0=4099"]),
    "row_sum_length": (opened(row_sum, "a", 1, [("x1024", "x?")]), ["input0.1=1021"]),
    "softmax_rows": (opened(gpu_programs.softmax(4096, 1024), "a", 0, [("4096", "?")]),
                     ["input0.0=4099"]),
}


def in_common(rows):
    """Knobs that have one value in all configurations."""
    configurations = [dict(re.findall(r'"(\w+)":(\d+)', row)) for row in rows]
    return {knob: value for knob, value in configurations[0].items()
            if all(each.get(knob) == value for each in configurations)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hone", default="build/release/hone")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--target", default="sm_90")
    parser.add_argument("--budget", default="8s")
    parser.add_argument("--candidates", default="9999")
    parser.add_argument("--only", nargs="*", default=list(PROGRAMS))
    parser.add_argument("--compile-only", action="store_true")
    options = parser.parse_args()
    failed = False
    for name in options.only:
        text, sizes = PROGRAMS[name]
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            (place / "program.mlir").write_text(text)
            command = [options.hone, "tune", place / "program.mlir", "--target", options.target,
                       "--store", place / "hone.db", "--out", place, "--seed", "1",
                       "--candidates", options.candidates, "--quiet"]
            for size in sizes:
                command += ["--dim", size]
            command += (["--compile-only"] if options.compile_only else
                        ["--device", options.device, "--strategy", "random", "--budget",
                         options.budget, "--no-program"])
            done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
            said = [line for line in (done.stdout + done.stderr).splitlines()
                    if line.startswith(("hone:", "  main", "not tuned", "left out"))]
            if not (place / "hone.db").exists():
                print(f"{name}: {said}")
                failed = True
                continue
            store = sqlite3.connect(place / "hone.db")
            compiled = store.execute("select count(*) from artifact").fetchone()[0]
            rows = store.execute(
                "select c.configuration, v.correct from candidate c join artifact a on"
                " a.candidate_id = c.id join verification v on v.identity = a.identity").fetchall()
            wrong = [row[0] for row in rows if row[1] == 0]
            kinds = store.execute("select kind, count(*), min(message) from failure"
                                  " where kind <> 'wrong' group by kind").fetchall()
            gain = store.execute("select max(speedup) from selection").fetchone()[0]
            print(f"{name} {' '.join(sizes)}: {compiled} compiled, "
                  f"{sum(row[1] for row in rows)} right, {len(wrong)} wrong, best {gain or 1:.2f}x, "
                  f"spec {'yes' if (place / 'tuning_spec.mlir').exists() else 'no'}", *said,
                  sep="\n  ", flush=True)
            for kind, count, message in kinds:
                print(f"  {count} {kind}: {message[:300]}")
            if wrong:
                print(f"  the wrong ones have in common: {in_common(wrong)}")
                print("\n".join("  wrong " + row for row in wrong[:12]))
                print("\n".join("  right " + row[0] for row in rows if row[1] == 1)[:1500])
            failed = failed or bool(wrong or kinds or done.returncode)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
