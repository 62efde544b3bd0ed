#!/usr/bin/env python3
"""Whole programs with planted faults are called wrong, right compiles of them right: `hone verify` compares each faulty
program (faulty_programs.py) with the outputs of the right one, and the right one under other flags with the compile
for baseline x86-64.

A fault in some rows must be placed there, and narrowed operands and sums must be called rounding where what is behind
them is about linear. What the difference of each fault is called is counted and printed.

Exit status: 0 all faults were found and no right compile was called wrong, 1 something else, 2 wrong use.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

from faulty_programs import FAULTS, Program

FLAG_SETS = (["--iree-opt-level=O3"], ["--iree-opt-data-tiling"], ["--iree-dispatch-creation-enable-aggressive-fusion"],
             ["--iree-llvmcpu-reassociate-fp-reductions=true"], ["--iree-opt-data-tiling", "--iree-opt-level=O3"])


def verify(hone, program, *more):
    done = subprocess.run([hone, "verify", program, "--json", *map(str, more)], capture_output=True, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        raise RuntimeError(f"{program.name}: exit {done.returncode}: {done.stderr.strip()[-600:]}")
    return json.loads(done.stdout)


def describe(document):
    return "; ".join(f"{each['bad']} of {each['elements']} wrong, first at {each['first_bad']}, largest error "
                     f"{each.get('worst_error', each.get('largest_error', 0)):.3g} ({each['tolerance']})" for each in document["outputs"])


def kind_of(document):
    return next((each["difference"]["kind"] for each in document["outputs"] if "difference" in each), "none")


def is_named(program, fault, document):
    """Whether its kind and place are those that it must have."""
    if fault == "stale rows":
        return kind_of(document) == "part" and "only in [0:8, " in document["outputs"][0]["difference"]["words"]
    if fault in ("narrowed operands", "sums in bf16") and program.kind in ("mlp", "gated", "shifted rows"):
        return kind_of(document) == "rounding"
    return True


def check(options, seed, folder):
    """Faults found and planted, alarms and right compiles, words for each that went the other way, and the kind by
    which each fault's difference is called.
    """
    program = Program(seed)
    right = folder / "right.mlir"
    right.write_text(program.text())
    inputs = folder / "inputs"
    inputs.mkdir()
    expected = folder / "expected.npy"
    alarms, bad = 0, []
    sets = FLAG_SETS[:options.flag_sets]
    verify(options.hone, right, "--save-inputs", inputs, "--output", f"@{expected}")
    for flags in sets:
        document = verify(options.hone, right, *(f"--flag={each}" for each in flags))
        if not document["right"]:
            alarms += 1
            bad.append(f"seed {seed}, {program.kind}: alarm under {' '.join(flags)}: {describe(document)}")
    given = [word for i in range(4) for word in ("--input", f"@{inputs / f'argument{i}.npy'}")]
    found, kinds = 0, []
    for fault in FAULTS[:options.faults]:
        source = folder / f"{fault.replace(' ', '_')}.mlir"
        source.write_text(program.text(fault))
        document = verify(options.hone, source, *given, "--expected", f"@{expected}")
        kinds.append((fault, kind_of(document)))
        if document["right"] or not is_named(program, fault, document):
            bad.append(f"seed {seed}, {program.kind}: {fault} not {'found' if document['right'] else 'named'}: "
                       f"{kinds[-1][1]}; {describe(document)}")
        else:
            found += 1
    return found, len(FAULTS[:options.faults]), alarms, len(sets), bad, kinds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", required=True)
    parser.add_argument("--programs", type=int, default=40)
    parser.add_argument("--faults", type=int, default=len(FAULTS), help="of each program")
    parser.add_argument("--flag-sets", type=int, default=len(FLAG_SETS), help="of each program")
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the next has the next")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()

    def one(seed):
        with tempfile.TemporaryDirectory(prefix="hone-planted-") as folder:
            try:
                return check(options, seed, pathlib.Path(folder))
            except RuntimeError as error:
                return 0, 0, 0, 0, [f"seed {seed}: {error}"], []

    sums, failed = [0, 0, 0, 0], False
    all_kinds = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for seed, (*counts, bad, kinds) in enumerate(pool.map(one, range(options.seed, options.seed + options.programs)),
                                              options.seed):
            sums = [a + b for a, b in zip(sums, counts)]
            failed = failed or bool(bad)
            all_kinds.update(kinds)
            for each in bad:
                print(each, file=sys.stderr, flush=True)
            print(f"seed {seed}: {sums[0]} of {sums[1]} faults found, {sums[2]} alarms in {sums[3]} right compiles",
                  flush=True)
    for fault in FAULTS:
        print(f"{fault}: " + ", ".join(f"{kind} {count}" for (of, kind), count in sorted(all_kinds.items()) if of == fault))
    return 1 if failed or sums[0] < sums[1] or sums[1] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
