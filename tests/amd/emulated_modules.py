#!/usr/bin/env python3
"""Code objects that IREE and Triton make for gfx942: the emulator knows every instruction of them.

usage: emulated_modules.py --opcodes PROGRAM [--hip FOLDER] [--seed N] [--programs N] [--examples] [--triton]

PROGRAM is emulated_opcodes of tests/amd. Exit status: 0 it does, 1 it does not, 3 a compiler is missing.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import emulated_programs  # noqa: E402
import generated_programs  # noqa: E402


def compile_iree(source, folder):
    command = [ROOT / ".venv/bin/iree-compile", source, *emulated_programs.TARGETS["hip"], "-o", folder / "module.vmfb",
               f"--iree-hal-dump-executable-binaries-to={folder}"]
    return subprocess.run(command, capture_output=True, text=True).returncode == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--opcodes", required=True)
    parser.add_argument("--hip")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--programs", type=int, default=40)
    parser.add_argument("--examples", action="store_true")
    parser.add_argument("--triton", action="store_true")
    options = parser.parse_args()
    if not (ROOT / ".venv/bin/iree-compile").exists():
        print("IREE is missing: scripts/setup")
        return 3
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        sources = sorted((ROOT / "examples").glob("*.mlir")) if options.examples else []
        for number in range(options.programs):
            program = generated_programs.Program(f"p{number}", f"{options.seed}/{number}")
            source = folder / f"p{number}.mlir"
            source.write_text(program.text)
            sources.append(source)
        refused = 0
        for source in sources:
            target = folder / f"{source.stem}.code"
            target.mkdir()
            refused += not compile_iree(source, target)
        objects = sorted(folder.glob("*/*.hsaco"))
        if options.triton:
            command = [sys.executable, "-B", HERE / "emulated_triton.py", "--hip", options.hip, "--keep", folder]
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
            objects += sorted(folder.glob("*.hsaco"))
        done = subprocess.run([options.opcodes, *objects], capture_output=True, text=True)
        print("".join(line + "\n" for line in done.stdout.splitlines() if not line.endswith(" 0 unknown")), end="")
        print(done.stderr, end="")
        instructions = sum(map(int, re.findall(r"(\d+) instructions", done.stdout)))
        print(f"{len(objects)} code objects, {instructions} instructions; {refused} of {len(sources)} programs not compiled")
    return done.returncode if objects else 1


if __name__ == "__main__":
    sys.exit(main())
