"""What the proofs of Triton GEMMs on a GPU share: running hone, reading its stores, and running what hone spec emit
writes through a C program (triton_launcher.c).
"""
import argparse
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
STRUCTURES = ("blocked", "split-K atomic", "split-K two-pass", "stream-K", "persistent TMA", "tiles TMA",
              "stream-K TMA", "wide TMA", "warp-specialised")
# hone's names of element types, and those of its command line.
NAMES = {"f16": "fp16", "bf16": "bf16", "f32": "fp32", "f8E4M3FN": "fp8", "f8E5M2": "bf8", "i8": "int8", "i32": "int32"}


def arguments(text, **defaults):
    """A parser with what every script takes: --hone, --out, --device, --limit."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hone", default=os.environ.get("HONE", "build/release/hone"), help="the program")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/triton"), help="folder of all files")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--limit", type=float, default=defaults.get("limit", 240), help="seconds after which it stops")
    return parser


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def run(command, seconds=120, **more):
    """The process that has ended, its output as text; returncode 124 where it took too long, and then all of its
    process group is gone."""
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, errors="replace", start_new_session=True, **more)
    try:
        out, err = process.communicate(timeout=seconds)
        code = process.returncode
    except subprocess.TimeoutExpired:
        for number in (signal.SIGINT, signal.SIGKILL):  # hone keeps what is finished after the first
            try:
                os.killpg(process.pid, number)
                out, err = process.communicate(timeout=15)
                break
            except (ProcessLookupError, subprocess.TimeoutExpired):
                out, err = "", ""
        code = 124
    return subprocess.CompletedProcess(command, code, out, err)


def tune(options, folder, more, seconds=120):
    """hone tune --provider triton with its store and results in `folder`; (process, wall seconds)."""
    begin = time.monotonic()
    ran = run([options.hone, "tune", "--provider", "triton", "--json", "--quiet", "--no-baselines", "--device",
               options.device, "--store", folder / "hone.db", "--out", folder, *more], seconds)
    (folder / "stdout.txt").write_text(ran.stdout)
    (folder / "stderr.txt").write_text(ran.stderr)
    return ran, time.monotonic() - begin


def candidates(options, store):
    """Every candidate of a store as hone store export gives it; `knobs` is its configuration as a dict ({} for the
    default) and `why` what is wrong with it, in hone's words."""
    ran = run([options.hone, "store", "export", store, "--format", "json"], 60)
    if ran.returncode != 0:
        return []
    basis = dict(query(store, "SELECT identity || '/' || dispatch_id, basis FROM verification WHERE correct = 0"))
    rows = json.loads(ran.stdout)["candidates"]
    for row in rows:
        is_json = row["configuration"].startswith("{")
        row["knobs"] = json.loads(row["configuration"]) if is_json else {}
        row["why"] = row["failure_message"] or basis.get(f"{row['identity']}/{row['dispatch']}", "")
    return rows


def query(store, statement):
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=10)
    try:
        return connection.execute(statement).fetchall()
    finally:
        connection.close()


def knobs(**given):
    """A --config of hone's own space: structure 0 in tiles of 64 x 64 x 32, but for what is given."""
    whole = {"STRUCTURE": 0, "BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 4, "SPLIT_K": 1, "PER_UNIT": 1,
             "SPLIT_STORE": 0, "MORE_N": 0, "SWAP": 0, "num_warps": 4, "num_stages": 3} | given
    return ",".join(f"{name}={value}" for name, value in whole.items())


# One configuration of each structure, by its number.
ONE_OF_EACH = [knobs(), knobs(STRUCTURE=1, SPLIT_K=2), knobs(STRUCTURE=2, SPLIT_K=2), knobs(STRUCTURE=3),
               knobs(STRUCTURE=4, BLOCK_K=64, SPLIT_STORE=1), knobs(STRUCTURE=5, SPLIT_K=2), knobs(STRUCTURE=6),
               knobs(STRUCTURE=7, MORE_N=32), knobs(STRUCTURE=8, BLOCK_M=128, BLOCK_K=64)]


def given(configurations):
    return [part for each in configurations for part in ("--config", each)]


def line(m, n, k, a="f16", c=None, a_rows=True, b_rows=True, tf32=False, batch=1):
    """A line of a file of GEMMs."""
    types = f", dtype_a: {NAMES[a]}, dtype_b: {NAMES[a]}, dtype_c: {NAMES[c or a]}"
    more = (", tf32: 1" if tf32 else "") + (f", batch: {batch}" if batch > 1 else "")
    return (f"- {{'M': {m}, 'N': {n}, 'K': {k}, 'rowMajorA': '{'T' if a_rows else 'N'}', "
            f"'rowMajorB': '{'T' if b_rows else 'N'}'{types}{more}}}\n")


class Gemm:
    """What the name of a GEMM says: gemm_129x144x1040_f16_f16_f32_nt, _b3 for a batch, _tf32."""

    def __init__(self, name):
        parts = re.fullmatch(r"gemm_(\d+)x(\d+)x(\d+)_([A-Za-z\d]+)_([A-Za-z\d]+)_([A-Za-z\d]+)_([nt])([nt])(_\w+)?",
                             name)
        if not parts:
            raise ValueError(f"no name of a GEMM: {name}")
        self.name = name
        self.m, self.n, self.k = (int(parts[i]) for i in (1, 2, 3))
        self.a, self.b, self.c = parts[4], parts[5], parts[6]
        self.a_rows, self.b_rows = parts[7] == "n", parts[8] == "n"
        batch = re.search(r"_b(\d+)", parts[9] or "")
        self.batch = int(batch[1]) if batch else 1
        self.tf32 = "_tf32" in (parts[9] or "")


def table(rows, head):
    """Columns as wide as they have to be."""
    cells = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells)


def libcuda():
    """The driver's library, to be linked by its path."""
    places = [pathlib.Path(path) for path in re.findall(r"=> (\S*libcuda\.so\.1)", run(["ldconfig", "-p"], 20).stdout)]
    places += [folder / "libcuda.so.1" for folder in map(pathlib.Path, (
        "/usr/local/nvidia/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/local/cuda/compat"))]
    return next((path for path in places if path.exists()), None)


def cuda_include():
    """A folder with cuda.h: of a toolkit, or of Triton's wheel."""
    places = [*pathlib.Path("/usr/local").glob("cuda*/include"), pathlib.Path("/usr/include")]
    found = run(["python3", "-c", "import importlib.util as u; print(u.find_spec('triton').origin)"], 60).stdout.strip()
    if found:
        places.append(pathlib.Path(found).parent / "backends/nvidia/include")
    return next((folder for folder in places if (folder / "cuda.h").exists()), None)


def tool(name):
    """A program of CUDA's toolkit, by PATH or where it usually lies."""
    found = shutil.which(name)
    if found:
        return found
    places = [*pathlib.Path("/usr/local").glob(f"cuda*/bin/{name}"),
              *pathlib.Path("/usr/local").glob(f"cuda*/{name}/{name}"),
              *pathlib.Path("/opt/nvidia").glob(f"nsight-compute/*/{name}")]
    return next((str(path) for path in places if path.exists()), None)


class Launcher:
    """A C program that launches emitted GEMMs, one after the other, and compares each with sums of its own."""

    def __init__(self, options, folder):
        self.options, self.folder, self.entries, self.launches = options, fresh(folder), [], []

    def add(self, store, candidate, label):
        """Emits a candidate, under a name of its own: two of one GEMM have one name. Words of what failed, or ''."""
        place = self.folder / f"emitted{len(self.entries)}"
        ran = run([self.options.hone, "spec", "emit", "--format", "triton", "--store", store, "--out", place,
                   "--candidate", candidate], 60)
        if ran.returncode != 0:
            return ran.stderr.strip()
        self.take(place, label, f"_x{len(self.entries)}")
        return ""

    def take(self, emitted, label, suffix=""):
        """What has been emitted to a folder, its only GEMM; its header as it is where there is no suffix."""
        header, = (emitted / "aot").glob("*.h")
        name, text = header.stem, header.read_text()
        (self.folder / f"{name}{suffix}.h").write_text(text.replace(name, name + suffix))
        for code in (emitted / "aot").glob("*.cubin"):
            shutil.copy(code, self.folder / code.name.replace(name, name + suffix))
        self.entries.append((name + suffix, label, Gemm(name)))
        self.launches.append(text.count("cuLaunchKernel("))

    def build(self):
        """Words of what failed, or ''."""
        lines = [f'#include "{own}.h"\n' for own, _, _ in self.entries]
        lines += ["#define GEMMS \\\n"]
        for own, label, gemm in self.entries:
            sizes = ", ".join(map(str, (gemm.batch, gemm.m, gemm.n, gemm.k, int(gemm.a_rows), int(gemm.b_rows))))
            types = ", ".join("k" + each for each in (gemm.a, gemm.b, gemm.c))
            lines += [f'  RUN({own}, "{label}", {sizes}, {types}) \\\n']
        (self.folder / "gemms.h").write_text("".join(lines) + "\n")
        include, library = cuda_include(), libcuda()
        if include is None:
            return "no cuda.h: neither a CUDA toolkit nor Triton's wheel is there"
        self.program = self.folder / "launcher"
        link = [library, "-o", self.program] if library else ["-c", "-o", self.folder / "launcher.o"]
        ran = run(["gcc", "-std=c11", "-O3", "-Wall", "-Wextra", "-I", self.folder, "-I", include,
                   HERE / "triton_launcher.c", *link, "-lm"], 120)
        if ran.returncode != 0:
            return ran.stderr.strip()
        return "" if library else "no libcuda.so.1 here: compiled, not linked"

    def command(self, launches=2, check=True):
        return [self.program, self.folder, launches, int(check)]


def words(text, most=160):
    """The first line that says something, cut."""
    lines = [each.strip() for each in text.splitlines() if each.strip()]
    chosen = next((each for each in lines if "Error" in each or "error" in each), lines[-1] if lines else "")
    return chosen if len(chosen) <= most else chosen[:most] + "..."


def shown(command):
    return " ".join(shlex.quote(str(part)) for part in command)
