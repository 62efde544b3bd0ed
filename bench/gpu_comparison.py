"""One model for bench/gpu_models.py: makes what its variants need, collects their outputs and times them in rounds."""
import concurrent.futures
import json
import random
import subprocess
import sys
import time

from gpu_variants import Iree, Torch, make_inputs, run_in
from models import PYTHON, ROOT, Failed, run

# Name: workload of the row, model of examples/models, its sizes, those of --small.
TRANSFORMER = {"layers": 1, "width": 128, "heads": 2}
LLAMA = {**TRANSFORMER, "key_heads": 1, "inner": 256}
MODELS = {
    "unet": ("SDXL UNet, whole", "sdxl_unet", {}, {"channels": 64, "image": 8, "depths": "0,1", "text": 8,
                                                   "text_width": 64}),
    "bert": ("BERT-base, 12 layers", "bert", {}, {**TRANSFORMER, "sequence": 16}),
    "prefill": ("Llama prefill, 512 tokens", "llama", {"sequence": 512}, {**LLAMA, "sequence": 16}),
    "decode": ("Llama decoding, 4,095 cached", "llama", {"sequence": 1, "past": 4095}, {**LLAMA, "past": 15}),
    "resnet50": ("ResNet-50, NCHW", "resnet50", {}, {"image": 64, "width": 8, "classes": 10}),
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

    def count_launches(self):
        """Launches a call of each of IREE's variants, as hone lists them."""
        for variant, file in (("default", None), ("flags", "flags"), ("hone", "tune")):
            flags = ["--compile-flags-file", f"{file}/compile_flags.txt"] if file else self.options.place[2:]
            listing = self.work / f"{variant}.dispatches.json"
            words = [self.options.hone, "dispatches", self.program, "--json", "--iree", self.iree.packages, *flags]
            if variant in self.failed or variant not in self.facts:
                continue
            try:
                if not listing.exists():
                    listing.write_text(run_in(self.work, words))
                rows = json.loads(listing.read_text())["dispatches"]
                self.facts[variant]["launches"] = sum(row["launches_per_call"] or 0 for row in rows)
            except (Failed, OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
                say(f"{self.name}: {variant}: launches unknown: {error}")

    def compile_iree(self, variant, flags):
        module = self.work / f"{variant}.vmfb"
        if not module.exists():
            self.attempt(variant, "compiling", self.iree.compile, [self.program, *flags], module, self.work)

    def set_up_iree(self, variant):
        self.facts.setdefault(variant, {})
        module = self.work / f"{variant}.vmfb"
        self.outputs[variant] = self.attempt(variant, "outputs", self.iree.outputs, module)
        if variant not in self.failed:
            self.samplers[variant] = lambda seconds: self.iree.sample(module, seconds)

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
        found = [("hone", "tune", self.options.budget), ("flags", "flags", self.options.flags)]
        if self.options.flags == "none":
            found.pop()
        for variant, command, budget in found:
            seconds = self.attempt(variant, f"hone {command}, budget {budget}", self.hone, command, budget)
            self.facts[variant] = {"seconds": seconds}
        flags = {"default": self.iree.default_flags} | {
            variant: [f"@{command}/compile_flags.txt"] for variant, command, _ in reversed(found)}
        with concurrent.futures.ThreadPoolExecutor() as pool:
            list(pool.map(self.compile_iree, flags, flags.values()))
        for variant in flags:
            self.set_up_iree(variant)
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
