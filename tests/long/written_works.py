#!/usr/bin/env python3
"""What hone writes works: on generated programs of related dispatches (programs.py), `hone tune` with a small budget
ends with 0 or 1, `iree-compile @out/compile_flags.txt` of the wheel takes what it wrote, and the module gives the
outputs of the default's.

Every fifth program is also run while it is tuned, so that the flags are those that won; with the others
(--no-program) the spec is in the flags whatever it gains, which is the harder case.

Exit status: 0 all of that held, 1 something did not, 2 wrong use, 3 IREE's tools or NumPy are missing.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import programs

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
          "--iree-llvmcpu-target-cpu=host"]
# Of the largest output: sums of up to 288 products of numbers up to 1 in another order differ by some 1e-6 of it.
TOLERANCE = 1e-4


class Broken(Exception):
    """What was promised and did not hold."""


def run(command, seconds=300):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=seconds)
    return done.returncode, done.stdout, done.stderr


def must(command):
    code, out, err = run(command)
    if code:
        raise Broken(f"{' '.join(map(str, command))} exits with {code}: {err[:1500]}")
    return out


def outputs(tools, module, arguments, count, folder):
    files = [folder / f"{module.stem}{i}.npy" for i in range(count)]
    must([tools / "iree-run-module", "--device=local-sync", f"--module={module}", "--function=main",
          *(f"--input=@{each}" for each in arguments), *(f"--output=@{each}" for each in files)])
    return [numpy.load(each) for each in files]


def check(options, seed, folder, proved):
    """One program; words for the table, or nothing where it has too few dispatches, too many, or none to tune."""
    program = programs.Program(seed)
    source = folder / "program.mlir"
    source.write_text(program.text())
    listed = json.loads(must([options.hone, "dispatches", source, "--json"]))
    dispatches = len(listed["dispatches"])
    if not 3 <= dispatches <= 8 or all(each["not_tunable"] for each in listed["dispatches"]):
        return None
    out = folder / "out"
    command = [options.hone, "tune", source, "--store", folder / "hone.db", "--out", out, "--json", "--threads", "1",
               "--candidates", options.candidates, "--budget", f"{options.seconds_each * dispatches}s",
               "--no-baselines", "--seed", seed]
    if not proved:
        command.append("--no-program")
    code, text, err = run(command)
    # 1 says that no dispatch has a configuration that beats the compiler's own; the flags are written all the same.
    if code not in (0, 1) or not text:
        raise Broken(f"hone tune exits with {code}: {err[-1500:]}")
    result = json.loads(text)
    flags = out / "compile_flags.txt"
    must([options.tools / "iree-compile", source, f"@{flags}", "-o", folder / "tuned.vmfb"])
    must([options.tools / "iree-compile", source, *TARGET, "-o", folder / "default.vmfb"])
    random = numpy.random.default_rng(seed)
    arguments = []
    for index, shape in enumerate(program.arguments):
        arguments.append(folder / f"argument{index}.npy")
        numpy.save(arguments[-1], random.uniform(-1, 1, shape).astype(numpy.float32))
    default = outputs(options.tools, folder / "default.vmfb", arguments, len(program.results), folder)
    tuned = outputs(options.tools, folder / "tuned.vmfb", arguments, len(program.results), folder)
    for index, (wanted, got) in enumerate(zip(default, tuned)):
        difference = float(numpy.max(numpy.abs(wanted - got)))
        if not difference <= TOLERANCE * float(numpy.max(numpy.abs(wanted))):
            raise Broken(f"output {index} differs by {difference:.3g}")
    spec = "spec" if "tuning_spec.mlir" in flags.read_text() else "no spec"
    left_out = sorted({each["dispatch"] for each in result["left_out"]})
    return f"{dispatches} dispatches, {spec}, {len(left_out)} left out" + (f", {result['best']}" if proved else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", type=pathlib.Path, default=ROOT / "build/dev/hone")
    parser.add_argument("--tools", type=pathlib.Path, default=ROOT / ".venv/bin", help="folder of IREE's tools")
    parser.add_argument("--programs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1, help="of the first program; the next has the next")
    parser.add_argument("--candidates", type=int, default=4)
    parser.add_argument("--seconds-each", type=int, default=1, help="of the budget, for a dispatch")
    options = parser.parse_args()
    missing = [each for each in (options.hone, options.tools / "iree-compile", options.tools / "iree-run-module")
               if not each.exists()]
    if missing or numpy is None:
        print(f"missing: {', '.join(map(str, missing)) or 'numpy'}", file=sys.stderr)
        return 3
    held = tried = 0
    seed = options.seed
    while tried < options.programs:
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="hone-written-") as folder:
            try:
                words = check(options, seed, pathlib.Path(folder), tried % 5 == 4)
                held += words is not None
            except (Broken, subprocess.TimeoutExpired) as error:
                words = f"BROKEN: {error}"
        if words is not None:
            tried += 1
            print(f"seed {seed}: {words} ({time.monotonic() - start:.0f} s)", flush=True)
        seed += 1
    print(f"{held} of {tried}: what is written compiles, outputs agree")
    return 0 if held == tried else 1


if __name__ == "__main__":
    try:
        import numpy
    except ImportError:
        numpy = None
    sys.exit(main())
