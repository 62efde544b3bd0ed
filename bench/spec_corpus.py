#!/usr/bin/env python3
"""Upgrades every tuning spec in the histories of IREE, SHARK and the SDXL scripts, and counts what comes of it.

usage: spec_corpus.py --hone BINARY --git OWNER/NAME=GIT_DIRECTORY... [--part P] [--recorded CSV] [--write CSV] [--most N]

A git directory is a clone's .git or a bare clone. Each version of a file with @__kernel_config and a foreach_match is a
spec, equal versions once. `hone spec upgrade` reads each. Versions whose blob the clone lacks are left out and counted.
--part rules takes the two thirds of the files that the rules were made from, --part unseen the last third, by hash.
--recorded compares with the facts of an earlier run: a file with fewer upgraded entries is an error. No file is kept.

Exit status: 0 done, 1 fewer entries than recorded, 2 wrong use.
"""
import argparse
import collections
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

COLUMNS = ["repository", "commit", "date", "path", "blob", "parsed", "entries", "upgraded", "refused"]


def versions(directory):
    """Blobs of MLIR files with the oldest commit that has each, oldest first."""
    log = subprocess.run(["git", f"--git-dir={directory}", "log", "--all", "--no-renames", "-m", "--raw", "--no-abbrev",
                          "--format=C %H %cs", "--", "*.mlir"], capture_output=True, text=True, errors="replace").stdout
    found, commit, date = {}, None, None
    for line in log.splitlines():
        if line.startswith("C "):
            _, commit, date = line.split()
        elif line.startswith(":"):
            meta, path = line.split("\t", 1)
            blob = meta.split()[3]
            if blob.strip("0") and (blob not in found or date < found[blob][1]):
                found[blob] = (commit, date, path)
    return sorted(found.items(), key=lambda item: (item[1][1], item[0]))


def blobs(directory, wanted):
    """Yields the text of each blob; None for one that the clone lacks."""
    process = subprocess.Popen(["git", f"--git-dir={directory}", "cat-file", "--batch"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    for blob in wanted:
        process.stdin.write(f"{blob}\n".encode())
        process.stdin.flush()
        head = process.stdout.readline().split()
        if head[1] == b"missing":
            yield None
            continue
        yield process.stdout.read(int(head[2]) + 1)[:-1].decode(errors="replace")
    process.stdin.close()
    process.wait()


def is_spec(text):
    return "@__kernel_config" in text and "transform.foreach_match" in text


def in_part(blob, part):
    unseen = int(blob[:8], 16) % 3 == 0
    return part == "all" or (part == "unseen") == unseen


def upgrade(hone, text):
    """The document of hone spec upgrade, or its message."""
    with tempfile.TemporaryDirectory() as folder:
        spec = pathlib.Path(folder) / "old.mlir"
        spec.write_text(text)
        done = subprocess.run([hone, "spec", "upgrade", "old.mlir", "--json"], cwd=folder, capture_output=True, text=True)
        if done.returncode in (0, 1) and done.stdout.startswith("{"):
            return json.loads(done.stdout)
        return done.stderr.strip()


def cause_of(problem):
    problem = re.sub(r"^@[\w.]+: ", "", problem)
    return re.sub(r"'[^']*'", "'...'", re.sub(r"\d+", "#", problem) if "(IREE" not in problem else problem)


def rows_of(options, causes, counts):
    seen = set()
    for name, directory in options.git:
        found = versions(directory)
        for (blob, (commit, date, path)), text in zip(found, blobs(directory, [blob for blob, _ in found])):
            if text is None:
                counts["missing in the clone"] += 1
            if text is None or blob in seen or not is_spec(text) or not in_part(blob, options.part):
                continue
            seen.add(blob)
            row = dict(repository=name, commit=commit[:10], date=date, path=path, blob=blob[:10], parsed=0, entries=0,
                       upgraded=0, refused="")
            document = upgrade(options.hone, text)
            if isinstance(document, str):
                row["refused"] = re.sub(r"\d+", "#", document.removeprefix("hone: "))[:80]
                counts["refused: no spec by itself"] += 1
            else:
                entries = document["upgraded"]
                kept = [entry for entry in entries if not entry["problem"]]
                row.update(entries=len(entries), upgraded=len(kept),
                           parsed=int(not document["changes"] and all(entry["state"] == "as it was" for entry in entries)))
                counts["whole" if len(kept) == len(entries) else "in part" if kept else "nothing"] += 1
                causes.update(cause_of(entry["problem"]) for entry in entries if entry["problem"])
            yield row


def worse_than(rows, recorded):
    """Messages for files of which fewer entries are upgraded than an earlier run recorded."""
    with open(recorded, newline="") as file:
        before = {row["blob"]: int(row["upgraded"]) for row in csv.DictReader(file)}
    return [f"{row['path']} of {row['commit']}: {row['upgraded']} of {row['entries']} entries, {before[row['blob']]} before"
            for row in rows if row["upgraded"] < before.get(row["blob"], 0)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", required=True, type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--git", required=True, action="append", type=lambda word: tuple(word.split("=", 1)))
    parser.add_argument("--part", choices=["all", "rules", "unseen"], default="all")
    parser.add_argument("--recorded")
    parser.add_argument("--write")
    parser.add_argument("--most", type=int, default=20)
    options = parser.parse_args()
    causes, counts = collections.Counter(), collections.Counter()
    rows = list(rows_of(options, causes, counts))
    entries, upgraded = sum(row["entries"] for row in rows), sum(row["upgraded"] for row in rows)
    print(f"{len(rows)} specs, {min(row['date'] for row in rows)} to {max(row['date'] for row in rows)}")
    print(f"{sum(row['parsed'] for row in rows)} are in today's syntax already")
    for count, number in counts.most_common():
        print(f"  {number:5} {count}")
    print(f"{upgraded} of {entries} entries; left out by cause:")
    for cause, number in causes.most_common(options.most):
        print(f"  {number:5} {cause}")
    if options.write:
        with open(options.write, "w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    worse = worse_than(rows, options.recorded) if options.recorded else []
    for line in worse:
        print(line)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
