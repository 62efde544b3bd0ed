#!/usr/bin/env python3
"""Records what a fleet's tasks took, for bench/fleet_simulation, and draws what that predicts.

usage: fleet_model.py record OUT.json FLEET_FOLDER...     dispatches, starts and serial parts of finished fleets
       fleet_model.py plot OUT.svg SIMULATION.json        wall time and idle share by tasks, of fleet_simulation --json
"""

import json
import math
import pathlib
import statistics
import sys

MERGE_SECONDS = 0.15  # of a shard's store of some hundred candidates, measured: copy, check and merge
START_SECONDS = 2  # of a task, and to publish its store: what shards without dispatches take (0.6 to 3.7 s)


def record(out, folders):
    dispatches, serial = [], []
    for folder in map(pathlib.Path, folders):
        parts = 0
        for file in sorted((folder / "status").glob("*.json")):
            status = json.loads(file.read_text())
            if not status["task"].isdigit():
                parts += status["seconds"]
                continue
            taken = [each for each in status["progress"]["dispatches"] if each["seconds"] > 0.01]
            # Weighing all of its dispatches, before the first is tuned.
            more = (status["seconds"] - START_SECONDS - sum(each["seconds"] for each in taken)) / max(1, len(taken))
            for each in taken:
                dispatches.append(
                    {
                        "name": each["name"],
                        "expected_seconds": each["expected_seconds"],
                        "seconds": each["seconds"] + max(0, more),
                    }
                )
        serial.append(parts)
    document = {
        "start_seconds": START_SECONDS,
        "serial_seconds": statistics.median(serial),
        "merge_seconds": MERGE_SECONDS,
        "dispatches": dispatches,
    }
    pathlib.Path(out).write_text(json.dumps(document, indent=1) + "\n")


def plot(out, file):
    rows = json.loads(pathlib.Path(file).read_text())["rows"]
    width, height, left, bottom = 640, 300, 70, 50
    most = max(math.log10(row["wall_seconds"]) for row in rows)
    least = min(math.log10(min(row["wall_seconds"], row["work_seconds"])) for row in rows)
    low, high = math.floor(least), math.ceil(most)
    last = max(math.log2(row["tasks"]) for row in rows)

    def x(tasks):
        return left + (width - left - 130) * math.log2(tasks) / last

    def y(seconds):
        return height - bottom - (height - bottom - 20) * (math.log10(seconds) - low) / (high - low)

    def line(key, style):
        points = " ".join(f"{x(row['tasks']):.1f},{y(row[key]):.1f}" for row in rows)
        return f'<polyline points="{points}" fill="none" {style}/>'

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for power in range(low, high + 1):
        at = y(10**power)
        parts.append(f'<line x1="{left}" x2="{width - 130}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{10**power:,} s</text>')
    parts.append(line("work_seconds", 'stroke="#999" stroke-dasharray="5 4" stroke-width="1.5"'))
    parts.append(line("wall_seconds", 'stroke="#1f6feb" stroke-width="2.5"'))
    for row in rows:
        at = x(row["tasks"])
        parts.append(f'<circle cx="{at:.1f}" cy="{y(row["wall_seconds"]):.1f}" r="4" fill="#1f6feb"/>')
        parts.append(
            f'<text x="{at + 7:.1f}" y="{y(row["wall_seconds"]) - 7:.1f}">{row["wall_seconds"]:,.0f} s, '
            f'{100 * row["idle_share"]:.0f} % idle</text>'
        )
        parts.append(f'<text x="{at:.1f}" y="{height - 28}" text-anchor="middle">{row["tasks"]}</text>')
    parts.append(f'<text x="{(left + width - 130) / 2:.0f}" y="{height - 8}" text-anchor="middle">tasks</text>')
    parts.append(f'<text x="{left}" y="14">wall time (blue) and work divided evenly (dashed)</text></svg>')
    pathlib.Path(out).write_text("\n".join(parts) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 4 or sys.argv[1] not in ("record", "plot"):
        sys.exit(__doc__)
    if sys.argv[1] == "record":
        record(sys.argv[2], sys.argv[3:])
    else:
        plot(sys.argv[2], sys.argv[3])
