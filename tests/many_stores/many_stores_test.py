#!/usr/bin/env python3
"""Merges many stores, as the tasks of a fleet leave them, and holds the result to what is promised of it.

usage: many_stores_test.py --hone FILE --multiply FILE [--stores 4] [--candidates 200] [--real STORE] [--figures]

--multiply makes each store of the rows of a real one (multiplied_store.cc); without --real a small one is tuned first.
With --figures the merge has to keep the limits for 64 stores of 10,000 candidates: 60 s and 500 MB.

Exit status: 0 all of that held, 1 something did not, 2 wrong use.
"""
import argparse
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_SECONDS, MOST_BYTES = 60, 500e6


class Ran:
    """A command that ran to its end: exit status, output, seconds, and the most memory it had."""

    def __init__(self, *command):
        with tempfile.TemporaryFile("w+") as output:
            start = time.monotonic()
            process = subprocess.Popen([str(each) for each in command], stdout=output, stderr=output)
            _, status, usage = os.wait4(process.pid, 0)
            self.seconds = time.monotonic() - start
            process.returncode = os.waitstatus_to_exitcode(status)
            self.code, self.most_bytes = process.returncode, usage.ru_maxrss * 1024
            output.seek(0)
            self.output = output.read()


def check(holds, what):
    print(f"{'ok  ' if holds else 'FAIL'} {what}", flush=True)
    if not holds:
        sys.exit(1)


def real_store(options, folder):
    """A store with the measured candidates of a product."""
    store = folder / "real.db"
    ran = Ran(options.hone, "tune", ROOT / "examples" / "matmul_512.mlir", "--store", store, "--out", folder / "out",
              "--candidates", 12, "--strategy", "random", "--no-program", "--no-flags", "--no-baselines", "--quiet")
    check(ran.code == 0, f"a real store is tuned{'' if ran.code == 0 else ': ' + ran.output}")
    return store


def export(options, store):
    ran = subprocess.run([options.hone, "store", "export", store], capture_output=True, check=True)
    return ran.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--hone", type=pathlib.Path, required=True)
    parser.add_argument("--multiply", type=pathlib.Path, required=True)
    parser.add_argument("--stores", type=int, default=4)
    parser.add_argument("--candidates", type=int, default=200)
    parser.add_argument("--real", type=pathlib.Path)
    parser.add_argument("--figures", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        real = options.real or real_store(options, folder)
        stores = [folder / f"task_{number}.db" for number in range(options.stores)]
        for number, store in enumerate(stores):
            made = Ran(options.multiply, real, store, number, options.candidates)
            check(made.code == 0 or not print(made.output), f"{store.name} is made ({made.seconds:.1f} s)")

        merged = folder / "merged.db"
        ran = Ran(options.hone, "store", "merge", merged, *stores)
        check(ran.code == 0 or not print(ran.output),
              f"{options.stores} stores of {options.candidates} candidates are merged "
              f"in {ran.seconds:.1f} s with {ran.most_bytes / 1e6:.0f} MB: "
              f"{sum(store.stat().st_size for store in stores) / 1e6:.0f} MB of stores")
        if options.figures:
            check(ran.seconds < MOST_SECONDS, f"in less than {MOST_SECONDS} s")
            check(ran.most_bytes < MOST_BYTES, f"with less than {MOST_BYTES / 1e6:.0f} MB")
        first = export(options, merged)
        check(first.count(b"\n") == 1 + options.stores * options.candidates, "every candidate is there, each once")
        again = Ran(options.hone, "store", "merge", merged, *stores)
        check(again.code == 0 and again.output == "",
              f"merged a second time nothing is added ({again.seconds:.1f} s, {again.most_bytes / 1e6:.0f} MB)")
        check(export(options, merged) == first, "and the export is equal")

        another = folder / "another.db"
        check(Ran(options.multiply, real, another, "another", 10).code == 0, "a further store is made")
        broken, newer = folder / "broken.db", folder / "newer.db"
        shutil.copy(another, broken)
        with broken.open("r+b") as file:
            file.seek(broken.stat().st_size // 2)
            file.write(b"\xa5" * 8192)
        refused = Ran(options.hone, "store", "merge", merged, another, broken)
        check(refused.code == 2 and str(broken) in refused.output, f"a corrupt store is refused: {refused.output.strip()}")
        shutil.copy(another, newer)
        with sqlite3.connect(newer) as database:
            database.execute("PRAGMA user_version = 99")
        database.close()
        refused = Ran(options.hone, "store", "merge", merged, another, newer)
        check(refused.code == 2 and str(newer) in refused.output and "99" in refused.output,
              f"a newer store is refused: {refused.output.strip()}")
        check(export(options, merged) == first, "and nothing of the stores beside them is merged")


if __name__ == "__main__":
    main()
