#!/usr/bin/env python3
"""Twenty kinds of fault that programs of strangers showed, each by two programs or more (kinds/): what hone does with
each is its exit code, words that it prints, and, where it ships something, a run.sh that passes.

Prints a row for each. Exit status: 0 all are as they must be, 1 some are not, 2 wrong use.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

KINDS = pathlib.Path(__file__).resolve().parent / "kinds"
# `hone tune --budget B` ends within 1.25 B + 60 s, and one compile and one call of the program as it is.
BUDGET = 10
FULL = 1.25 * BUDGET + 60


class Case:
    """`words` must all be in what is printed; `absent` must not be. A kind whose subject is time has `seconds`."""

    def __init__(self, kind, program, *more, code=0, words=(), absent=(), command="tune", runs=True, seconds=None):
        self.kind, self.program, self.more, self.code, self.seconds = kind, program, more, code, seconds
        self.words = (words,) if isinstance(words, str) else words
        self.absent = (absent,) if isinstance(absent, str) else absent
        self.command, self.runs = command, runs and command == "tune" and code == 0 and "--compile-only" not in more


CASES = (
    Case("A sizes that are given stay open", "open_batch_align", "--dim", "M=16", absent="dynamic shape"),
    Case("A", "recurrent", "--dim", "input0.0=5", "--dim", "input0.1=16", absent="dynamic shape"),
    Case("B sizes by --input, once", "open_batch_three_products", "--input", "16x64xf32", "--input", "64x64xf32",
         absent="dynamic shape"),
    Case("B", "shared_rows", "--dim", "input0.0=24", absent="dynamic shape"),
    Case("B", "shared_rows", code=2, words="--dim input0.0=SIZE", absent="input1.0=SIZE"),
    Case("C run.sh of any result type", "i32_result"),
    Case("C", "i1_result"),
    Case("D budgets", "slow_call", seconds=FULL + 20),
    Case("D", "slow_compile", seconds=FULL + 20),
    Case("E nothing usable", "log10_link", code=1, words=("as it is, the program does not compile", "log10f"), absent="spec:"),
    Case("E", "erfc_compile", code=1, words=("as it is, the program does not compile", "NOTHING USABLE"), absent="spec:"),
    Case("E2 a default that does not compile", "conv3d_no_reason", "--target", "sm_80", "--compile-only", "--candidates", "3",
         code=1, words=("as it is, the program does not compile", "NOTHING USABLE")),
    Case("E2", "fp8_product", "--target", "sm_80", "--compile-only", "--candidates", "3", code=1,
         words=("as it is, the program does not compile", "NOTHING USABLE")),
    Case("F --function", "two_functions", "--function", "other", words=("'other' is called", "96x1024x512")),
    Case("F", "three_functions", "--function", "twice", words="'twice' is called"),
    Case("G outputs that say nothing", "saturated_output", words="outputs say nothing on the first inputs"),
    Case("G", "zero_cache", "--input", "64x64xf32", "--input", "64x64xf32=0"),
    Case("H argument types", "i4_argument"),
    Case("H", "scalar_arguments"),
    Case("I state", "counter", words="changes the next one"),
    Case("I", "state_sigsegv", "--function", "append", words="changes the next one"),
    Case("I", "running_sum", words="changes the next one"),
    Case("K branches and loops", "branch", words="never launches it"),
    Case("K", "recurrent", "--dim", "input0.0=9", "--dim", "input0.1=16", absent="run time"),
    Case("L false alarms", "verify_false_alarm_mel", command="verify", words="right"),
    Case("L", "log_of_softmax", command="verify", words="right"),
    Case("N weights of one value", "splat_product", words="random"),
    Case("N", "splat_convolution", words="random"),
    Case("O f16 sums on ROCm", "f16_sums", "--target", "gfx942", "--compile-only", "--candidates", "3", words="4 of 4 tried compile"),
    Case("O", "f16_batch_sums", "--target", "gfx942", "--compile-only", "--candidates", "3", words="4 of 4 tried compile"),
    Case("P constants that are resources", "embedding"),
    Case("P", "resource_weights"),
    Case("Q indices", "embedding", command="verify", words="right"),
    Case("Q", "gather_rows", command="verify", words="right"),
    Case("R inputs that are counts or shapes", "trip_count", code=2, words="a trip count"),
    Case("R", "trip_count", "--input", "64x64xf32", "--input", "i32=5"),
    Case("R", "shape_input", code=2, words="a shape"),
    Case("S overwritten arguments", "overwrites"),
    Case("S", "overwrites_and_returns"),
    Case("T the user's own flags", "open_batch_align", "--dim", "M=16", "--flag=--iree-opt-data-tiling"),
    Case("T", "open_batch_three_products", "--dim", "M=16", "--flag=--iree-opt-data-tiling",
         "--flag=--iree-llvmcpu-enable-ukernels=all"),
)


def judge(hone, environment, case, folder):
    """What is wrong; empty where nothing is. And the last line that hone printed."""
    budget = ["--budget", f"{BUDGET}s"] if case.command == "tune" else []
    stored = ["--store", "hone.db", "--out", "out"] if case.command == "tune" else []
    begin = time.monotonic()
    done = subprocess.run([hone, case.command, KINDS / f"{case.program}.mlir", *case.more, *budget, *stored], cwd=folder,
                          capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL)
    seconds = time.monotonic() - begin
    printed = done.stdout + done.stderr
    wrong = []
    if done.returncode != case.code:
        wrong.append(f"exit code {done.returncode}, not {case.code}")
    wrong += [f"'{each}' is not said" for each in case.words if each not in printed]
    wrong += [f"'{each}' is said" for each in case.absent if each in printed]
    if case.seconds and seconds > case.seconds:
        wrong.append(f"{seconds:.0f} s, not {case.seconds:.0f}")
    if case.runs and not wrong:
        script = folder / "out" / "run.sh"
        ran = subprocess.run(["sh", script], cwd=folder, capture_output=True, text=True, env={**environment, "ROUNDS": "3"})
        if ran.returncode != 0:
            wrong.append(f"run.sh: {ran.stdout[-300:]} {ran.stderr[-300:]}")
    lines = [line for line in (done.stdout or done.stderr).splitlines() if line.strip()]
    return "; ".join(wrong), seconds, lines[-1] if lines else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", required=True, type=pathlib.Path)
    parser.add_argument("--iree", required=True, type=pathlib.Path, help="environment with IREE's tools")
    parser.add_argument("--kinds", default="", help="letters: those alone")
    options = parser.parse_args()
    tools = options.iree.resolve()
    environment = {**os.environ, "HONE_IREE": str(tools), "PATH": f"{tools / 'bin'}:{os.environ['PATH']}"}
    failed = 0
    for case in CASES:
        if options.kinds and case.kind[0] not in options.kinds:
            continue
        with tempfile.TemporaryDirectory(prefix="hone-kinds-") as folder:
            wrong, seconds, last = judge(options.hone.resolve(), environment, case, pathlib.Path(folder))
        failed += bool(wrong)
        print(f"{'WRONG' if wrong else 'right'}  {case.kind.split()[0]:2}  {case.command} {case.program} "
              f"{' '.join(case.more)}: exit {case.code}, {seconds:.0f} s: {wrong + '; ' if wrong else ''}{last[:120]}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
