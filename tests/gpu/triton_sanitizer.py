"""Does hone catch kernels that do wrong, and are its own clean under compute-sanitizer?

Kernels that do wrong (data/triton), through hone tune --kernel: one whose grid drops tiles, one that races, one that
reads past the end of an operand, beside a right one. Each has configurations in which the fault has no effect: those
must be right, all others wrong. reads_past_rows reads past the end without any effect on C; hone looks at what is
computed and written, so that it calls it right.

hone's own kernels: one candidate of each structure at sizes with tails, emitted as C and launched by a program whose
operands are allocations of exactly their size (triton_launcher.c), alone and under memcheck and racecheck.
Exit status: 0 all as it must be, 1 something was not (a sanitizer that is not there is said, and counts as nothing).
"""
import re
import sys

import triton_runs as runs

DATA = runs.HERE / "data/triton"


def cdiv(a, b):
    return -(-a // b)


def user_knobs(**given):
    return {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "num_warps": 4} | given


def drops(knobs, m, n, _):
    return cdiv(m, knobs["BLOCK_M"]) * cdiv(n, knobs["BLOCK_N"]) % 8 != 0


TILES = [user_knobs(BLOCK_M=64), user_knobs(BLOCK_M=64, BLOCK_N=64), user_knobs(BLOCK_M=128, BLOCK_N=128)]
DEPTHS = [user_knobs(BLOCK_K=64), user_knobs(BLOCK_K=128), user_knobs(BLOCK_M=64, BLOCK_N=64, BLOCK_K=64)]
PARTS = [user_knobs(SPLIT=4), user_knobs(SPLIT=8), user_knobs(BLOCK_M=64, BLOCK_N=64, SPLIT=8)]
# Kernel, manifest, M, N, K, configurations beside the default, and whether one is wrong. 380 x 380 has 144 tiles of
# 32 x 32, 72 of 64 x 32, 36 of 64 x 64 and 9 of 128 x 128.
CASES = [
    ("masked", "masked", 380, 380, 160, TILES + DEPTHS, lambda *_: False),
    ("masked", "drops_tiles", 380, 380, 160, TILES, drops),
    ("races", "races", 380, 380, 1056, PARTS, lambda knobs, *_: knobs["SPLIT"] > 1),
    ("reads_past_k", "reads_past_k", 380, 380, 160, DEPTHS, lambda knobs, m, n, k: k % knobs["BLOCK_K"] != 0),
    ("reads_past_rows", "reads_past_rows", 380, 380, 160, TILES, lambda *_: False),
]
# One size where tensor descriptors cannot be, one where they can; no tile divides them.
OWN = [(runs.line(129, 33, 519, "f16", "f32"), (0, 1, 2, 3)), (runs.line(129, 272, 1040), (4, 5, 6, 7, 8))]


def try_kernel(options, case):
    """Rows of the table, and how many are not as they must be."""
    kernel, manifest, m, n, k, configurations, is_wrong = case
    folder = runs.fresh(options.out / manifest)
    given = runs.given([",".join(f"{name}={value}" for name, value in each.items()) for each in configurations])
    files = ["--kernel", DATA / f"{kernel}.py", "--manifest", DATA / f"{manifest}.yaml"]
    ran, seconds = runs.tune(options, folder, [*files, "-m", m, "-n", n, "-k", k, *given, "--budget", "8s"], 60)
    rows, faults, tried = [], 0, set()
    for row in runs.candidates(options, folder / "hone.db") if (folder / "hone.db").exists() else []:
        if row["provider"] != "triton":
            continue
        knobs = row["knobs"] or user_knobs(SPLIT=1)
        must = "wrong" if is_wrong(knobs, m, n, k) else "right"
        got = {"measured": "right", "verified": "right", "wrong": "wrong"}.get(row["state"], row["state"])
        faults += got != must
        tried.add(tuple(sorted(row["knobs"].items())))
        shown = " ".join(str(value) for name, value in knobs.items() if name != "num_warps")
        rows.append([manifest, shown, must, got, "" if got == must else "NOT AS IT MUST BE",
                     runs.words(row["why"], 110)])
    missing = sum(tuple(sorted(each.items())) not in tried for each in configurations)
    if missing or not rows:
        rows.append([manifest, "", "", "", f"{missing} configurations were not tried",
                     f"hone: status {ran.returncode}, {runs.words(ran.stderr)}"])
    print(f"{manifest}: {len(rows)} rows, {seconds:.1f} s", flush=True)
    return rows, faults + missing


def own_kernels(options):
    """The launcher of hone's own kernels, or None."""
    folder = runs.fresh(options.out / "own")
    sizes = folder / "sizes.yaml"
    sizes.write_text("".join(line for line, _ in OWN))
    ran, seconds = runs.tune(options, folder, [sizes, *runs.given(runs.ONE_OF_EACH), "--budget", "10s"], 90)
    launcher = runs.Launcher(options, folder / "launcher")
    wanted = {structure for _, structures in OWN for structure in structures}
    for row in runs.candidates(options, folder / "hone.db") if (folder / "hone.db").exists() else []:
        structure = row["knobs"].get("STRUCTURE")
        if row["state"] not in ("measured", "verified", "compiled") or structure not in wanted:
            continue
        if structure < 4 and "x1040_" in row["dispatch_name"]:
            continue
        failed = launcher.add(folder / "hone.db", row["candidate"], runs.STRUCTURES[structure])
        if failed:
            print(f"not emitted: candidate {row['candidate']}, {runs.STRUCTURES[structure]}: {failed}")
        else:
            wanted.remove(structure)
    print(f"own kernels: {len(launcher.entries)} structures emitted, {seconds:.1f} s of tuning")
    for structure in sorted(wanted):
        print(f"no candidate of {runs.STRUCTURES[structure]}: hone status {ran.returncode}, {runs.words(ran.stderr)}")
    failed = launcher.build() if launcher.entries else "nothing to launch"
    if failed:
        print("no launcher:", failed)
        return None
    return launcher


def main():
    parser = runs.arguments(__doc__)
    parser.add_argument("--check-seconds", type=float, default=100, help="of one run under a sanitizer")
    options = parser.parse_args()
    options.out = options.out / "sanitizer"
    options.out.mkdir(parents=True, exist_ok=True)
    rows, faults = [], 0
    for case in CASES:
        more, bad = try_kernel(options, case)
        rows += more
        faults += bad
    print(runs.table(rows, ["manifest", "BLOCK_M, _N, _K (SPLIT)", "must be", "is", "", "hone's words"]), flush=True)
    print(f"{faults} not as they must be\n", flush=True)

    launcher = own_kernels(options)
    if launcher is None:
        return 1
    ran = runs.run(launcher.command(), 60)
    print(f"alone: status {ran.returncode}\n{ran.stdout}{ran.stderr}", flush=True)
    faults += ran.returncode != 0
    sanitizer = runs.tool("compute-sanitizer")
    if sanitizer is None:
        print("compute-sanitizer is not on this machine: nothing was run under it")
        return 1 if faults else 0
    for check in ("memcheck", "racecheck", "synccheck"):
        ran = runs.run([sanitizer, "--tool", check, "--print-limit", "20", *launcher.command(1, False)],
                       options.check_seconds)
        (options.out / f"{check}.txt").write_text(ran.stdout + ran.stderr)
        summary = re.findall(r"=+ (.*SUMMARY.*)", ran.stdout + ran.stderr)
        said = "; ".join(summary) or runs.words(ran.stdout + ran.stderr)
        print(f"{check}: status {ran.returncode}, {said}", flush=True)
        if not summary or not re.search(r"\b0 (errors|hazards)", summary[-1]):
            print("\n".join((ran.stdout + ran.stderr).splitlines()[:60]))
            faults += 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
