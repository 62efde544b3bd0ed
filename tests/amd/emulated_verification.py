#!/usr/bin/env python3
"""What --verify-emulated finds: candidates of products, a convolution and attention, as the compiler makes them and with
a fault planted in the machine code of each.

usage: emulated_verification.py --hone FILE --plant FILE [--candidates N] [--only NAME]

Exit status: 0 all planted faults are found, 1 some are not or a default is wrong, 3 the disassembler is missing.
"""
import argparse
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PRODUCT = """
func.func @product(%a: tensor<{m}x{k}xf16>, %b: tensor<{k}x{n}xf16>) -> tensor<{m}x{n}xf32> {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{m}x{n}xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %r = linalg.matmul ins(%a, %b : tensor<{m}x{k}xf16>, tensor<{k}x{n}xf16>) outs(%f : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  return %r : tensor<{m}x{n}xf32>
}}
"""
# The left operand has k as its outer dimension, and no tile divides m.
ODD = """
func.func @odd(%a: tensor<64x33xf16>, %b: tensor<64x48xf16>) -> tensor<33x48xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<33x48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<33x48xf32>) -> tensor<33x48xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,
                                        affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<64x33xf16>, tensor<64x48xf16>) outs(%f : tensor<33x48xf32>) {
  ^bb0(%x: f16, %y: f16, %c: f32):
    %p = arith.extf %x : f16 to f32
    %q = arith.extf %y : f16 to f32
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  } -> tensor<33x48xf32>
  return %r : tensor<33x48xf32>
}
"""
CONVOLUTION = """
func.func @convolution(%x: tensor<1x16x16x32xf16>, %w: tensor<3x3x32x64xf16>) -> tensor<1x14x14x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x14x14x64xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x14x14x64xf32>) -> tensor<1x14x14x64xf32>
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%x, %w : tensor<1x16x16x32xf16>, tensor<3x3x32x64xf16>) outs(%f : tensor<1x14x14x64xf32>) -> tensor<1x14x14x64xf32>
  return %r : tensor<1x14x14x64xf32>
}
"""
HEADS = "tensor<2x64x64xf16>"
ATTENTION = f"""
func.func @attention(%q: {HEADS}, %k: {HEADS}, %v: {HEADS}) -> {HEADS} {{
  %scale = arith.constant 0.125 : f16
  %e = tensor.empty() : {HEADS}
  %r = iree_linalg_ext.attention <{{indexing_maps = [
      affine_map<(b, m, d, k, n) -> (b, m, k)>, affine_map<(b, m, d, k, n) -> (b, n, k)>,
      affine_map<(b, m, d, k, n) -> (b, n, d)>, affine_map<(b, m, d, k, n) -> ()>, affine_map<(b, m, d, k, n) -> (b, m, d)>]}}>
    ins(%q, %k, %v, %scale : {HEADS}, {HEADS}, {HEADS}, f16) outs(%e : {HEADS}) {{
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  }} -> {HEADS}
  return %r : {HEADS}
}}
"""
PROGRAMS = {"product 512x512x512": PRODUCT.format(m=512, n=512, k=512), "product 64x64x128": PRODUCT.format(m=64, n=64, k=128),
            "product 33x48x64, transposed": ODD, "convolution 3x3": CONVOLUTION, "attention 2x64x64": ATTENTION}


class Hone:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder

    def compile(self, program, store, *more):
        """The document of hone tune --compile-only, without its end; None if the disassembler is missing."""
        command = [self.options.hone, "tune", program, "--compile-only", "--target", "gfx942", "--candidates",
                   str(self.options.candidates), "--store", store, "--out", "out", "--quiet", "--json", *more]
        ran = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=3000)
        if ran.returncode == 3:
            print(ran.stderr, end="")
            sys.exit(3)
        if not ran.stdout.startswith("{"):
            raise RuntimeError(ran.stdout + ran.stderr)
        return json.loads(ran.stdout)["dispatches"]

    def plant(self, store):
        """Candidate -> kind of the fault planted in its code, and the instruction."""
        ran = subprocess.run([self.options.plant, store], cwd=self.folder, capture_output=True, text=True, check=True)
        lines = [line.split(" ", 1) for line in ran.stdout.splitlines()]
        return {int(candidate): tuple(words.split(": ", 1)) for candidate, words in lines}


def kind_of(row):
    """Reason of a wrong candidate without its numbers."""
    reason = row["reason"].replace("\n", ": ")
    return re.sub(r"\d[\d,.]*", "#", row["kind"] + ": " + reason if row["kind"] != "wrong" else reason).split(", first")[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hone", required=True)
    parser.add_argument("--plant", required=True)
    parser.add_argument("--candidates", type=int, default=42)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    missed, found, all_planted = 0, collections.Counter(), collections.Counter()
    print("| program | tried | compiled | correct | wrong | no verdict | a minute | planted | found |")
    print("|---|---|---|---|---|---|---|---|---|")
    notes = []
    for name, text in PROGRAMS.items():
        if options.only not in name:
            continue
        folder = pathlib.Path(tempfile.mkdtemp(prefix="emulated-verification-"))
        try:
            hone = Hone(options, folder)
            (folder / "program.mlir").write_text(text)
            dispatches = hone.compile("program.mlir", "as_compiled.db", "--verify-emulated")
            hone.compile("program.mlir", "planted.db")
            planted = hone.plant("planted.db")
            changed = hone.compile("program.mlir", "planted.db", "--verify-emulated")
        finally:
            shutil.rmtree(folder)
        verdicts = [each["emulated"] for each in dispatches]
        wrong = [row for each in verdicts for row in each["wrong"]]
        seconds = sum(each["seconds"] for each in verdicts)
        compiled, tried = (sum(each[key] for each in dispatches) for key in ("compiled", "tried"))
        caught = {row["candidate"] for each in changed for row in each["emulated"]["wrong"]}
        # A fault in code that is wrong as it is would prove nothing.
        known = {row["configuration"] for row in wrong}
        rows = [row for each in changed for row in [*each["emulated"]["wrong"], *each["candidates"]]]
        configurations = {row["candidate"]: row["configuration"] for row in rows}
        planted = {candidate: fault for candidate, fault in planted.items() if configurations.get(candidate) not in known}
        for candidate, (kind, instruction) in planted.items():
            all_planted[kind] += 1
            found[kind] += candidate in caught
            if candidate not in caught:
                notes.append(f"{name}: not found: {kind}: {instruction}: {configurations.get(candidate)}")
        here = sum(candidate in caught for candidate in planted)
        missed += len(planted) - here
        print(f"| {name} | {tried} | {compiled} | {sum(each['correct'] for each in verdicts)} | {len(wrong)} | "
              f"{sum(len(each['not_verified']) for each in verdicts)} | {60 * compiled / seconds:.0f} | {len(planted)} | {here} |",
              flush=True)
        notes += [f"{name}: {count} x {reason}" for reason, count in collections.Counter(map(kind_of, wrong)).items()]
        notes += [f"{name}: the default is wrong: {each['default_is_wrong']}" for each in verdicts if each["default_is_wrong"]]
        missed += sum(bool(each["default_is_wrong"]) for each in verdicts)
    print("\n".join(["", *notes, "", *(f"{kind}: {found[kind]} of {all_planted[kind]} found" for kind in all_planted)]))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
