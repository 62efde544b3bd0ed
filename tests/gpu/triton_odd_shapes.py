"""Every structure of hone's Triton GEMMs, of every type and every layout of A and B, at odd sizes on a GPU: which are
right, wrong or failed, and which do not exist there, with hone's words.

Sizes are made of 1, 7, 17, 33, 129 and 5119, each in each place. Each type and layout gets half of these triples (all
with --all), then one where the rows that a tensor descriptor walks are whole 16 bytes and all else is odd, and a batch
of three. Each structure has one configuration by hand; the default and the forms that would ship are checked beside it.
One hone tune takes all sizes, the ones that every type and layout has first; where it dies it is started again.
Exit status: 0 nothing wrong or failed, 1 something was or a size is missing, 3 nothing could be run.
"""
import collections
import sys
import time

import triton_runs as runs

TYPES = {"f16": ("f16", False, "f16"), "bf16": ("bf16", False, "bf16"), "f32 tf32": ("f32", True, "f32"),
         "f32 ieee": ("f32", False, "f32"), "e4m3": ("f8E4M3FN", False, "f16"), "e5m2": ("f8E5M2", False, "f16"),
         "i8": ("i8", False, "i32")}
LAYOUTS = {"nn": (True, True), "nt": (True, False), "tn": (False, True), "tt": (False, False)}
# Each of the six numbers once as M, N and K.
TRIPLES = [(129, 17, 5119), (5119, 33, 129), (33, 5119, 33), (7, 129, 17), (17, 1, 7), (1, 7, 1)]
BATCH = (17, 33, 129, 3)
# What a worker says of a structure that does not exist for a problem, and of no mistake.
NOT_THERE = ("not whole multiples of 16 bytes", "K has only", "atomic split-K adds to C", "is not for a batch",
             "is for A and B of 16 bits")
RESTARTS = 4


def sums_of(a):
    return "i32" if a == "i8" else "f32"


def aligned(a_rows, b_rows):
    """A shape with tails everywhere whose rows of A, B and C are whole 16 bytes, for any type: the sizes along which
    something is stored are odd multiples of 16, which no tile divides, the others odd."""
    m = 129 if a_rows else 144
    k = 1040 if a_rows or not b_rows else 1039
    return m, 272, k


def problems(every_triple):
    """(type, layout, lines) in the order in which they are tuned."""
    lines = []
    combinations = [(t, l) for t in TYPES for l in LAYOUTS]
    for turn in range(len(TRIPLES) if every_triple else len(TRIPLES) // 2):
        for place, (name, layout) in enumerate(combinations):
            a, tf32, own = TYPES[name]
            at = (turn if every_triple else 2 * turn + (place // 4 + place) % 2) % len(TRIPLES)
            c = sums_of(a) if (turn + place) % 2 else own
            lines.append(runs.line(*TRIPLES[at], a, c, *LAYOUTS[layout], tf32))
        if turn == 0:
            for name, layout in combinations:
                a, tf32, own = TYPES[name]
                lines.append(runs.line(*aligned(*LAYOUTS[layout]), a, own, *LAYOUTS[layout], tf32))
    for name, layout in combinations:
        a, tf32, own = TYPES[name]
        m, n, k, batch = BATCH
        lines.append(runs.line(m, n, k, a, own, *LAYOUTS[layout], tf32, batch))
    return lines


def tune_all(options, folder, lines):
    """Tunes all lines, again where hone ends early; what is finished is not done twice. Seconds that it took."""
    sizes = folder / "sizes.yaml"
    sizes.write_text("".join(lines))
    begin = time.monotonic()
    for start in range(RESTARTS):
        left = options.limit - (time.monotonic() - begin)
        if left < 10:
            break
        ran, _ = runs.tune(options, folder, [sizes, *runs.given(runs.ONE_OF_EACH), "--budget", f"{2 * len(lines)}s",
                                             "--compile-timeout", options.compile_timeout], left)
        if ran.returncode in (0, 1):
            break
        print(f"start {start + 1} of hone ended with status {ran.returncode}: {runs.words(ran.stderr)}", flush=True)
        if ran.returncode in (2, 124, 130):  # wrong use, or the time is over
            break
    return time.monotonic() - begin


def verdict(row):
    if row["state"] in ("measured", "verified"):
        return "right"
    if row["state"] == "wrong":
        return "WRONG"
    if row["state"] == "failed":
        return "not there" if any(each in row["why"] for each in NOT_THERE) else "FAILED"
    return "untried"


def structure_of(row, gemm):
    number = row["knobs"].get("STRUCTURE", 0)
    if gemm.batch > 1:
        return "batched" if number == 0 else f"{runs.STRUCTURES[number]}, batched"
    return runs.STRUCTURES[number]


def count_words(count):
    words = "/".join(str(count[what]) for what in ("right", "WRONG", "FAILED", "not there"))
    return words + (f" ({count['untried']})" if count["untried"] else "")


def report(options, rows, lines):
    """Prints the tables; whether all is right."""
    cells, reasons, bad = collections.defaultdict(collections.Counter), collections.Counter(), collections.Counter()
    shapes = collections.Counter()
    names = {(each[0], each[1]): name for name, each in TYPES.items()}
    for row in rows:
        if row["provider"] != "triton" or not row["dispatch_name"].startswith("gemm_"):
            continue
        gemm = runs.Gemm(row["dispatch_name"])
        type_, layout = names[gemm.a, gemm.tf32], ("n" if gemm.a_rows else "t") + ("n" if gemm.b_rows else "t")
        what, structure = verdict(row), structure_of(row, gemm)
        cells[structure, type_, layout][what] += 1
        shapes[gemm.m, gemm.n, gemm.k, gemm.batch, what] += 1
        if what == "not there":
            reasons[structure, row["why"].strip().splitlines()[-1]] += 1
        elif what in ("WRONG", "FAILED"):
            bad[f"{structure}, {type_}, {layout}, C {gemm.c}: {row['failure_kind'] or what}: "
                f"{runs.words(row['why'], 300)}"] += 1
            print(f"  {what}: candidate {row['candidate']} of {gemm.name}: {row['knobs'] or 'default'}")
    print("\nright/WRONG/FAILED/not there (also: untried), over all sizes; a column is a layout of A and B, n by rows")
    structures = [each for each in (*runs.STRUCTURES, "batched") if any(key[0] == each for key in cells)]
    body = []
    for structure in structures:
        for type_ in TYPES:
            counts = [cells[structure, type_, layout] for layout in LAYOUTS]
            body.append([structure, type_, *map(count_words, counts)])
    print(runs.table(body, ["structure", "type", *LAYOUTS]))
    print("\nby size")
    sizes = sorted({key[:4] for key in shapes})
    kinds = ("right", "WRONG", "FAILED", "not there", "untried")
    print(runs.table([["x".join(map(str, each[:3])) + (f" b{each[3]}" if each[3] > 1 else ""),
                       *(shapes[*each, kind] for kind in kinds)] for each in sizes], ["M x N x K", *kinds]))
    print("\nnot there, in the compile worker's words (how often)")
    for (structure, reason), count in sorted(reasons.items()):
        print(f"  {count:4}  {structure}: {reason}")
    if bad:
        print("\nwrong and failed, in hone's words (how often)")
    for reason, count in bad.most_common():
        print(f"  {count:4}  {reason}")
    total = collections.Counter()
    for each in cells.values():
        total.update(each)
    finished = runs.query(options.out / "hone.db", "SELECT count(DISTINCT dispatch_id) FROM selection")[0][0]
    print(f"\n{finished} of {len(lines)} sizes finished; " + ", ".join(f"{total[kind]} {kind}" for kind in kinds))
    return finished == len(lines) and not bad


def main():
    parser = runs.arguments(__doc__, limit=300)
    parser.add_argument("--all", action="store_true", help="all triples for each type and layout, not every second")
    parser.add_argument("--compile-timeout", default="30", help="seconds of one candidate")
    parser.add_argument("--write-only", action="store_true", help="write sizes.yaml and end")
    options = parser.parse_args()
    options.out = runs.fresh(options.out / "odd_shapes")
    lines = problems(options.all)
    if options.write_only:
        (options.out / "sizes.yaml").write_text("".join(lines))
        return 0
    seconds = tune_all(options, options.out, lines)
    if not (options.out / "hone.db").exists():
        print("hone tune wrote no store; see", options.out / "stderr.txt")
        return 3
    right = report(options, runs.candidates(options, options.out / "hone.db"), lines)
    print(f"{seconds:.0f} s of hone tune, {seconds / len(lines):.2f} s for each size")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
