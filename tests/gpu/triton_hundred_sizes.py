"""A file of a hundred GEMMs: hone tune is killed (SIGKILL) in the middle and started again with the same command.

Looked at: after the kill the results file holds every size that the store calls finished, each line can be read, and
no process of the killed tuner is left; the second run does not measure finished sizes again (rows of the store are the
same) and takes on from there; in the end the file has all hundred, each of them once and with a configuration.
Exit status: 0 all that held, 1 something did not.
"""
import os
import re
import signal
import subprocess
import sys
import time

import triton_runs as runs

LINE = re.compile(r"- \{'M': (\d+), 'N': (\d+), 'K': (\d+), 'rowMajorA': 'T', 'rowMajorB': '([TN])'.*"
                  r"BLOCK_SIZE_M: \d+, .*\} # TFLOPS: [\d.]+ time\(us\): [\d.]+")

# The same for all sizes, so that most compile once: what is looked at is not the search.
CONFIGURATIONS = [runs.knobs(), runs.knobs(STRUCTURE=2, SPLIT_K=2, BLOCK_K=64),
                  runs.knobs(BLOCK_M=32, BLOCK_N=32, BLOCK_K=64, GROUP_M=1)]


def sizes(count):
    """Many that people have: rows of a batch, hidden sizes, and some that nothing divides."""
    rows, columns = [16, 64, 96, 128, 200, 256, 333, 512, 768, 1000], [128, 256, 320, 640, 1001]
    depths = [256, 512, 1280]
    every = [(m, n, k) for k in depths for n in columns for m in rows]
    step = 37  # no divisor of their number: takes from everywhere
    return [every[i * step % len(every)] for i in range(count)]


def read(file):
    """(size by line, lines that cannot be read) of a results file."""
    found, bad = [], []
    for each in file.read_text().splitlines() if file.exists() else []:
        match = LINE.fullmatch(each)
        (found.append((int(match[1]), int(match[2]), int(match[3]))) if match else bad.append(each))
    return found, bad


def finished(store):
    """Name of each finished dispatch -> (selections, measurements, artifacts) it has in the store."""
    rows = runs.query(store, """
        SELECT d.name, (SELECT count(*) FROM selection s WHERE s.dispatch_id = d.id),
               (SELECT count(*) FROM measurement m WHERE m.dispatch_id = d.id),
               (SELECT count(*) FROM artifact a JOIN candidate c ON a.candidate_id = c.id WHERE c.dispatch_id = d.id)
        FROM dispatch d WHERE d.id IN (SELECT dispatch_id FROM selection)""")
    return {name: tuple(counts) for name, *counts in rows}


def size_of(name):
    gemm = runs.Gemm(name)
    return gemm.m, gemm.n, gemm.k


def left_behind(folder):
    """Processes that were started for this store: their environment or command names the folder."""
    found = []
    for place in runs.pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parts = (place / "cmdline").read_bytes() + (place / "environ").read_bytes()
        except OSError:
            continue
        if str(folder).encode() in parts and int(place.name) != os.getpid():
            found.append(f"{place.name}: {(place / 'cmdline').read_bytes().replace(bytes(1), b' ').decode()[:100]}")
    return found


def main():
    parser = runs.arguments(__doc__, limit=230)
    parser.add_argument("--count", type=int, default=100, help="of sizes")
    options = parser.parse_args()
    folder = options.out = runs.fresh(options.out / "hundred_sizes").resolve()
    wanted = sizes(options.count)
    (folder / "sizes.yaml").write_text("".join(runs.line(*each, b_rows=False) for each in wanted))
    results, store = folder / "results.yaml", folder / "hone.db"
    command = [str(part) for part in (
        options.hone, "tune", "--gemm_size_file", folder / "sizes.yaml", "--tuning_results_file", results,
        "--store", store, "--out", folder, "--device", options.device, *runs.given(CONFIGURATIONS), "--budget",
        f"{1.5 * options.count}s", "--no-baselines", "--plain")]
    # What the tuner starts inherits this, so that it can be told from what others run.
    environment = os.environ | {"PROOF_FOLDER": str(folder)}
    faults = []
    begin = time.monotonic()

    with open(folder / "first.txt", "w") as log:
        tuner = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, env=environment)
        while (tuner.poll() is None and len(read(results)[0]) < options.count * 2 // 5 and
               time.monotonic() - begin < options.limit * 0.45):
            time.sleep(0.02)
        if tuner.poll() is not None:
            print(f"hone ended by itself, status {tuner.returncode}; the end of its words:")
            print("\n".join((folder / "first.txt").read_text().splitlines()[-20:]))
            return 1
        os.killpg(tuner.pid, signal.SIGKILL)
        tuner.wait()
    killed = time.monotonic() - begin
    before, bad = read(results)
    done = finished(store)
    print(f"killed after {killed:.1f} s: {len(before)} sizes in the results file, {len(done)} finished in the store")
    if bad:
        faults.append(f"{len(bad)} lines of the results file cannot be read: {bad[0]}")
    # The store is written first, the file right behind it: at most the last size may be missing from the file.
    missing = set(map(size_of, done)) - set(before)
    if len(missing) > 1 or set(before) - set(map(size_of, done)):
        faults.append(f"file and store differ: only in the store {missing}, only in the file "
                      f"{set(before) - set(map(size_of, done))}")
    elif missing:
        print(f"  {missing} was in the store and not yet in the file when the kill came")
    wait = time.monotonic()
    while left_behind(folder) and time.monotonic() - wait < 10:
        time.sleep(0.1)
    left = left_behind(folder)
    print(f"processes left: {len(left)}, {time.monotonic() - wait:.1f} s after the kill")
    faults += [f"left behind: {each}" for each in left]

    again = time.monotonic()
    try:
        with open(folder / "second.txt", "w") as log:
            tuner = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True, env=environment)
            code = tuner.wait(timeout=max(20, options.limit - (time.monotonic() - begin)))
    except subprocess.TimeoutExpired:
        os.killpg(tuner.pid, signal.SIGINT)
        code = tuner.wait(timeout=20)
        faults.append(f"the second run was not done at {options.limit:.0f} s: stopped")
    print(f"second run: status {code}, {time.monotonic() - again:.1f} s")
    after, bad = read(results)
    if bad:
        faults.append(f"{len(bad)} lines of the results file cannot be read: {bad[0]}")
    now = finished(store)
    changed = {name: (counts, now.get(name)) for name, counts in done.items() if now.get(name) != counts}
    print(f"finished before the kill: {len(done)}; measured or compiled again: {len(changed)}")
    faults += [f"{name}: (selections, measurements, artifacts) {each[0]} before, {each[1]} after"
               for name, each in list(changed.items())[:5]]
    print(f"results file: {len(after)} sizes, {len(set(after))} different, of {len(set(wanted))}; "
          f"in the order asked for: {after == list(dict.fromkeys(wanted))}")
    if set(after) != set(wanted) or len(after) != len(set(wanted)):
        faults.append(f"{len(set(wanted) - set(after))} sizes are missing, {len(after) - len(set(after))} are double")
    states = runs.query(store, "SELECT state, count(*) FROM run GROUP BY state")
    print(f"runs in the store: {dict(states)}; {runs.query(store, 'SELECT count(*) FROM candidate')[0][0]} candidates")
    check = runs.run([options.hone, "store", "check", store], 30)
    print("hone store check:", check.stdout.strip().splitlines()[-1] if check.stdout.strip() else check.stderr.strip())
    if check.returncode != 0:
        faults.append("the store is not sound")
    for each in faults:
        print("NOT AS IT MUST BE:", each)
    print(f"{time.monotonic() - begin:.0f} s in all; {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
