"""What a GPU's counters say of hone's Triton GEMMs: for each problem of bench/triton_gemms.py the fastest candidate of
each structure under ncu, the winner first.

The stores are those that `scripts/bench-triton library` left (--stores FOLDER: a folder per problem with hone.db), or
else the problems are tuned here first, with a few configurations of each structure. Each candidate is emitted as C
(hone spec emit) and launched once by a program of its problem's candidates, cold, as ncu empties the caches.
Without ncu the candidates and their times are all there is.
"""
import csv
import io
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests/gpu")]
import triton_runs as runs  # noqa: E402
from triton_gemms import PROBLEMS, size  # noqa: E402

STALLS = ("barrier", "gmma", "long_scoreboard", "math_pipe_throttle", "membar", "mio_throttle", "short_scoreboard",
          "sleeping", "wait")
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
# Column -> ncu's metric. What a chip does not have is left out of a second try.
METRICS = {
    "us": "gpu__time_duration.sum",
    "tensor %": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "hmma %": "sm__inst_executed_pipe_tensor_op_hmma.avg.pct_of_peak_sustained_active",
    "gmma %": "sm__inst_executed_pipe_tensor_op_gmma.avg.pct_of_peak_sustained_active",
    "DRAM %": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "DRAM rd MB": "dram__bytes_read.sum",
    "DRAM wr MB": "dram__bytes_write.sum",
    "L2 %": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "L2 hit %": "lts__t_sector_hit_rate.pct",
    "warps %": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "SM busy": "sm__cycles_active.avg",
    "SM all": "sm__cycles_elapsed.max",
    "waves": "launch__waves_per_multiprocessor",
    "regs": "launch__registers_per_thread",
    "shared KB": "launch__shared_mem_per_block_dynamic",
    "grid": "launch__grid_size",
} | {"stall " + each: STALL.format(each) for each in STALLS}
CORE = ("us", "tensor %", "DRAM %", "L2 hit %", "warps %", "waves", "regs")
FACTORS = {"byte": 1e-6, "Kbyte": 1e-3, "Mbyte": 1, "Gbyte": 1e3, "ns": 1e-3, "nsecond": 1e-3, "us": 1, "usecond": 1,
           "ms": 1e3, "msecond": 1e3}
IN_MB_OR_US = ("us", "DRAM rd MB", "DRAM wr MB")
# Tuned here: of each structure what won or came near somewhere on an H200.
CONFIGURATIONS = [
    runs.knobs(BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, GROUP_M=8, num_warps=8),
    runs.knobs(BLOCK_M=64, BLOCK_N=128, BLOCK_K=64),
    runs.knobs(BLOCK_M=16, BLOCK_N=64, BLOCK_K=128, GROUP_M=1),
    *(runs.knobs(STRUCTURE=2, SPLIT_K=split, BLOCK_K=64, GROUP_M=1) for split in (4, 8)),
    runs.knobs(STRUCTURE=2, SPLIT_K=8, BLOCK_M=16, BLOCK_K=128, GROUP_M=1),
    runs.knobs(STRUCTURE=3, BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, num_warps=8),
    runs.knobs(STRUCTURE=4, BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, GROUP_M=8, SPLIT_STORE=1, num_warps=8),
    runs.knobs(STRUCTURE=4, BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, GROUP_M=8, PER_UNIT=2),
    runs.knobs(STRUCTURE=5, BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, num_warps=8, num_stages=4),
    runs.knobs(STRUCTURE=5, BLOCK_M=64, BLOCK_N=64, BLOCK_K=128, SPLIT_K=4, SWAP=1, num_stages=4),
    runs.knobs(STRUCTURE=6, BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, num_warps=8, num_stages=4),
    runs.knobs(STRUCTURE=7, BLOCK_M=128, BLOCK_N=128, MORE_N=64, BLOCK_K=64, num_warps=8),
    runs.knobs(STRUCTURE=8, BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, GROUP_M=8, num_stages=4, num_warps=8),
    runs.knobs(STRUCTURE=8, BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, GROUP_M=8, SPLIT_STORE=1, num_warps=8)]


def stores(options):
    """(label, store) of each problem."""
    if options.stores:
        return [(each.parent.name, each) for each in sorted(options.stores.glob("*/hone.db"))
                if each.parent.name.split("-")[0] in ("fp16", "bf16") and each.parent.name.endswith(options.ends)]
    found = []
    for dtype, m, n, k in PROBLEMS:
        folder = runs.fresh(options.out / f"{dtype}-{m}x{n}x{k}")
        ran, seconds = runs.tune(options, folder, [*size(m, n, k, dtype), "--cache", "cold", "--budget", "6s",
                                                   *runs.given(CONFIGURATIONS)], 60)
        print(f"{folder.name}: tuned in {seconds:.1f} s, status {ran.returncode} {runs.words(ran.stderr)}", flush=True)
        if (folder / "hone.db").exists():
            found.append((folder.name, folder / "hone.db"))
    return found


def fastest_of_each(options, store):
    """The fastest right candidate of each structure, the winner first."""
    best = {}
    for row in runs.candidates(options, store):
        structure = row["knobs"].get("STRUCTURE", 0)
        if row["provider"] != "triton" or row["state"] != "measured" or row["median_seconds"] is None:
            continue
        if structure not in best or row["median_seconds"] < best[structure]["median_seconds"]:
            best[structure] = row
    return sorted(best.values(), key=lambda row: row["median_seconds"])


def profile(ncu, launcher, names, file):
    """Per launch of a kernel, in order, {column: value}; words where there is none."""
    metrics = ",".join(METRICS[name] for name in names)
    command = [ncu, "--csv", "--page", "raw", "--print-units", "auto", "--clock-control", "none", "--metrics", metrics,
               "--target-processes", "all", *launcher.command(1, False)]
    ran = runs.run(command, 150)
    file.write_text(runs.shown(command) + "\n" + ran.stdout + ran.stderr)
    lines = ran.stdout.splitlines()
    begin = next((i for i, each in enumerate(lines) if each.startswith('"ID"')), None)
    if begin is None:
        return [], runs.words(ran.stdout + ran.stderr)
    head, units, *rows = csv.reader(io.StringIO("\n".join(lines[begin:])))
    launches = []
    for row in rows:
        if len(row) != len(head):
            continue
        launch = {"kernel": row[head.index("Kernel Name")].split("(")[0]}
        for name in names:
            metric = METRICS[name]
            if metric not in head:
                continue
            text = row[head.index(metric)].replace(",", "")
            try:
                launch[name] = float(text) * (FACTORS.get(units[head.index(metric)], 1) if name in IN_MB_OR_US else 1)
            except ValueError:
                continue
        launches.append(launch)
    return launches, ""


def known_metrics(ncu):
    """Columns whose metric ncu lists; the launch's own it does not list."""
    listed = runs.run([ncu, "--query-metrics", "--chip", "gh100"], 60).stdout
    return [name for name, metric in METRICS.items() if metric.startswith("launch__") or metric.split(".")[0] in listed]


def cell(value):
    return "-" if value is None else f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def show(rows, launcher, launches):
    """A line for each kernel of each candidate: counters, then the three longest stalls."""
    body, at = [], 0
    columns = [each for each in METRICS if not each.startswith("stall ") and each not in ("SM busy", "SM all")]
    for (_, label, _), count, row in zip(launcher.entries, launcher.launches, rows):
        for launch in launches[at:at + count]:
            stalls = sorted(((launch[name], name[6:]) for name in launch if name.startswith("stall ")), reverse=True)
            busy = launch["SM busy"] / launch["SM all"] * 100 if {"SM busy", "SM all"} <= set(launch) else None
            body.append([label, launch["kernel"], f"{row['median_seconds'] * 1e6:.1f}",
                         *(cell(launch.get(each)) for each in columns), cell(busy),
                         ", ".join(f"{name} {value:.1f}" for value, name in stalls[:3])])
        at += count
    print(runs.table(body, ["structure", "kernel", "hone us", *columns, "SM busy %", "stalled warps per issue"]))


def main():
    parser = runs.arguments(__doc__)
    parser.add_argument("--stores", type=pathlib.Path, help="the --out folder of scripts/bench-triton library")
    parser.add_argument("--ends", default="-nk", help="of --stores only folders whose name ends so")
    parser.add_argument("--only", type=int, nargs="*", help="problems by place")
    options = parser.parse_args()
    options.out = runs.fresh(options.out / "counters")
    ncu = runs.tool("ncu")
    names = list(METRICS)
    print("ncu:", ncu or "is not on this machine: no counters", flush=True)
    every = stores(options)
    status = 0 if every else 1
    for place, (label, store) in enumerate(every):
        if options.only and place not in options.only:
            continue
        rows = fastest_of_each(options, store)
        print(f"\n== {label}")
        launcher = runs.Launcher(options, options.out / f"launcher-{label}")
        shown = []
        for row in rows:
            structure = row["knobs"].get("STRUCTURE", 0)
            failed = launcher.add(store, row["candidate"], runs.STRUCTURES[structure])
            print(f"  {row['median_seconds'] * 1e6:8.1f} us  {runs.STRUCTURES[structure]}: {row['configuration']} "
                  f"{failed}")
            if not failed:
                shown.append(row)
        failed = launcher.build() if shown else "no candidate"
        if failed or not ncu:
            print(failed, flush=True)
            status = 1 if failed else status
            continue
        launches, failed = profile(ncu, launcher, names, options.out / f"ncu-{label}.txt")
        for fewer in ([], CORE) if not launches else ():
            names = list(fewer) or known_metrics(ncu)
            print(f"ncu: {failed}; again with {len(names)} metrics")
            launches, failed = profile(ncu, launcher, names, options.out / f"ncu-{label}.txt")
            if launches:
                break
        if not launches:
            print("ncu gave nothing:", failed)
            return 1
        if len(launches) != sum(launcher.launches):
            print(f"{len(launches)} launches were seen, {sum(launcher.launches)} meant")
        show(shown, launcher, launches)
        sys.stdout.flush()
    return status


if __name__ == "__main__":
    sys.exit(main())
