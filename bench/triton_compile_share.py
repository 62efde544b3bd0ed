#!/usr/bin/env python3
"""The share of random configurations of hone's own GEMM spaces that Triton compiles, and why the rest does not.

Each runs through the compile worker (src/provider/triton/python/compile_worker.py), as in a tuning. No GPU is
needed. Needs triton_samples (cmake --preset bench) and a Python with Triton (--python).
With --oppose RULE the configurations are those that break this hard rule alone: what compiles is what it hides.
"""
import argparse
import collections
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROVIDER = ROOT / "src/provider/triton"
sys.path.insert(0, str(PROVIDER / "python"))
import frames  # noqa: E402

PROBLEMS = {
    "f16": "2048 1280 5120 f16 f16 nt",
    "f16 to f32": "2048 1280 5120 f16 f32 nn",
    "odd": "5119 129 333 bf16 bf16 tn bias",
    "thin": "16 8192 8192 f16 f16 nt",
    "f8": "512 1024 2048 f8E4M3FN f16 nt",
    "i8": "512 1024 2048 i8 i32 nn",
    "f32": "512 1024 2048 f32 f32 nn",
    "tf32": "512 1024 2048 f32 f32 nt tf32",
    "batch": "512 512 512 f16 f16 nn batch",
}


class Worker:
    def __init__(self, python, cache, limit):
        self.python, self.cache, self.limit = python, cache, limit
        self.prepared = None
        self.start()

    def start(self):
        ours, theirs = socket.socketpair()
        ours.settimeout(self.limit)
        environment = os.environ | {"TRITON_CACHE_DIR": str(self.cache), "TRITON_DEFAULT_FP_FUSION": "1",
                                    "PYTHONPATH": str(PROVIDER / "kernels")}
        # Descriptor 3 is the worker's socket.
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{theirs.fileno()} {theirs.fileno()}<&-', "sh", self.python, "-B",
             str(PROVIDER / "python/compile_worker.py")],
            pass_fds=[theirs.fileno()], env=environment)
        theirs.close()
        self.connection = frames.Connection(ours.detach())
        self.connection.socket.settimeout(self.limit)
        self.version = self.connection.receive()[1]["triton"]
        if self.prepared:
            self.prepare(*self.prepared)

    def prepare(self, gemm, flags):
        self.prepared = gemm, flags
        self.connection.send("prepare", {"flags": flags}, [json.dumps(gemm).encode()])
        kind, body, _ = self.connection.receive()
        if kind != "done":
            raise SystemExit(f"prepare: {body}")

    def compile(self, knobs):
        """(launches, "") or (None, words)."""
        try:
            self.connection.send("compile", {"knobs": knobs})
            kind, body, _ = self.connection.receive()
        except (TimeoutError, EOFError, ConnectionError) as error:
            self.process.kill()
            status = self.process.wait()
            self.start()
            return None, f"worker: {type(error).__name__} (status {status})"
        if kind == "done":
            return body["launch"], ""
        return None, body["message"].splitlines()[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--targets", nargs="+", default=["sm_90", "gfx942"])
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=list(PROBLEMS))
    parser.add_argument("--oppose", metavar="RULE")
    parser.add_argument("--limit", type=float, default=60, help="seconds for one configuration")
    parser.add_argument("--python", default=ROOT / ".venv/bin/python")
    parser.add_argument("--program", default=ROOT / "build/bench/bench/triton_samples")
    options = parser.parse_args()
    reasons = collections.Counter()
    examples = {}
    with tempfile.TemporaryDirectory() as cache:
        worker = Worker(str(options.python), pathlib.Path(cache), options.limit)
        print(f"Triton {worker.version}\n\n| target | problem | configurations | compiled | share | seconds each, "
              "most |\n|---|---|---|---|---|---|")
        for target in options.targets:
            for name in options.problems:
                words = [str(options.samples), str(options.seed), target, *PROBLEMS[name].split()]
                words += [f"oppose={options.oppose}"] if options.oppose else []
                drawn = subprocess.run([options.program, *words], capture_output=True, text=True)
                if drawn.returncode != 0:
                    print(f"| {target} | {name} | none: {drawn.stderr.strip()} | | | |", flush=True)
                    continue
                space = json.loads(drawn.stdout)
                worker.prepare(space["gemm"], space["flags"])
                compiled, seconds = 0, [0]
                for knobs in space["samples"]:
                    begin = time.monotonic()
                    launch, why = worker.compile(knobs)
                    seconds.append(time.monotonic() - begin)
                    compiled += launch is not None
                    if why:
                        reasons[target, name, why] += 1
                        examples[target, name, why] = knobs
                tried = len(space["samples"])
                print(f"| {target} | {name} | {space['configurations']:,} | {compiled} of {tried} "
                      f"| {100 * compiled / max(1, tried):.1f} % | {sum(seconds) / max(1, tried):.2f}, "
                      f"{max(seconds):.1f} |", flush=True)
        worker.process.kill()
        worker.process.wait()
    for reason, count in reasons.most_common():
        print(f"{count} x {', '.join(reason)}\n    {examples[reason]}")


if __name__ == "__main__":
    main()
