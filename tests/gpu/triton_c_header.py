"""What hone spec emit --format triton writes, used as its user would: three GEMMs are tuned (a blocked, a split-K and a
persistent winner with tensor descriptors, by --config), emitted, compiled into a C program with the headers as they
are, run on the GPU and compared with sums computed in C; the Python module is asked for the same three.
Exit status: 0 all right, 1 something was not.
"""
import json
import re
import sys

import triton_runs as runs

# What each is to be a winner of, its configuration, and sizes at which that is faster than the default. The last has
# tails along M and N; the second's tiles are so few that split-K wins.
CASES = [
    ("blocked", 0, (300, 200, 264), runs.knobs(BLOCK_M=32, BLOCK_N=32, num_warps=4, GROUP_M=1)),
    ("split-K", 2, (72, 96, 8192), runs.knobs(STRUCTURE=2, SPLIT_K=12, BLOCK_K=64)),
    ("persistent TMA", 4, (2000, 2504, 1024), runs.knobs(STRUCTURE=4, BLOCK_M=128, BLOCK_N=256, BLOCK_K=64, GROUP_M=8,
                                                         SPLIT_STORE=1, num_warps=8)),
]


def structure_in(line):
    """STRUCTURE of a line of gemms.yaml (docs/migration.md says what it is where it is not written)."""
    found, split = re.search(r"STRUCTURE: (\d+)", line), re.search(r"SPLIT_K: (\d+)", line)
    return int(found[1]) if found else 2 if int(split[1]) > 1 else 0


def emit(options, case):
    """Tunes and emits; (folder of what was written, name) or None."""
    what, structure, (m, n, k), configuration = case
    folder = runs.fresh(options.out / what.replace(" ", "_"))
    ran, seconds = runs.tune(options, folder, ["-m", m, "-n", n, "-k", k, "--col-b", "--config", configuration,
                                               "--budget", "6s"], 60)
    store = folder / "hone.db"
    print(f"{what}: hone tune status {ran.returncode}, {seconds:.1f} s {runs.words(ran.stderr)}")
    if ran.stdout.strip().startswith("{"):
        gemm = json.loads(ran.stdout)["gemms"][0]
        print(f"  {gemm['gemm']}: {gemm['configuration']}, {gemm['time']} s, {gemm['speedup']} x, {gemm['checked']}")
    if not store.exists():
        return None
    emitted = folder / "emitted"
    command = [options.hone, "spec", "emit", "--format", "triton", "--store", store, "--out", emitted]
    ran = runs.run(command, 60)
    line = (emitted / "gemms.yaml").read_text() if ran.returncode == 0 else ""
    if not line or structure_in(line) != structure:
        print(f"  what was selected is not it ({ran.stderr.strip() or line.strip()}): the candidate itself")
        ids = [row["candidate"] for row in runs.candidates(options, store)
               if row["knobs"].get("STRUCTURE") == structure and row["identity"]]
        if not ids:
            return None
        ran = runs.run([*command, "--candidate", ids[-1]], 60)
        if ran.returncode != 0:
            print("  not emitted:", ran.stderr.strip())
            return None
        line = (emitted / "gemms.yaml").read_text()
    print(" ", line.strip())
    header, = (emitted / "aot").glob("*.h")
    uses_maps = "cuTensorMapEncodeTiled" in header.read_text()
    print(f"  {header.name}: {', '.join(sorted(each.name for each in header.parent.iterdir()))}; "
          f"tensor maps: {'yes' if uses_maps else 'no'}")
    return emitted, header.stem


def python_module(emitted, name):
    """Whether the emitted module knows the GEMM."""
    gemm = runs.Gemm(name)
    program = (f"import sys; sys.path.insert(0, {str(emitted)!r}); import hone_gemms as g; "
               f"found = g.lookup({gemm.m}, {gemm.n}, {gemm.k}, a_rows={gemm.a_rows}, b_rows={gemm.b_rows}); "
               "print(found); sys.exit(found is None)")
    ran = runs.run([sys.executable, "-B", "-c", program], 60)
    print(f"  hone_gemms.lookup: {ran.stdout.strip() or runs.words(ran.stderr)}")
    return ran.returncode == 0


def main():
    options = runs.arguments(__doc__).parse_args()
    options.out = runs.fresh(options.out / "c_header")
    faults, launcher = 0, runs.Launcher(options, options.out / "launcher")
    for case in CASES:
        found = emit(options, case)
        if found is None:
            faults += 1
            continue
        emitted, name = found
        faults += not python_module(emitted, name)
        launcher.take(emitted, case[0])
    failed = launcher.build() if launcher.entries else "nothing was emitted"
    if failed:
        print("no program:", failed)
        return 1
    ran = runs.run(launcher.command(3), 100)
    print(f"\nlaunched three times each, the last output compared: status {ran.returncode}")
    print(ran.stdout + ran.stderr)
    return 1 if faults or ran.returncode != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
