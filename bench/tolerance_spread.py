#!/usr/bin/env python3
"""How wide are hone's tolerances? For kinds of dispatches that round: the largest difference between right
implementations (IREE for baseline x86-64, IREE for this CPU, the same in double precision rounded once, and
in the type's own precision with sums in order) over all elements, and what hone allows there.

usage: bench/tolerance_spread.py [--hone build/release/hone] [--iree .venv]
"""
import argparse
import json
import pathlib
import re
import subprocess
import tempfile

import numpy as np

TYPES = {"f32": np.float32, "f16": np.float16}


def function(arguments, result, body):
    return f"func.func @main({arguments}) -> {result} {{\n{body}  return %r : {result}\n}}\n"


def elementwise(t, body):
    s = f"tensor<64x256x{t}>"
    return function(f"%a: {s}", s, f"""  %e = tensor.empty() : {s}
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}} ins(%a : {s}) outs(%e : {s}) {{
  ^bb0(%x: {t}, %o: {t}):
{body}    linalg.yield %s : {t}
  }} -> {s}
""")


def rows(t, terms, body):
    s, o = f"tensor<64x{terms}x{t}>", f"tensor<64x{t}>"
    return function(f"%a: {s}", o, f"""  %z = arith.constant 0.0 : {t}
  %e = tensor.empty() : {o}
  %f = linalg.fill ins(%z : {t}) outs(%e : {o}) -> {o}
  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}} ins(%a : {s}) outs(%f : {o}) {{
  ^bb0(%x: {t}, %o: {t}):
{body}    linalg.yield %s : {t}
  }} -> {o}
""")


def attention(t):
    s = f"tensor<4x128x64x{t}>"
    return function(f"%q: {s}, %k: {s}, %v: {s}", s, f"""  %c = arith.constant 0.125 : {t}
  %e = tensor.empty() : {s}
  %r = iree_linalg_ext.attention <{{indexing_maps = [affine_map<(b, m, n, k1, k2) -> (b, m, k1)>,
      affine_map<(b, m, n, k1, k2) -> (b, k2, k1)>, affine_map<(b, m, n, k1, k2) -> (b, k2, n)>,
      affine_map<(b, m, n, k1, k2) -> ()>, affine_map<(b, m, n, k1, k2) -> (b, m, n)>]}}>
      ins(%q, %k, %v, %c : {s}, {s}, {s}, {t}) outs(%e : {s}) {{
  ^bb0(%x: f32):
    iree_linalg_ext.yield %x : f32
  }} -> {s}
""")


def softmax(t):
    s = f"tensor<64x512x{t}>"
    return function(f"%a: {s}", s, f"""  %e = tensor.empty() : {s}
  %r = linalg.softmax dimension(1) ins(%a : {s}) outs(%e : {s}) -> {s}
""")


def in_order(x):
    return np.add.accumulate(x, axis=-1, dtype=x.dtype)[..., -1:]


def erf(x):
    from math import erf as one
    return np.vectorize(one, otypes=[np.float64])(x)


def soft(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e, e.sum(-1, keepdims=True)


def kinds(t):
    op = lambda r, name, x: f"    %{r} = {name} {x} : {t}\n"
    made = {
        "exp": (elementwise(t, op("s", "math.exp", "%x")), [(64, 256)], np.exp, np.exp),
        "log": (elementwise(t, op("s", "math.log", "%x")), [(64, 256)], np.log, np.log),
        "rsqrt": (elementwise(t, op("s", "math.rsqrt", "%x")), [(64, 256)], lambda x: 1 / np.sqrt(x),
                  lambda x: np.asarray(1, x.dtype) / np.sqrt(x)),
        "tanh": (elementwise(t, op("s", "math.tanh", "%x")), [(64, 256)], np.tanh, np.tanh),
        "gelu": (elementwise(t, op("h", "arith.constant", "0.5") + op("l", "arith.constant", "1.0") +
                             op("c", "arith.constant", "0.70710678") + op("y", "arith.mulf", "%x, %c") +
                             op("t", "math.erf", "%y") + op("q", "arith.addf", "%t, %l") +
                             op("p", "arith.mulf", "%x, %q") + op("s", "arith.mulf", "%p, %h")), [(64, 256)],
                 lambda x: x * (1 + erf(x * np.float64(0.70710678))) * 0.5, None),
        "mean of 49": (rows(t, 49, op("c", "arith.constant", "49.0") + op("p", "arith.divf", "%x, %c") +
                            op("s", "arith.addf", "%p, %o")), [(64, 49)],
                       lambda x: (x / 49).sum(-1), lambda x: in_order(x / np.asarray(49, x.dtype))[..., 0]),
        "sum of 512 exp": (rows(t, 512, op("p", "math.exp", "%x") + op("s", "arith.addf", "%p, %o")),
                           [(64, 512)], lambda x: np.exp(x).sum(-1), lambda x: in_order(np.exp(x))[..., 0]),
        "attention": (attention(t), [(4, 128, 64)] * 3,
                      lambda q, k, v: (lambda e, s: e / s @ v)(*soft(q @ k.transpose(0, 2, 1) * 0.125)), None),
    }
    if t == "f32":
        made["softmax"] = (softmax(t), [(64, 512)], lambda x: (lambda e, s: e / s)(*soft(x)),
                           lambda x: (lambda e: e / in_order(e))(np.exp(x - x.max(-1, keepdims=True))))
    return made


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{command}: {done.stderr or done.stdout}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--hone", default="build/release/hone")
    parser.add_argument("--iree", default=".venv", type=pathlib.Path)
    args = parser.parse_args()
    print(f"{'kind':16} {'type':5} {'typical':>10} {'spread':>10} {'allowed':>10}  allowed/spread")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for t, dtype in TYPES.items():
            for name, (text, shapes, wide, own) in kinds(t).items():
                program = folder / "p.mlir"
                program.write_text(text)
                words = run(args.hone, "verify", program, "--dispatch", "0", "--iree", args.iree)
                allowed = re.findall(r"absolute ([-+.e\d]+), relative ([-+.e\d]+)", words)[0]
                draw = np.random.default_rng(1)
                inputs = [(draw.uniform(0.5, 1.5, s) * (1 if name in ("log", "rsqrt") else
                                                        draw.choice([-1, 1], s))).astype(dtype) for s in shapes]
                if name == "attention":
                    inputs[0] = (inputs[0] * 2).astype(dtype)
                results = [wide(*[x.astype(np.float64) for x in inputs]).astype(dtype)]
                if own is not None:
                    results.append(np.asarray(own(*inputs), dtype))
                flags = []
                for i, x in enumerate(inputs):
                    np.save(folder / f"{i}.npy", x)
                    flags.append(f"--input=@{folder}/{i}.npy")
                for cpu in (["x86-64", "--iree-llvmcpu-target-cpu-features=+f16c"], ["host"]):
                    run(args.iree / "bin/iree-compile", program, "--iree-hal-target-device=local",
                        "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=" + cpu[0],
                        *cpu[1:], "-o", folder / "p.vmfb")
                    run(args.iree / "bin/iree-run-module", f"--module={folder}/p.vmfb", "--device=local-sync",
                        "--function=main", f"--output=@{folder}/out.npy", *flags)
                    results.append(np.load(folder / "out.npy").reshape(results[0].shape))
                exact = results[0].astype(np.float64)
                limit = float(allowed[0]) + float(allowed[1]) * np.abs(exact)
                wide_results = [r.astype(np.float64) for r in results]
                spread = np.max(wide_results, axis=0) - np.min(wide_results, axis=0)
                # Both at their largest share of what is allowed to an element.
                used = (spread / limit).max()
                at = np.unravel_index((spread / limit).argmax(), limit.shape)
                print(f"{name:16} {t:5} {np.abs(exact).mean():10.3g} {spread[at]:10.2g} {limit[at]:10.2g}  "
                      f"{1 / used if used > 0 else float('inf'):.1f}", flush=True)


if __name__ == "__main__":
    main()
