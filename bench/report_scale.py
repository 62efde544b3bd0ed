#!/usr/bin/env python3
"""What a large store costs to look at: hone report, opening the page, and hone store list.

usage: bench/report_scale.py [--candidates 10000] [--hone FILE] [--make-store FILE] [--rounds 5]

The store is made by tests/report/make_store.cc, which the dev preset builds. Prints the median and the slowest of the rounds, in
seconds. A page counts as open two frames after it has drawn what its address names: the summary, or a
dispatch with all its charts.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "report"))
sys.dont_write_bytecode = True
import chromium  # noqa: E402


def seconds_of(*command):
    begin = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=10000)
    parser.add_argument("--hone", type=pathlib.Path, default=ROOT / "build" / "release" / "hone")
    parser.add_argument("--make-store", type=pathlib.Path, default=ROOT / "build" / "dev" / "tests" / "report_store")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    hone, make_store = options.hone, options.make_store
    with tempfile.TemporaryDirectory() as folder:
        store, file = pathlib.Path(folder) / "large.db", pathlib.Path(folder) / "report.html"
        print(f"making {options.candidates} candidates: {seconds_of(make_store, store, str(options.candidates)):.2f} s")
        times = {"hone store list": [], "hone report": [], "open: summary": [], "open: dispatch, charts": []}
        for _ in range(options.rounds):
            times["hone store list"].append(seconds_of(hone, "store", "list", store))
            times["hone report"].append(seconds_of(hone, "report", store, "-o", file))
            for name, fragment in (("open: summary", ""), ("open: dispatch, charts", "#dispatch-0")):
                with chromium.Chromium() as browser:
                    page = browser.page(1280, 900)
                    times[name].append(page.open(file, fragment))
        print(f"store {store.stat().st_size / 1e6:.1f} MB, report {file.stat().st_size / 1e6:.2f} MB")
        for name, seconds in times.items():
            print(f"{name:24} {statistics.median(seconds):6.3f} s median  {max(seconds):6.3f} s slowest")


if __name__ == "__main__":
    main()
