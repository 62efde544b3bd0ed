#!/usr/bin/env python3
"""Does a hard rule of hone's for CPUs hide a better configuration? Measures what lies outside of each.

usage: bench/cpu_rule_audit.py [--hone build/release/hone] [--samples 300] [--only NAME] [--rules RULE ...]
                               [--threads 1] [--budget 12] [--store rule_audit]

Each program is tuned as usual. Then, for each hard rule of each program's space (hone space says which),
--samples random configurations that break this rule and keep all others (hone tune --audit-rule), shared out
over the programs that have any. One line per rule: how many compile and are right, how many of these are the
code of a configuration that the usual tuning tried, and the best of them against the usual winner, by what
each took beside the default. Where one seems faster than the winner the two are measured again, interleaved
(hone compare); where it still is, after a tuning of four times --budget too. Exit status 1: a rule hides
something, and its line says so.

Takes some 15 minutes on two cores with nothing else running. What is done is in --store: killed, it
continues, and with more --samples it adds to what is there. Needs Python's standard library only.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cpu_matmuls  # noqa: E402
import gpu_own_programs  # noqa: E402
import gpu_programs  # noqa: E402


def f32(text):
    return text.replace("f16", "f32")


def depthwise(h, w, c, k):
    return f32(gpu_programs.contraction(
        "linalg.depthwise_conv_2d_nhwc_hwc", f"1x{h}x{w}x{c}", f"{k}x{k}x{c}",
        f"1x{h - k + 1}x{w - k + 1}x{c}",
        attributes="{dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}"))


PROGRAMS = {
    "matmul": cpu_matmuls.matmul(384, 512, 768, "f32", "f32"),
    "matmul_odd": cpu_matmuls.matmul(385, 500, 251, "f32", "f32"),
    "matmul_gelu": cpu_matmuls.matmul_bias_gelu(128, 768, 384),
    "batch_matmul": f32(gpu_programs.batch_matmul(12, 128, 128, 64)),
    "matvec": f32(gpu_programs.contraction("linalg.matvec", "1024x1024", "1024", "1024")),
    "conv_nhwc": f32(gpu_programs.conv_nhwc(1, 30, 30, 64, 3, 3, 64)),
    "conv_depthwise": depthwise(58, 58, 96, 3),
    "row_sum": gpu_programs.row_sum(1024, 768),
    "softmax": gpu_programs.softmax(512, 768),
    "elementwise": gpu_own_programs.bias_erf(512, 768),
    "transpose": gpu_own_programs.transpose(1024, 768),
    "attention": f32(gpu_programs.attention(4, 256, 64)),
}


class Hone:
    def __init__(self, options):
        self.options = options

    def json(self, *arguments):
        command = [str(each) for each in (self.options.hone, *arguments)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode not in (0, 1) or not run.stdout:
            sys.exit(f"{' '.join(command)}: exit status {run.returncode}: {run.stderr[-2000:]}")
        return json.loads(run.stdout)

    def path(self, name):
        return self.options.store / name

    def kept(self, name, make):
        """What make() gives, made once."""
        path = self.path(f"{name}.json")
        if not path.exists():
            path.write_text(json.dumps(make()))
        return json.loads(path.read_text())

    def tune(self, program, store, seconds, *more):
        """The dispatch's row of hone's report, and every candidate but the default."""
        document = self.json(
            "tune", self.path(f"{program}.mlir"), "--threads", self.options.threads, "--budget", f"{seconds}s",
            "--no-program", "--no-baselines", "--store", self.path(f"{store}.db"),
            "--out", self.path(f"{store}.out"), "--json", *more)
        rows = self.json("store", "export", self.path(f"{store}.db"), "--format", "json")["candidates"]
        keys = ("configuration", "state", "failure_kind", "failure_message", "identity", "sentinel_ratio")
        return {"row": document["dispatches"][0],
                "rows": [{key: row[key] for key in keys} for row in rows if not row["default"]]}

    def space(self, program, *more):
        return self.json("space", self.path(f"{program}.mlir"), "--samples", 0, "--json", *more)["spaces"][0]

    # From here on each is done once.
    def usual(self, program, times=1):
        return self.kept(f"{program}.usual{times if times > 1 else ''}",
                         lambda: self.tune(program, program, times * self.options.budget))

    def rules(self, program):
        """{hard rule: configurations outside of it}"""
        def make():
            constraints = self.space(program)["constraints"]
            names = dict.fromkeys(each["name"] for each in constraints if each["hardness"] == "hard")
            return {rule: self.space(program, "--audit-rule", rule)["count"] for rule in names}
        return self.kept(f"{program}.rules", make)

    def outside(self, program, rule, samples):
        # Three quarters of the budget are for searching: a second each, at most.
        return self.kept(f"{program}.{rule}.{samples}", lambda: self.tune(
            program, f"{program}.{rule}", max(4, round(samples / 0.75)), "--audit-rule", rule,
            "--strategy", "random", "--candidates", samples))

    def compared(self, program, winner, other):
        """`other` beside `winner`; a ratio below 1 is faster."""
        return self.json("compare", "--program", self.path(f"{program}.mlir"), "--threads", self.options.threads,
                         "--config", winner, "--config", other, "--json")["comparisons"][0]


def words(configuration):
    """As --config takes it; the default's is no JSON object."""
    knobs = json.loads(configuration) if isinstance(configuration, str) else configuration
    return ",".join(f"{knob}={value}" for knob, value in knobs.items()) or "default"


def winner_of(tuned):
    """What --config calls the winner, and its time by the default's."""
    row = tuned["row"]
    if row["winner"] is None:
        return "default", 1.0
    speedup = row["speedup"]
    return words(row["configuration"]), 1 / (speedup["speedup"] if isinstance(speedup, dict) else speedup)


def shared_out(samples, counts):
    """{program: samples}, evenly but never more than there are."""
    share, left = {}, samples
    for i, (program, count) in enumerate(sorted(counts.items(), key=lambda each: each[1])):
        share[program] = min(count, -(-left // (len(counts) - i)))
        left -= share[program]
    return {program: each for program, each in share.items() if each > 0}


def compare_again(hone, program, configuration):
    """Words for the table, and whether `configuration` is faster than every winner."""
    text = ""
    for times in (1, 4):
        winner, _ = winner_of(hone.usual(program, times))
        pair = hone.kept(f"{program}.compare.{re.sub('[^a-z0-9]', '', configuration)}.{times}",
                         lambda winner=winner: hone.compared(program, winner, configuration))
        if pair["ratio"] is None:
            return pair["failure"] or pair["note"], False
        text = f"{1 / pair['ratio']:.3f} [{1 / pair['high']:.3f}, {1 / pair['low']:.3f}]: {pair['verdict']}"
        if pair["verdict"] != "faster":
            return text, False
    return text, True


def audit(hone, rule, counts):
    """The rule's line, and whether it hides something."""
    tried = compiled = right = known = 0
    best = None
    for program, samples in shared_out(hone.options.samples, counts).items():
        usual = hone.usual(program)
        rows = hone.outside(program, rule, samples)["rows"][:samples]
        codes = {row["identity"] for row in usual["rows"] if row["identity"]}
        measured = [row for row in rows if row["state"] == "measured" and row["sentinel_ratio"]]
        tried += len(rows)
        compiled += sum(not (row["failure_kind"] or "").startswith(("compile", "not applied")) for row in rows)
        right += len(measured)
        known += sum(row["identity"] in codes for row in measured)
        print(f"{rule}: {program}: {len(measured)} of {len(rows)} right, {counts[program]:,} outside",
              file=sys.stderr, flush=True)
        for row in measured:
            ratio = winner_of(usual)[1] / row["sentinel_ratio"]
            if best is None or ratio > best[0]:
                best = ratio, program, words(row["configuration"])
    text, hides = "-", False
    if best and best[0] > 1:
        text, hides = compare_again(hone, *best[1:])
    first = f"{best[0]:.3f} ({best[1]})" if best else "-"
    return (f"| {rule} | {len(counts)} | {tried} | {compiled} | {right} | {known} | {first} | {text} |", hides)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", type=pathlib.Path, default=pathlib.Path("build/release/hone"))
    parser.add_argument("--samples", type=int, default=300, help="outside of each rule, over all programs together")
    parser.add_argument("--only", nargs="+", default=list(PROGRAMS), choices=list(PROGRAMS), metavar="PROGRAM")
    parser.add_argument("--rules", nargs="+", default=[], help="only these")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--budget", type=int, default=12, help="seconds of the usual tuning of a program")
    parser.add_argument("--store", type=pathlib.Path, default=pathlib.Path("rule_audit"))
    options = parser.parse_args()
    options.store.mkdir(parents=True, exist_ok=True)
    hone = Hone(options)
    counts = {}
    for program in options.only:
        hone.path(f"{program}.mlir").write_text(PROGRAMS[program])
        for rule, count in hone.rules(program).items():
            if count and (not options.rules or rule in options.rules):
                counts.setdefault(rule, {})[program] = count
    print("| rule | programs | outside | compile | right | code known | winner / best outside (program) "
          "| interleaved |\n|---|---|---|---|---|---|---|---|")
    hidden = []
    for rule, outside in counts.items():
        line, hides = audit(hone, rule, outside)
        hidden += [rule] if hides else []
        print(line, flush=True)
    raise SystemExit(1 if hidden else 0)


if __name__ == "__main__":
    main()
