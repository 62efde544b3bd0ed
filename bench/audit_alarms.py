#!/usr/bin/env python3
"""How often does `hone spec audit` raise a false alarm?

usage: bench/audit_alarms.py [--count N] [--target TARGET] [--device DEVICE] [--hone FILE] [--out FILE]

Each run audits a spec whose entries are the compiler's own choices, so that both sides of every
comparison are the same code (--time-equal). Five products, f32 (f16 for a GPU), one entry for each.
A run alarms if it calls any of its entries faster or slower than the default. hone promises at most
5 of 100 such runs. Each run has another seed; --first splits a long series.

Exit code 1: more runs alarm than a rate of 5 % explains (3 of 20, 2 of 10).

Run with nothing else running. --out bench/results/reliability.json puts a row into that file; run
scripts/benchmarks-page then. --record writes a line for each run.
"""
import argparse
import datetime
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

SHAPES = [(160, 192, 320), (192, 320, 160), (224, 160, 288), (288, 224, 160), (320, 160, 256)]  # m, n, k
GPU_SHAPES = [tuple(8 * extent for extent in shape) for shape in SHAPES]


def program_of(shapes, element):
    functions = []
    for number, (m, n, k) in enumerate(shapes):
        a, b, c = f"tensor<{m}x{k}x{element}>", f"tensor<{k}x{n}x{element}>", f"tensor<{m}x{n}xf32>"
        functions.append(f"""func.func @product_{number}(%a: {a}, %b: {b}) -> {c} {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {c}
  %filled = linalg.fill ins(%zero : f32) outs(%empty : {c}) -> {c}
  %product = linalg.matmul ins(%a, %b : {a}, {b}) outs(%filled : {c}) -> {c}
  return %product : {c}
}}
""")
    return "".join(functions)


def spec_of(shapes, element, choices):
    text, pairs = "module attributes {transform.with_named_sequence} {\n", []
    for number, ((m, n, k), (configuration, translation)) in enumerate(zip(shapes, choices)):
        text += f"""transform.named_sequence @match_{number}(%root: !transform.any_op {{transform.readonly}})
    -> (!transform.any_op, !transform.any_param) {{
  %batch, %m, %n, %k = transform.iree.match.contraction %root,
    lhs_type = {element}, rhs_type = {element}, output_type = f32,
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                     affine_map<(m, n, k) -> (m, n)>]
    : !transform.any_op -> !transform.param<i64>
  transform.iree.match.dims_equal %m, [{m}] : !transform.param<i64>
  transform.iree.match.dims_equal %n, [{n}] : !transform.param<i64>
  transform.iree.match.dims_equal %k, [{k}] : !transform.param<i64>
  %info = transform.param.constant #iree_codegen.compilation_info<lowering_config = {configuration},
    translation_info = {translation}> -> !transform.any_param
  transform.yield %root, %info : !transform.any_op, !transform.any_param
}}
transform.named_sequence @set_{number}(%root: !transform.any_op {{transform.readonly}},
    %info: !transform.any_param {{transform.readonly}}) {{
  transform.annotate %root "compilation_info" = %info : !transform.any_op, !transform.any_param
  transform.yield
}}
"""
        pairs.append(f"@match_{number} -> @set_{number}")
    return text + f"""transform.named_sequence @__kernel_config(%variant: !transform.any_op {{transform.consumed}})
    -> !transform.any_op attributes {{iree_codegen.tuning_spec_entrypoint}} {{
  %result = transform.foreach_match in %variant {", ".join(pairs)} : (!transform.any_op) -> !transform.any_op
  transform.yield %result : !transform.any_op
}}
}}
"""


def document_of(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode not in (0, 1) or not done.stdout:  # 1 is a verdict
        sys.exit(f"{command[0]} failed ({done.returncode}): {done.stderr}")
    return json.loads(done.stdout)


def most_alarms(count, rate=0.05):
    """The most alarms of `count` runs that a false-alarm rate of `rate` exceeds in at most 5 of 100 series."""
    def exactly(alarms):
        return math.comb(count, alarms) * rate**alarms * (1 - rate) ** (count - alarms)
    return next(most for most in range(count + 1) if sum(map(exactly, range(most + 1, count + 1))) <= 0.05)


def put_row(file, row):
    """Replaces the row of the same workload and machine; one line a row."""
    lines = file.read_text().splitlines()
    key = [f'"{name}": {json.dumps(row[name])}' for name in ("workload", "machine")]
    lines = [line for line in lines if not all(part in line for part in key)]
    first = lines.index(' "rows": [') + 1
    lines.insert(first, f"  {json.dumps(row)}" + ("," if lines[first].strip().startswith("{") else ""))
    end = next(i for i in range(first, len(lines)) if lines[i].strip().startswith("]"))
    lines[end - 1] = lines[end - 1].rstrip(",")
    text = "\n".join(lines) + "\n"
    json.loads(text)
    file.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--first", type=int, default=1, help="seed of the first run")
    parser.add_argument("--hone", default="build/release/hone")
    parser.add_argument("--target", default="host")
    parser.add_argument("--device", default="")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--machine", default="epyc", help="name in bench/results/machines.json")
    parser.add_argument("--record", help="file that takes a line for each run")
    parser.add_argument("--out", help="file of results that takes the row")
    options = parser.parse_args()
    on_gpu = options.target.startswith(("sm_", "gfx"))
    shapes, element = (GPU_SHAPES, "f16") if on_gpu else (SHAPES, "f32")
    alarms, entries = 0, 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        program, spec = folder / "products.mlir", folder / "spec.mlir"
        program.write_text(program_of(shapes, element))
        listed = document_of(options.hone, "dispatches", program, "--target", options.target, "--json")
        rows = listed["dispatches"]
        if len(rows) != len(shapes):
            sys.exit(f"{len(rows)} dispatches, not {len(shapes)}")
        choices = [(row["default_configuration"], row["default_translation"]) for row in rows]
        spec.write_text(spec_of(shapes, element, choices))
        command = [options.hone, "spec", "audit", spec, "--program", program, "--target", options.target,
                   "--time-equal", "--json", "--quiet"]
        command += ["--device", options.device] if options.device else []
        command += ["--threads", options.threads] if options.threads else []
        for seed in range(options.first, options.first + options.count):
            begin = time.monotonic()
            document = document_of(*command, "--seed", seed)
            timed = [entry["timed"] for entry in document["entries"]]
            if None in timed:
                sys.exit(f"an entry was not timed: {document['entries'][timed.index(None)]}")
            called = [each["verdict"] for each in timed if each["verdict"] != "no different"]
            alarms += bool(called)
            entries += len(timed)
            line = {"seed": seed, "alarm": bool(called), "verdicts": [each["verdict"] for each in timed],
                    "speedups": [round(each["speedup"], 4) for each in timed],
                    "seconds": round(time.monotonic() - begin, 2)}
            print(json.dumps(line), flush=True)
            if options.record:
                with open(options.record, "a") as file:
                    file.write(json.dumps(line) + "\n")
    most = most_alarms(options.count)
    print(f"{alarms} of {options.count} audits alarm ({entries} entries); allowed: {most}")
    if options.out:
        put_row(pathlib.Path(options.out), {
            "workload": "audit of the default itself: alarms", "machine": options.machine,
            "baseline": "at most", "baseline_value": most, "hone_value": alarms,
            "unit": f"of {options.count}", "speedup": None, "interval": None, "peers": [],
            "date": datetime.date.today().isoformat(), "commit": None,
            "command": f"bench/audit_alarms.py --count {options.count}", "shown": False,
            "note": f"{len(shapes)} entries in each audit; a rate of 5 % is allowed"})
    sys.exit(alarms > most)


if __name__ == "__main__":
    main()
