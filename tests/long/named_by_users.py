#!/usr/bin/env python3
"""A provider and a kind of devices that hone does not know, added to a copy of the tree as CONTRIBUTING says: a folder
and its lines each. hone is built, and a user names both: hone tune products.json --provider plain_c --device twin:0.

usage: named_by_users.py [--build FOLDER]

Exit status: 0 both are shown, tuned with and stored; 1 something of that failed; 2 wrong use.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROVIDER = "tests/made_up_provider"


def fail(what, done=None):
    sys.exit(f"named_by_users.py: {what}" + (f"\n{done.stdout}\n{done.stderr}" if done else ""))


def insert(path, before, line):
    """Puts `line` in front of the first line that begins with `before`."""
    text = path.read_text()
    if f"\n{before}" not in text:
        fail(f"{path}: no line begins with '{before}'")
    path.write_text(text.replace(f"\n{before}", f"\n{line}\n{before}", 1))


def add_parts(tree):
    provider = tree / "src/provider/plain_c"
    provider.mkdir()
    for name in ("choice", "compile_worker", "listed_products", "provider"):
        for suffix in (".h", ".cc"):
            text = (tree / PROVIDER / (name + suffix)).read_text()
            text = text.replace(PROVIDER, "provider/plain_c").replace("tests/device/", "provider/plain_c/")
            (provider / (name + suffix)).write_text(text)
    shutil.copy(tree / "tests/device/executable_interface.h", provider)
    device = tree / "src/device/twin"
    device.mkdir()
    shutil.copy(tree / "tests/made_up_device/twin.h", device / "kind.h")
    (device / "kind.cc").write_text('#include "device/twin/kind.h"\n')

    lists = tree / "src/CMakeLists.txt"
    insert(lists, "hone_library(device/cuda", "hone_library(device/twin DEPENDS device/cpu)")
    insert(lists, "hone_library(provider/library", "hone_library(provider/plain_c DEPENDS provider)")
    text = lists.read_text()
    lists.write_text(text.replace("provider/external provider/library", "provider/external provider/plain_c device/twin provider/library", 1))

    rules = tree / "tests/architecture/rules_test.py"
    insert(rules, '    "device/cuda": ["device/gpu"],', '    "device/twin": ["device/cpu"],')
    insert(rules, '    "provider/library":', '    "provider/plain_c": ["provider"],')
    insert(rules, '    "store/encoding.h":',
           '    "provider/plain_c/compile_worker.cc": ("iree_hal_executable_library_query", "the format that a CPU loads"),')
    text = rules.read_text()
    rules.write_text(text.replace('"provider/external", "provider/library", "device/cpu"',
                                  '"provider/external", "provider/plain_c", "device/twin", "provider/library", "device/cpu"'))

    registry = tree / "src/session/registry.cc"
    insert(registry, '#include "device/cuda/kind.h"', '#include "device/twin/kind.h"\n#include "provider/plain_c/compile_worker.h"\n'
                                                      '#include "provider/plain_c/listed_products.h"')
    insert(registry, '    {"external",', '    {"plain_c", "products in C", plain_c::open_compile_worker,\n'
                                         '     [](const SessionOptions& options) { return plain_c::open_list(options.tuning.input); }},')
    insert(registry, "    device::cuda::kind,", "    device::twin::kind,")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, help="keep the copy and its build here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hone-named-") as temporary:
        copy = (options.build or pathlib.Path(temporary)).resolve() / "tree"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir(parents=True)
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
        for name in filter(None, listed.stdout.split("\0")):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
        add_parts(copy)
        ruled = subprocess.run([sys.executable, copy / "tests/architecture/rules_test.py"], capture_output=True, text=True)
        if ruled.returncode != 0:
            fail("it breaks a rule of the architecture", ruled)
        build = copy.parent / "build"
        for command in (["cmake", "--preset", "dev", "-S", copy, "-B", build, "-DHONE_UNITY=ON", "-DHONE_BUILD_TESTS=OFF"],
                        ["cmake", "--build", build, "--target", "hone"]):
            done = subprocess.run(list(map(str, command)), cwd=copy, capture_output=True, text=True)
            if done.returncode != 0:
                fail("it does not build", done)

        work = pathlib.Path(temporary) / "work"
        work.mkdir()
        (work / "products.json").write_text('[{"m": 48, "n": 48, "k": 64}, {"m": 64, "n": 32, "k": 64}]')
        hone = build / "hone"

        def run(*arguments):
            return subprocess.run([hone, *arguments], cwd=work, capture_output=True, text=True)

        shown = run("devices")
        if "twin:0 " not in shown.stdout:
            fail("hone devices does not list twin:0", shown)
        tuned = run("tune", "products.json", "--provider", "plain_c", "--device", "twin:0", "--budget", "10s", "--json", "--quiet")
        if tuned.returncode != 0:
            fail(f"hone tune: exit {tuned.returncode}", tuned)
        names = {each["gemm"] for each in json.loads(tuned.stdout)["gemms"]}
        results = [json.loads(line) for line in (work / "out" / "products.jsonl").read_text().splitlines()]
        if names != {"product_48x48x64", "product_64x32x64"} or {each["product"] for each in results} != names:
            fail(f"results of {names}, written: {results}", tuned)
        refused = run("tune", "products.json", "--provider", "plain_d")
        if refused.returncode != 2 or "plain_c" not in refused.stderr:
            fail("--provider plain_d is not refused with the names that there are", refused)
        print(f"tuned {', '.join(sorted(names))} on twin:0 by plain_c")


if __name__ == "__main__":
    main()
