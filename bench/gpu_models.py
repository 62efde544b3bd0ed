#!/usr/bin/env python3
"""Models on one GPU: IREE's default, its best flags (`hone flags`), hone and torch.compile, interleaved, and how far
the outputs of each are from f32.

usage: bench/gpu_models.py MODEL ... [--device cuda:0] [--target sm_80] [--budget 60s] [--peers torch,max-autotune]
                           [--rounds 15] [--machine h200] [--work FOLDER] [--out rows.json]
       bench/gpu_models.py MODEL ... --prepare FOLDER       makes the programs, where the ONNX importer is
       bench/gpu_models.py MODEL ... --prepared FOLDER ...  measures them, where it is not

Models are those of examples/models in f16. PyTorch gets the same network with the same weights
(bench/torch_networks.py), as torch.compile with CUDA graphs ("torch") and by max-autotune. All that is timed stays in
a process: one of IREE's runtime for its three modules, one for each way of PyTorch. Each round samples all in random
order, --seconds each; each call is synchronised. Ratios are medians over the rounds' own, with a 95 % interval (of
order statistics). Errors are root mean squares over those of the outputs of PyTorch in f32 with the same rounded
weights.

--work keeps programs, tunings and modules; what is there is not made again, so that a call that was killed goes on. Its
seconds of tuning are null then. Another budget needs another folder. HONE_IREE and HONE_TRITON say where those are.
Nothing else may run on the GPU.
What fails is a row or a peer with "reason". Exit status: 0 all was timed, 1 something was not, 2 wrong use.
"""
import argparse
import datetime
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from gpu_comparison import MODELS, NAMES, PEERS, Comparison, prepare
from gpu_variants import error_of, iree_packages
from models import ROOT, Failed, interval, line


def figure(value):
    return None if value is None else float(f"{value:.4g}")


def ratio(slow, fast):
    """Of rounds: the median, and its interval at 95 %."""
    ratios = [a / b for a, b in zip(slow, fast)]
    return figure(statistics.median(ratios)), [figure(end) for end in interval(ratios)]


def row_of(options, comparison, rounds):
    """In the form of bench/results (bench/README.md), with facts of each variant besides."""
    facts, truth, hone = comparison.facts, comparison.outputs.get("f32"), rounds.get("hone")
    variants = {}
    for variant in ("default", "hone", *options.beside):
        times, outputs = rounds.get(variant), comparison.outputs.get(variant)
        error = error_of(outputs, truth) if outputs and truth else None
        variants[variant] = {**facts.get(variant, {}), "error_percent": figure(error and 100 * error)}
        if times:
            variants[variant] |= {"n": len(times), "min": figure(1e3 * min(times)),
                                  "median": figure(1e3 * statistics.median(times))}
        if variant in comparison.failed:
            variants[variant]["reason"] = comparison.failed[variant]
    peers = []
    for variant in options.beside:
        peer = {"name": NAMES[variant], "value": variants[variant].get("median"), **variants[variant]}
        if hone and variant in rounds:
            is_faster = variants[variant]["median"] < variants["hone"]["median"]
            value, ends = ratio(*((hone, rounds[variant]) if is_faster else (rounds[variant], hone)))
            peer |= {"peer_over_hone" if is_faster else "hone_over_peer": value, "interval": ends}
        peers.append(peer)
    both = hone and "default" in rounds
    speedup, ends = ratio(rounds["default"], hone) if both else (None, None)
    errors = [variants[variant]["error_percent"] for variant in ("hone", "default")]
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True,
                            check=False)
    return {
        "workload": MODELS[comparison.name][0] + (", small" if options.small else ""), "machine": options.machine,
        "baseline": "IREE default", "baseline_value": variants["default"].get("median"),
        "hone_value": variants["hone"].get("median"), "unit": "ms", "speedup": speedup, "interval": ends,
        "peers": peers,
        "date": datetime.date.today().isoformat(), "commit": options.commit or commit.stdout.strip() or None,
        "command": " ".join(["bench/gpu_models.py", *sys.argv[1:]]), "shown": False, "default": variants["default"],
        "hone": variants["hone"], "error_over_default": figure(errors[0] / errors[1]) if all(errors) else None,
        "sizes": comparison.what["sizes"], "weights": comparison.what["weights"],
        "reason": comparison.failed.get("f32")}


def keep(path, row):
    """Adds a row to a file, in place of the one that it has of this workload."""
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    rows = [each for each in rows if each["workload"] != row["workload"]] + [row]
    path.write_text('{\n "title": "Models on GPUs, f16",\n "rows": [\n  '
                    + ",\n  ".join(json.dumps(each) for each in rows) + "\n ]\n}\n")


def cell(variant):
    if "median" not in variant:
        return "failed"
    error = variant["error_percent"]
    return f"{variant['median']} ms, " + ("error unknown" if error is None else f"{error} % off")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="+", choices=MODELS)
    parser.add_argument("--hone", type=pathlib.Path, default=ROOT / "build/release/hone", metavar="PATH")
    parser.add_argument("--device", default="cuda:0", help="cuda:N or cpu")
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--budget", default="60s", metavar="TIME", help="of hone tune")
    parser.add_argument("--flags", default="60s", metavar="TIME", help="of hone flags; none: without best flags")
    parser.add_argument("--peers", default="torch,max-autotune", help=f"of {','.join(PEERS)}; '' for none")
    parser.add_argument("--peer-limit", type=float, default=300, metavar="SECONDS", help="until a peer has compiled")
    parser.add_argument("--torch", default=sys.executable, metavar="PYTHON", help="that has torch, numpy and onnx")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.3, help="of a sample")
    parser.add_argument("--weights", choices=["splat", "random"], default="splat")
    parser.add_argument("--small", action="store_true", help="tiny sizes, to test this script")
    parser.add_argument("--prepare", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--prepared", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--machine", help="key of bench/results/machines.json")
    parser.add_argument("--commit", help="of hone, where git cannot tell")
    parser.add_argument("--work", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE.json")
    options = parser.parse_args()
    options.peers = [peer for peer in options.peers.split(",") if peer]
    if unknown := set(options.peers) - set(PEERS):
        parser.error(f"unknown peers: {', '.join(unknown)}")
    options.beside = [*(["flags"] if options.flags != "none" else []), *options.peers]
    options.place = ["--device", options.device]
    options.place += ["--target", options.target] if options.device != "cpu" else []
    options.hone = options.hone.resolve()
    options.packages = iree_packages()
    if not options.prepare and not (options.packages and options.hone.exists()):
        parser.error(f"no hone at {options.hone} (--hone)" if options.packages else "no IREE: set HONE_IREE")
    return options


def main():
    options = parse_arguments()
    if options.prepare:
        for name in options.model:
            prepare(options, name, options.prepare)
        return 0
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        options.work = (options.work or pathlib.Path(folder)).resolve()
        variants = ["default", "hone", *options.beside]
        line(["model", *(NAMES[variant] for variant in variants), "hone over default"])
        line(["---"] * (len(variants) + 2))
        for name in options.model:
            try:
                comparison = Comparison(options, name)
            except (Failed, OSError, ValueError) as error:
                print(f"{name}: {error}", file=sys.stderr, flush=True)
                failed += 1
                continue
            try:
                comparison.set_up()
                rounds = comparison.time()
            finally:
                comparison.end()
            failed += len(comparison.failed)
            if options.out:
                keep(options.out, row_of(options, comparison, rounds))
            comparison.count_launches()
            row = row_of(options, comparison, rounds)
            if options.out:
                keep(options.out, row)
            cells = {"default": row["default"], "hone": row["hone"]} | {
                variant: peer for variant, peer in zip(options.beside, row["peers"])}
            gain = f"{row['speedup']}x {row['interval']}" if row["speedup"] else "-"
            line([name, *(cell(cells[variant]) for variant in variants), gain])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
