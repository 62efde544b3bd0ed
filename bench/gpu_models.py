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
order, --seconds each; each call is synchronised. Ratios are medians over the rounds' own, with a 95 % interval (of order
statistics). Errors are root mean squares over those of the outputs of PyTorch in f32 with the same rounded weights.

--work keeps programs, tunings and modules; what is there is not made again, so that a call that was killed goes on. Its
seconds of tuning are null then. HONE_IREE and HONE_TRITON say where those are. Nothing else may run on the GPU.
What fails is a row or a peer with "reason". Exit status: 0 all was timed, 1 something was not, 2 wrong use.
"""
import argparse
import datetime
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from gpu_variants import Iree, Torch, error_of, make_inputs, run_in
from models import PYTHON, ROOT, Failed, interval, line, run

# Name: workload of the row, model of examples/models, its sizes, those of --small.
TRANSFORMER = {"layers": 1, "width": 128, "heads": 2}
LLAMA = {**TRANSFORMER, "key_heads": 1, "inner": 256}
MODELS = {
    "unet": ("SDXL UNet, whole", "sdxl_unet", {}, {"channels": 64, "image": 8, "depths": "0,1", "text": 8,
                                                   "text_width": 64}),
    "bert": ("BERT-base, 12 layers", "bert", {}, {**TRANSFORMER, "sequence": 16}),
    "prefill": ("Llama prefill, 512 tokens", "llama", {"sequence": 512}, {**LLAMA, "sequence": 16}),
    "decode": ("Llama decoding, 4,095 cached", "llama", {"sequence": 1, "past": 4095}, {**LLAMA, "past": 15}),
    "resnet50": ("ResNet-50, NCHW", "resnet50", {}, {"image": 32, "width": 8, "classes": 10}),
    "vit": ("ViT-L/14, 257 tokens", "vit", {}, {**TRANSFORMER, "image": 28}),
}
PEERS = {"torch": ("torch.compile", "reduce-overhead"), "max-autotune": ("torch.compile, max-autotune", "max-autotune"),
         "eager": ("PyTorch eager", "eager")}
NAMES = {"default": "IREE default", "flags": "IREE best flags", "hone": "hone",
         **{peer: name for peer, (name, _) in PEERS.items()}}
ELEMENT, SEED = "f16", 0
BEGIN = time.monotonic()


def say(text):
    print(f"[{time.monotonic() - BEGIN:6.0f} s] {text}", file=sys.stderr, flush=True)


def prepare(options, name, folder):
    """NAME.mlir and NAME.json, which says how the same network is made without the importer."""
    _, model, sizes, small = MODELS[name]
    sizes = {**sizes, **small} if options.small else sizes
    folder.mkdir(parents=True, exist_ok=True)
    words = [f"--{size.replace('_', '-')}={value}" for size, value in sizes.items()]
    run([PYTHON if PYTHON.exists() else sys.executable, "-B", ROOT / "examples/models/make.py", model, *words,
         "--element", ELEMENT, "--weights", options.weights, "--seed", SEED, "--out", folder / f"{name}.mlir"])
    what = {"model": model, "sizes": sizes, "element": ELEMENT, "weights": options.weights, "seed": SEED}
    (folder / f"{name}.json").write_text(json.dumps(what))


class Comparison:
    """One model: its variants, what was found out about each, and why some failed."""

    def __init__(self, options, name):
        self.options, self.name = options, name
        self.work = options.work / name
        self.work.mkdir(parents=True, exist_ok=True)
        source = options.prepared or self.work
        if not (source / f"{name}.json").exists():
            say(f"{name}: making the model")
            prepare(options, name, source)
        self.program = (source / f"{name}.mlir").resolve()
        self.what = json.loads((source / f"{name}.json").read_text())
        self.inputs, outputs = make_inputs(self.what, self.work)
        self.iree = Iree(options, self.what["model"], self.inputs, outputs)
        self.torches, self.samplers, self.outputs = [], {}, {}
        self.facts, self.failed = {}, {}

    def attempt(self, variant, step, work, *arguments):
        """What a step of a variant returns; none where it fails, which ends the variant."""
        if variant in self.failed:
            return None
        say(f"{self.name}: {variant}: {step}")
        try:
            return work(*arguments)
        except (Failed, OSError, ValueError, subprocess.SubprocessError) as error:
            self.failed[variant] = f"{step}: {error}"
            say(f"{self.name}: {variant}: failed: {self.failed[variant]}")
            return None

    def hone(self, command, budget):
        """Seconds that it took; leaves work/COMMAND/compile_flags.txt, whose paths are relative to work."""
        took, store = self.work / f"{command}.seconds", self.work / f"{command}.db"
        if not took.exists():
            begun, begin = store.exists(), time.monotonic()
            words = [self.options.hone, command, self.program, *self.options.place, "--iree", self.iree.packages,
                     "--budget", budget, "--out", command, "--store", store.name, "--json", "--quiet",
                     *(f"--input=@{file}" for file in self.inputs)]
            said = run_in(self.work, words, needs=self.work / command / "compile_flags.txt")
            (self.work / f"{command}.json").write_text(said)
            took.write_text(json.dumps(None if begun else round(time.monotonic() - begin, 1)))
        return json.loads(took.read_text())

    def launches(self, variant, flags):
        """How many a call does, as hone lists them."""
        kept = self.work / f"{variant}.launches"
        if not kept.exists():
            target = ["--target", self.options.target] if self.options.device != "cpu" else []
            more = [word for each in flags for word in (("--compile-flags-file", each[1:]) if each[0] == "@" else ())]
            said = run_in(self.work, [self.options.hone, "dispatches", self.program, "--json", "--iree",
                                      self.iree.packages, *target, *more])
            kept.write_text(str(sum(row["launches_per_call"] or 0 for row in json.loads(said)["dispatches"])))
        return int(kept.read_text())

    def set_up_iree(self, variant, flags):
        facts = self.facts.setdefault(variant, {})
        module = self.work / f"{variant}.vmfb"
        if not module.exists():
            self.attempt(variant, "compiling", self.iree.compile, [self.program, *flags], module, self.work)
        self.outputs[variant] = self.attempt(variant, "outputs", self.iree.outputs, module)
        if variant not in self.failed:
            self.samplers[variant] = lambda seconds: self.iree.sample(module, seconds)
            try:
                facts["launches"] = self.launches(variant, flags)
            except (Failed, OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
                say(f"{self.name}: {variant}: launches unknown: {error}")

    def set_up_torch(self, variant, mode):
        torch = self.attempt(variant, "compiling", Torch, self.options, self.what, self.inputs, mode,
                             self.options.peer_limit)
        if torch is None:
            return
        self.torches.append(torch)
        first = self.work / f"{variant}.seconds"  # of a later call they are those of a cache
        if not first.exists():
            first.write_text(json.dumps(round(torch.started["compile"], 1)))
        self.facts[variant] = {"seconds": json.loads(first.read_text()), "version": torch.started["version"]}
        self.outputs[variant] = self.attempt(variant, "outputs", torch.outputs)
        if variant not in self.failed:
            self.samplers[variant] = torch.sample

    def set_up(self):
        for variant, command, budget in (("hone", "tune", self.options.budget), ("flags", "flags", self.options.flags)):
            seconds = self.attempt(variant, f"hone {command}, budget {budget}", self.hone, command, budget)
            self.facts[variant] = {"seconds": seconds}
        self.set_up_iree("default", self.iree.default_flags)
        self.set_up_iree("flags", ["@flags/compile_flags.txt"])
        self.set_up_iree("hone", ["@tune/compile_flags.txt"])
        for peer in self.options.peers:
            self.set_up_torch(peer, PEERS[peer][1])
        self.set_up_torch("f32", "f32")
        self.samplers.pop("f32", None)
        if "f32" not in self.failed:
            self.torches.pop().end()

    def time(self):
        """Seconds a call of each variant by rounds. One that fails in a round is dropped from all."""
        rounds, order = {variant: [] for variant in self.samplers}, random.Random(1)
        say(f"{self.name}: {self.options.rounds} rounds of {', '.join(rounds)}")
        for number in range(self.options.rounds):
            for variant in order.sample(list(rounds), len(rounds)):
                try:
                    rounds[variant].append(self.samplers[variant](self.options.seconds))
                except (Failed, OSError, ValueError) as error:
                    self.failed[variant] = f"round {number + 1}: {error}"
                    say(f"{self.name}: {variant}: failed: {self.failed[variant]}")
                    del rounds[variant]
        (self.work / "samples.json").write_text(json.dumps(rounds))
        return rounds

    def end(self):
        self.iree.end()
        for torch in self.torches:
            torch.end()


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
    for variant in ("default", "flags", "hone", *options.peers):
        times, outputs = rounds.get(variant), comparison.outputs.get(variant)
        error = error_of(outputs, truth) if outputs and truth else None
        variants[variant] = {**facts.get(variant, {}), "error_percent": figure(error and 100 * error)}
        if times:
            variants[variant] |= {"n": len(times), "min": figure(1e3 * min(times)),
                                  "median": figure(1e3 * statistics.median(times))}
        if variant in comparison.failed:
            variants[variant]["reason"] = comparison.failed[variant]
    peers = []
    for variant in ("flags", *options.peers):
        peer = {"name": NAMES[variant], "value": variants[variant].get("median"), **variants[variant]}
        if hone and variant in rounds:
            is_faster = variants[variant]["median"] < variants["hone"]["median"]
            value, ends = ratio(*((hone, rounds[variant]) if is_faster else (rounds[variant], hone)))
            peer |= {"peer_over_hone" if is_faster else "hone_over_peer": value, "interval": ends}
        peers.append(peer)
    both = hone and "default" in rounds
    speedup, ends = ratio(rounds["default"], hone) if both else (None, None)
    errors = [variants[variant]["error_percent"] for variant in ("hone", "default")]
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=False)
    return {
        "workload": MODELS[comparison.name][0] + (", small" if options.small else ""), "machine": options.machine,
        "baseline": "IREE default", "baseline_value": variants["default"].get("median"),
        "hone_value": variants["hone"].get("median"), "unit": "ms", "speedup": speedup, "interval": ends, "peers": peers,
        "date": datetime.date.today().isoformat(), "commit": options.commit or commit.stdout.strip() or None,
        "command": " ".join(["bench/gpu_models.py", *sys.argv[1:]]), "shown": False, "default": variants["default"],
        "hone": variants["hone"], "error_over_default": figure(errors[0] / errors[1]) if all(errors) else None,
        "sizes": comparison.what["sizes"], "weights": comparison.what["weights"], "reason": comparison.failed.get("f32")}


def keep(path, row):
    """Adds a row to a file, in place of the one that it has of this workload."""
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    rows = [each for each in rows if each["workload"] != row["workload"]] + [row]
    path.write_text('{\n "title": "Models on GPUs, f16",\n "rows": [\n  '
                    + ",\n  ".join(json.dumps(each) for each in rows) + "\n ]\n}\n")


def cell(variant):
    error = variant.get("error_percent")
    return f"{variant['median']} ms" + (f", {error} %" if error is not None else "") if "median" in variant else "failed"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="+", choices=MODELS)
    parser.add_argument("--hone", type=pathlib.Path, default=ROOT / "build/release/hone", metavar="PATH")
    parser.add_argument("--device", default="cuda:0", help="cuda:N or cpu")
    parser.add_argument("--target", default="sm_80")
    parser.add_argument("--budget", default="60s", metavar="TIME", help="of hone tune")
    parser.add_argument("--flags", default="60s", metavar="TIME", help="of hone flags")
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
    options.place = ["--device", options.device]
    options.place += ["--target", options.target] if options.device != "cpu" else []
    options.hone = options.hone.resolve()
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
        variants = ["default", "flags", "hone", *options.peers]
        line(["model", *(NAMES[variant] for variant in variants), "hone over default"])
        line(["---"] * (len(variants) + 2))
        for name in options.model:
            comparison = Comparison(options, name)
            try:
                comparison.set_up()
                row = row_of(options, comparison, comparison.time())
            finally:
                comparison.end()
            failed += len(comparison.failed)
            if options.out:
                keep(options.out, row)
            cells = {"default": row["default"], "hone": row["hone"]} | {
                variant: peer for variant, peer in zip(["flags", *options.peers], row["peers"])}
            line([name, *(cell(cells[variant]) for variant in variants), f"{row['speedup']}x {row['interval']}"])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
