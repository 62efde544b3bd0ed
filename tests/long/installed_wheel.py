#!/usr/bin/env python3
"""What a user of pip does: the wheel and IREE into a fresh virtual environment of the system's Python, then hone tune
on the programs of examples/ for a CPU, hone doctor, an ONNX model. From a folder of its own, with nothing else on PATH.

usage: installed_wheel.py (--wheel FILE | --build FOLDER)

Packages come from pip's index; the environment takes 1.5 GB. Exit status: 0 all held, 1 something did not, 2 wrong use.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Those with f16 in their names are for GPUs: on a CPU a call takes a second, and a proof many of them.
PROGRAMS = ("attention_block", "feed_forward", "matmul_512", "matmul_row_sum", "mobile_block", "residual_block")


class Session:
    def __init__(self, folder):
        self.folder = folder
        self.failures = []
        self.variables = {name: value for name, value in os.environ.items() if not name.startswith("HONE_")}
        self.variables.update(PATH="/usr/bin:/bin", HOME=str(folder))

    def run(self, *words, allowed=(0,)):
        """Runs a command in the session's folder, shows it, and gives what it printed."""
        words = [str(word) for word in words]
        print("$", " ".join(word.replace(f"{self.folder}/", "") for word in words), flush=True)
        started = time.monotonic()
        done = subprocess.run(words, cwd=self.folder, env=self.variables, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(done.stdout.rstrip(), flush=True)
        print(f"[status {done.returncode}, {time.monotonic() - started:.0f} s]\n", flush=True)
        if done.returncode not in allowed:
            self.failures.append(f"{' '.join(words)}: status {done.returncode}")
        return done.stdout

    def expect(self, text, printed):
        if text not in printed:
            self.failures.append(f"'{text}' is not in what was printed")

    def environment(self, name, *packages):
        """A fresh virtual environment with the packages; its folder of programs."""
        programs = self.folder / name / "bin"
        self.run("/usr/bin/python3", "-m", "venv", self.folder / name)
        self.run(programs / "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
        return programs


def packed(build, out):
    subprocess.run([ROOT / "scripts" / "package", "--build", build, "--out", out], check=True)
    wheel, = out.iterdir()
    return wheel


def use(session, wheel):
    auditor = session.environment("auditor", "auditwheel")
    session.expect(wheel.name.split("none-")[1][:-len(".whl")], session.run(auditor / "auditwheel", "show", wheel))
    programs = session.environment("environment", f"{wheel}[iree]")
    hone = programs / "hone"
    session.run(hone, "--version")
    session.expect(str(session.folder / "environment" / "lib"), session.run(hone, "doctor"))
    session.expect("iree-", session.run("/bin/ls", programs))
    for name in PROGRAMS:
        program, out = ROOT / "examples" / f"{name}.mlir", session.folder / name
        # 1: nothing beats the compiler's own, as a short tuning on a busy machine may end.
        printed = session.run(hone, "tune", program, "--out", out, "--store", out.with_suffix(".db"), "--budget", "15s",
                              "--plain", allowed=(0, 1))
        session.expect("best for the whole program: ", printed)
        session.run(programs / "iree-compile", program, f"@{out}/compile_flags.txt", "-o", out / "tuned.vmfb")
    model = session.folder / "mobilenet.onnx"
    session.run(programs / "python", ROOT / "examples" / "models" / "make.py", "mobilenet_v2", "--out", model)
    session.run(hone, "dispatches", model)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--wheel", type=pathlib.Path)
    given.add_argument("--build", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hone-installed-") as folder:
        session = Session(pathlib.Path(folder))
        wheel = options.wheel.resolve() if options.wheel else packed(options.build, session.folder / "dist")
        use(session, wheel)
    for failure in session.failures:
        print(failure, file=sys.stderr)
    print(f"{len(session.failures)} failures")
    return 1 if session.failures else 0


if __name__ == "__main__":
    sys.exit(main())
