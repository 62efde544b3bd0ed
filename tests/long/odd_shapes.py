#!/usr/bin/env python3
"""Every kind of operation of the dispatch profiler, in all its types and layouts, at small odd shapes on this machine's
CPU (--device cuda: on its GPU; --device hip: on AMD's, or on the emulated one of --hip FOLDER): hone generate, then hone profile, and each dispatch must be right (docs/status.md says
what of it is not).

usage: odd_shapes.py [--hone PATH] [--folder DIR] [--device cpu|cuda|hip] [--hip FOLDER]

Takes about six minutes on two cores. Exit status: 0 all are as expected, 1 some are not.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRODUCTS = [(1, 7, 31), (7, 33, 127), (127, 31, 33), (33, 1, 7), (31, 127, 1)]  # m, n, k
FLOATS = '["f16", "bf16", "f32", "f16,f16,f32", "bf16,bf16,f32"]'
# height, width, channels, filters, filter height and width, stride, dilation, padding, groups
CONVOLUTIONS = [(7, 7, 1, 7, 3, 3, 1, 1, 0, 1), (31, 7, 7, 1, 1, 1, 2, 1, 0, 1), (7, 33, 6, 6, 3, 1, 1, 2, 1, 3),
                (9, 9, 31, 33, 3, 3, 2, 1, 1, 1), (5, 7, 8, 8, 3, 3, 1, 1, 1, 8)]
CONVOLUTION_KEYS = ("height", "width", "channels", "filters", "filter_height", "filter_width", "stride", "dilation",
                    "padding", "groups")
ATTENTION = [(1, 1, 7, 31), (3, 33, 127, 7), (2, 127, 31, 33)]  # heads, queries, keys, elements
# Operations that the compiler gets wrong or refuses (docs/status.md), by a regular expression for the name.
HALF = "b?f16"
# lhs by columns, rhs by rows: k is padded with the next batch's first row (docs/emulator.md).
WIDE = "bf16n_bf16t_(bf16|f32)t|f16n_f16t_f32t|s8n_s8t_s32t"
KNOWN = {"cpu": [],
         "cuda": ["attention_1x1x7x31_.*",
                  f"batch_matmul_3x(1x7x31|7x33x127|127x31x33|31x127x1)_{HALF}(t_{HALF}t|n_{HALF}n|n_{HALF}t)_.*",
                  f"matmul_splitk_(7x33x254|127x31x66)_{HALF}n_{HALF}t_.*"],
         "hip": ["attention_1x1x7x31_.*",
                 f"batch_matmul_3x(1x7x31|7x33x127|33x1x7)_({WIDE}|f32n_f32t_f32t)",
                 f"batch_matmul_3x(31x127x1|127x31x33)_({WIDE})",
                 f"matmul_splitk_7x33x254_({WIDE}|f32n_f32t_f32t)_.*",
                 f"matmul_splitk_127x31x66_({WIDE})_.*"]}


def workload():
    entries = []
    for kind in ("matmul", "matmul_bias_relu", "matmul_bias_gelu", "matmul_bias_add", "batch_matmul"):
        types = FLOATS if kind == "matmul_bias_gelu" else "all"
        batch = "batch: 3, " if kind == "batch_matmul" else ""
        for m, n, k in PRODUCTS:
            entries.append(f"{{kind: {kind}, {batch}m: {m}, n: {n}, k: {k}, types: {types}, layouts: all}}")
    for m, n, k in PRODUCTS[:3]:
        entries.append(f"{{kind: matmul_splitk, m: {m}, n: {n}, k: {2 * k}, split_k_slices: 2, types: all, layouts: all}}")
    for kind in ("conv2d", "conv2d_bias_relu"):
        for shape in CONVOLUTIONS:
            keys = ", ".join(f"{key}: {value}" for key, value in zip(CONVOLUTION_KEYS, shape))
            entries.append(f"{{kind: {kind}, images: 1, {keys}, types: all, layouts: [nhwc, nchw]}}")
    for batch, m, n, k in ATTENTION:
        entries.append(f'{{kind: attention, batch: {batch}, m: {m}, n: {n}, k: {k}, types: ["f16", "bf16", "f32"]}}')
    return "operations:\n" + "".join(f"  - {entry}\n" for entry in entries)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", default=str(ROOT / "build/dev/hone"))
    parser.add_argument("--folder")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda", "hip"))
    parser.add_argument("--hip", help="folder of the emulated device's HIP library")
    options = parser.parse_args()
    environment = dict(os.environ)
    if options.hip:
        environment |= {"LD_LIBRARY_PATH": options.hip, "HIP_SKIP_ABORT_ON_GPU_ERROR": "1", "HONE_FAKE_HIP_UUID": "odd-shapes"}
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.folder or temporary)
        (folder / "workload.yaml").write_text(workload())
        generate = [options.hone, "generate", "--workload", "workload.yaml", "--device",
                    "rocm" if options.device == "hip" else options.device,
                    "--configs", "default"]
        subprocess.run(generate, cwd=folder, stdout=subprocess.DEVNULL, check=True)
        profile = [options.hone, "profile", "--device", options.device, "--providers", "iree", "--benchmark-repetitions", "1",
                   "--output", "rows.json", *(["--profiling-enabled", "false"] if options.hip else [])]
        subprocess.run(profile, cwd=folder, stdout=subprocess.DEVNULL, check=False, env=environment)
        rows = json.loads((folder / "rows.json").read_text())
    failed = {row["Operation"]: row["Message"] for row in rows if row["Verification"] != "SUCCESS"}
    known = {row["Operation"] for row in rows
             if any(re.fullmatch(each, row["Operation"]) for each in KNOWN[options.device])}
    for name in sorted(failed.keys() - known):
        print(f"FAILED {name}: {failed[name]}")
    for name in sorted(known - failed.keys()):
        print(f"{name} is right now: take it out of KNOWN, and out of docs/status.md")
    print(f"{len(rows) - len(failed)} of {len(rows)} right")
    return 0 if rows and failed.keys() == known else 1


if __name__ == "__main__":
    sys.exit(main())
