#!/usr/bin/env python3
"""How near the first candidates of each dispatch are to the best that its whole search found.

Reads stores of finished tunings. A search's regret is the best of its first N candidates over the best of all, as the
search measured them, less one. Searches of fewer than two times N candidates say nothing and are left out.
"""
import argparse
import json
import sqlite3
import statistics
from pathlib import Path

QUERY = """SELECT d.name, c.provider, c.id, min(m.median) FROM candidate c
           JOIN dispatch d ON d.id = c.dispatch_id LEFT JOIN artifact a ON a.candidate_id = c.id
           LEFT JOIN measurement m ON m.identity = a.identity AND m.dispatch_id = c.dispatch_id AND m.phase = 'search'
           WHERE c.configuration != '{}' GROUP BY c.id ORDER BY c.id"""


def searches(store):
    """By (dispatch, provider): seconds of each candidate in the order of its search, none where it failed."""
    found = {}
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as database:
        for dispatch, provider, _, seconds in database.execute(QUERY):
            found.setdefault((dispatch, provider.split("@")[0]), []).append(seconds)
    return found


def rows_of(store, first):
    rows = []
    for (dispatch, provider), seconds in searches(store).items():
        right = [each for each in seconds if each]
        early = [each for each in seconds[:first] if each]
        if len(seconds) < 2 * first or not right:
            continue
        rows.append({"model": store.stem, "dispatch": dispatch, "provider": provider, "candidates": len(seconds),
                     "right": len(right), "best_us": round(1e6 * min(right), 2),
                     "regret": round(min(early) / min(right) - 1, 4) if early else None})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="+", type=Path)
    parser.add_argument("--first", type=int, default=8)
    parser.add_argument("--out", type=Path, help="JSON of all rows")
    options = parser.parse_args()
    rows = [row for store in options.stores for row in rows_of(store, options.first)]
    for provider in sorted({row["provider"] for row in rows}):
        known = [row for row in rows if row["provider"] == provider and row["regret"] is not None]
        none = sum(row["provider"] == provider and row["regret"] is None for row in rows)
        if not known:
            continue
        worst = max(known, key=lambda row: row["regret"])
        print(f"{provider}: {len(known)} searches, regret of the first {options.first}: median "
              f"{statistics.median(row['regret'] for row in known):.1%}, worst {worst['regret']:.1%} "
              f"({worst['model']}, {worst['dispatch']}); {none} had no right one among them")
    if options.out:
        options.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
