#!/usr/bin/env python3
"""Measures whole spaces of dispatches, for bench/regret, into bench/data/NAME.jsonl.

usage: bench/regret_data.py [--hone build/release/hone] [--out bench/data] [--most 600] [--budget 30m]
                            [--only NAME] [--threads 1] [--store FOLDER] [PROGRAM.mlir ...]
       bench/regret_data.py --device cuda:0 --gpu sm_90 [--space tune_gemm] ...

Every configuration of each dispatch is measured where its space has at most --most, else so many drawn at
random. Default: the programs of bench/cpu_matmuls.py; with --device eight GEMMs by Triton. The first line of
a file states dispatch, target and machine (bench/recorded.h). Spaces are stated anew when a file is read, so
that a file belongs to the rules it was made by.

Takes 0.5 to 1 s for each configuration on a CPU (10 minutes for 600; nothing else may run) and 0.05 s on a
GPU with 16 cores; --budget is the most for one dispatch, and what it does not reach is left out. Killed, it
continues: what is in the --store folder is not measured again. Needs Python's standard library only.
"""
import argparse
import json
import pathlib
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

GEMMS = [(2048, 1280, 5120), (2048, 10240, 1280), (4096, 4096, 4096), (3456, 1024, 2048),
         (2048, 1280, 1280), (8192, 640, 640), (64, 4096, 4096), (16, 8192, 8192)]


def run(command):
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def cpu_target(options, threads):
    devices = json.loads(run([options.hone, "devices", "--json"]))["devices"]
    target = next(each["target"] for each in devices if each["kind"] == "cpu")
    return {**target, "cores": threads}


def measured(store):
    """What is known of each dispatch of a store: its JSON, where it ran, and a score or failure for each
    configuration."""
    candidates = json.loads(run([OPTIONS.hone, "store", "export", store, "--format", "json"]))["candidates"]
    database = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    dispatches = dict(database.execute("SELECT id, json FROM dispatch"))
    protocols = dict(database.execute("SELECT id, protocol FROM device_identity"))
    database.close()
    found = {}
    for row in candidates:
        knobs = json.loads(row["configuration"]) if isinstance(row["configuration"], str) else row["configuration"]
        # The compiler's own choice, and a finalist as it ships, whose searched form has a row too.
        if row["default"] or row["state"] not in ("measured", "failed", "wrong") or "FIXED" in knobs:
            continue
        entry = found.setdefault(row["dispatch"], {
            "dispatch": json.loads(dispatches[row["dispatch"]]), "provider": row["provider"], "widths": [],
            "compiler": row["compiler"], "machine": "", "device": None, "rows": {}})
        score = row["sentinel_ratio"] if row["state"] == "measured" else row["failure_kind"] or row["state"]
        if row["device"] is not None:
            entry["machine"], entry["device"] = row["device_name"], json.loads(protocols[row["device"]])
        if row["state"] == "measured":
            entry["widths"].append((row["high_seconds"] - row["low_seconds"]) / row["median_seconds"])
        entry["rows"][tuple(knobs.items())] = score
    return found.values()


def write(options, entry, target, prefix):
    name = prefix + entry["dispatch"]["name"] + options.suffix
    header = {
        "schema_version": 1, "name": name, "provider": entry["provider"], "space": options.space, "target": target,
        "dispatch": entry["dispatch"], "relax": options.relax,
        "knobs": [knob for knob, _ in next(iter(entry["rows"]))],
        "noise": round(statistics.median(entry["widths"]), 5),
        "environment": {"machine": entry["machine"], "compiler": entry["compiler"], "device": entry["device"],
                        "date": time.strftime("%Y-%m-%d", time.gmtime()),
                        "load": pathlib.Path("/proc/loadavg").read_text().split()[0]}}
    path = options.out / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        print(json.dumps(header, separators=(",", ":")), file=file)
        for configuration, score in sorted(entry["rows"].items()):
            value = round(score, 5) if isinstance(score, float) else score
            print(json.dumps([[each for _, each in configuration], value], separators=(",", ":")), file=file)
    print(f"{path}: {len(entry['rows'])} configurations", flush=True)


def tune(options, name, arguments):
    options.store.mkdir(parents=True, exist_ok=True)
    store = options.store / f"{name}.db"
    begin = time.monotonic()
    relax = [part for each in options.relax for part in ("--relax", each)]
    limit = ["--compile-timeout", options.compile_timeout] if options.compile_timeout else []
    run([options.hone, "tune", *arguments, "--strategy", "random", *limit, "--candidates", options.most, *relax,
         "--budget", options.budget, "--no-baselines", "--store", store, "--out", options.store / name, "--json"])
    print(f"{name}: {time.monotonic() - begin:.0f} s", flush=True)
    return store


def programs(options, folder):
    if options.programs:
        return [pathlib.Path(each) for each in options.programs]
    import cpu_matmuls
    paths = []
    for name, text in cpu_matmuls.PROGRAMS.items():
        paths.append(folder / f"{re.sub('[^a-z0-9]+', '_', name)}.mlir")
        paths[-1].write_text(text)
    return paths


def measure_cpu(options):
    target = cpu_target(options, options.threads)
    with tempfile.TemporaryDirectory() as folder:
        for program in programs(options, pathlib.Path(folder)):
            if options.only not in program.stem:
                continue
            for dispatch in json.loads(run([options.hone, "dispatches", program, "--json"]))["dispatches"]:
                if dispatch["not_tunable"]:
                    continue
                name = dispatch["name"]
                store = tune(options, f"{program.stem}_{name}", [program, "--dispatch", name, "--no-program",
                                                                 "--threads", options.threads])
                for entry in measured(store):
                    write(options, entry, target, program.stem + "_")


def measure_gpu(options):
    for m, n, k in GEMMS:
        name = f"gemm_{m}x{n}x{k}"
        if options.only not in name:
            continue
        store = tune(options, name, ["--provider", "triton", "-m", m, "-n", n, "-k", k, "--col-b",
                                     "--device", options.device, "--space", options.space])
        for entry in measured(store):
            # The store keeps it compressed.
            entry["dispatch"]["source"] = json.dumps({
                "m": m, "n": n, "k": k, "batch": 1, "a": "f16", "b": "f16", "c": "f16", "bias": "",
                "a_rows": True, "b_rows": False, "c_rows": True, "precision": "ieee"})
            write(options, entry, options.gpu, "")


OPTIONS = argparse.Namespace()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--hone", type=pathlib.Path, default=pathlib.Path("build/release/hone"))
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "data")
    parser.add_argument("--store", type=pathlib.Path, default=pathlib.Path("regret_stores"))
    parser.add_argument("--most", type=int, default=600)
    parser.add_argument("--budget", default="30m")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--compile-timeout", default="", help="seconds of one candidate")
    parser.add_argument("--relax", action="append", default=[])
    parser.add_argument("--only", default="")
    parser.add_argument("--suffix", default="", help="of the files' names: of another machine, say")
    parser.add_argument("--device", default="")
    parser.add_argument("--gpu", default="sm_90", help="the target that --device is")
    parser.add_argument("--space", default="own")
    parser.parse_args(namespace=OPTIONS)
    measure_gpu(OPTIONS) if OPTIONS.device else measure_cpu(OPTIONS)


if __name__ == "__main__":
    main()
