#!/usr/bin/env python3
"""Kills a tuning of a whole program at moments spread over all of it (search, choice, proof), continues it by the same
command, and compares what comes of it with a tuning that nobody disturbed.

usage: killed_tunings.py --hone FILE [--program FILE] [--kills 10] [--candidates 12] [--seed 1]

Each tuning tries the same candidates, however fast the machine is: a search that ends by the clock finds something
else each time, killed or not. For each dispatch the continued tuning's winner is the undisturbed one's, is tied with it
in either, or takes within 5 % of its time; what ships is the default in both or in neither. Nothing else may run on the
machine.

Exit status: 0 all of that held, 1 something did not, 2 wrong use.
"""
import argparse
import json
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
NEAR = 1.05  # the times of one configuration differ by so much from run to run
# A winner is compared by its own time among the finalists: the default's, which speed-ups are relative to, depends
# on where its memory lies, by a fifth from one run to the next.
SELECTIONS = """
select dispatch.name, selection.id, candidate.configuration, min(measurement.median) from selection
join dispatch on dispatch.id = selection.dispatch_id join candidate on candidate.id = selection.winner_id
join artifact on artifact.candidate_id = candidate.id
join measurement on measurement.identity = artifact.identity and measurement.dispatch_id = dispatch.id
where measurement.phase = 'finalist' group by selection.id
union select dispatch.name, selection.id, null, 0 from selection
join dispatch on dispatch.id = selection.dispatch_id where selection.winner_id is null order by 2"""
TIES = """
select candidate.configuration from selection_tie join candidate on candidate.id = selection_tie.candidate_id
where selection_tie.selection_id = ?"""


class Winner:
    def __init__(self, configuration, seconds, ties):
        self.configuration, self.seconds = configuration or "{}", seconds
        self.ties = set(ties) | {self.configuration}

    def compared(self, other):
        """How both agree; empty where they do not."""
        if self.configuration == other.configuration:
            return "same"
        if self.configuration in other.ties or other.configuration in self.ties:
            return "tied"
        if max(self.seconds, other.seconds) <= NEAR * min(self.seconds, other.seconds):
            return f"within {100 * (NEAR - 1):.0f} %"
        return ""


class Tuning:
    def __init__(self, options, folder):
        self.folder = folder
        folder.mkdir()
        self.command = [options.hone, "tune", options.program, "--strategy", "random", "--candidates",
                        str(options.candidates), "--budget", "10m", "--no-flags", "--no-baselines", "--plain", "--json"]

    def start(self):
        with open(self.folder / "progress", "w") as progress, open(self.folder / "result", "w") as result:
            return subprocess.Popen(self.command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=result,
                                    stderr=progress, text=True)

    def finish(self):
        """Runs it to its end; the seconds that it took."""
        began = time.monotonic()
        status = self.start().wait()
        if status != 0:
            raise SystemExit(f"status {status}: {self.last_step()}")
        return time.monotonic() - began

    def last_step(self):
        lines = (self.folder / "progress").read_text().splitlines()
        return lines[-1][:100] if lines else "starting"

    def ships(self):
        return json.loads((self.folder / "result").read_text())["best"]

    def winners(self):
        store = sqlite3.connect(self.folder / "hone.db")
        return {name: Winner(configuration, seconds, [row[0] for row in store.execute(TIES, (number,))])
                for name, number, configuration, seconds in store.execute(SELECTIONS)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hone", type=pathlib.Path, required=True)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "examples/feed_forward.mlir")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--candidates", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.hone, options.program = options.hone.resolve(), options.program.resolve()
    moments = random.Random(options.seed)
    wrong = 0
    with tempfile.TemporaryDirectory() as place:
        undisturbed = Tuning(options, pathlib.Path(place) / "undisturbed")
        seconds = undisturbed.finish()
        wanted = undisturbed.winners()
        print(f"undisturbed: {seconds:.0f} s, {len(wanted)} dispatches, ships {undisturbed.ships()}", flush=True)
        for number in range(options.kills):
            tuning = Tuning(options, pathlib.Path(place) / f"killed{number}")
            moment = seconds * (number + moments.random()) / options.kills
            process = tuning.start()
            try:
                process.wait(timeout=moment)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
            step = tuning.last_step()
            took = tuning.finish()
            got = tuning.winners()
            agreement = {name: winner.compared(got[name]) if name in got else "" for name, winner in wanted.items()}
            ships = (undisturbed.ships() == "default") == (tuning.ships() == "default")
            held = all(agreement.values()) and got.keys() == wanted.keys() and ships
            wrong += not held
            print(f"killed after {moment:.0f} s ({step}); continued in {took:.0f} s; ships {tuning.ships()}",
                  flush=True)
            for name, value in agreement.items():
                seen = f"{1e3 * got[name].seconds:.3f} ms" if name in got else "not tuned"
                print(f"  {name}: {value or 'DIFFERENT'}, {1e3 * wanted[name].seconds:.3f} and {seen}", flush=True)
    print(f"{options.kills - wrong} of {options.kills} held")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
