#!/usr/bin/env python3
"""Programs drawn from a seed, compiled for gfx942 and run by IREE's own HIP runtime over the emulator, against the same
programs compiled for this CPU.

usage: emulated_programs.py --hip FOLDER [--seed N] [--count N] [--together N] [--kind K] [--flag F]... [--keep FOLDER]

FOLDER has the HIP library of tests/amd. Exit status: 0 all agree, 1 some do not, 3 the compiler or its runtime is missing.
"""
import argparse
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import generated_programs  # noqa: E402

FLAGS = ["--iree-input-demote-f64-to-f32=false"]
TARGETS = {"hip": [*FLAGS, "--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"],
           "cpu": [*FLAGS, "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
                   "--iree-llvmcpu-target-cpu=host"]}
DRIVERS = {"hip": "hip", "cpu": "local-sync"}


def compile_module(text, folder, name, target, flags=()):
    source, module = folder / f"{name}.mlir", folder / f"{name}.{target}.vmfb"
    source.write_text(text)
    tool = ROOT / ".venv/bin/iree-compile"
    done = subprocess.run([tool, source, *TARGETS[target], *(flags if target == "hip" else ()), "-o", module], capture_output=True, text=True)
    return module if done.returncode == 0 else None


def arguments_of(program, seed):
    import numpy
    random = numpy.random.default_rng(seed)
    arrays = []
    for shape, element in program.arguments:
        values = random.integers(-3, 4, shape)
        if not program.integral and generated_programs.is_float(element):
            values = random.uniform(-2, 2, shape)
        elif not generated_programs.is_float(element):
            # All of the integer's range, but where the program counts on sums without overflow.
            bits = int(element[1:])
            if program.kind in ("integers", "casts", "moves", "gather"):
                values = random.integers(-2**(bits - 1), 2**(bits - 1), shape)
        arrays.append(as_carrier(values, element))
    return arrays


def dtype_of(element):
    import ml_dtypes
    import numpy
    return {"f64": numpy.float64, "f32": numpy.float32, "f16": numpy.float16, "bf16": ml_dtypes.bfloat16,
            "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz, "i8": numpy.int8,
            "i16": numpy.int16, "i32": numpy.int32, "i64": numpy.int64}[element]


def as_carrier(values, element):
    import numpy
    typed = values.astype(dtype_of(element))
    carrier = generated_programs.CARRIERS.get(element)
    return typed.view({"i16": numpy.int16, "i8": numpy.int8}[carrier]) if carrier else typed


def run_child(request):
    """In a process of its own: runs functions of a module by IREE's runtime and saves what they return."""
    import iree.runtime as runtime
    import numpy
    device = runtime.get_device(DRIVERS[request["target"]])
    config = runtime.Config(device=device)
    module = runtime.VmModule.mmap(config.vm_instance, request["module"])
    context = runtime.SystemContext(config=config)
    context.add_vm_module(module)
    for name in request["functions"]:
        inputs = numpy.load(f'{request["folder"]}/{name}.in.npz')
        function = context.modules.module[name]
        results = function(*[inputs[key] for key in inputs.files])
        results = results if isinstance(results, (list, tuple)) else [results]
        numpy.savez(f'{request["folder"]}/{name}.{request["target"]}.npz', *[each.to_host() for each in results])


def run_module(module, names, folder, target, hip):
    request = {"module": str(module), "functions": names, "folder": str(folder), "target": target}
    environment = dict(os.environ, LD_LIBRARY_PATH=str(hip), HIP_SKIP_ABORT_ON_GPU_ERROR="1")
    command = [sys.executable, "-B", __file__, "--child", json.dumps(request)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)


def difference(program, folder):
    """None if the results agree, else words."""
    import numpy
    got, expected = (numpy.load(folder / f"{program.name}.{each}.npz") for each in ("hip", "cpu"))
    for index, (key, (_, element)) in enumerate(zip(got.files, program.results)):
        ours, theirs = (each[key].view(dtype_of(element)) for each in (got, expected))
        if program.tolerance == 0 or not generated_programs.is_float(element):
            same = ours.tobytes() == theirs.tobytes() or numpy.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f")
            wrong = (ours != theirs) & ~((ours != ours) & (theirs != theirs))
            if not same and wrong.any():
                at = tuple(int(x[0]) for x in numpy.nonzero(wrong))
                return f"result {index} at {at}: {ours[at]} and not {theirs[at]} ({wrong.mean():.1%} differ)"
            continue
        a, b = ours.astype(numpy.float64), theirs.astype(numpy.float64)
        with numpy.errstate(all="ignore"):
            near = (numpy.abs(a - b) <= program.tolerance * (1 + numpy.abs(b))) | (a == b) | (numpy.isnan(a) & numpy.isnan(b))
        if not near.all():
            at = tuple(int(x[0]) for x in numpy.nonzero(~near))
            return f"result {index} at {at}: {a[at]} and not {b[at]} ({1 - near.mean():.1%} differ)"
    return None


def check(programs, folder, hip, flags=()):
    """Compiles programs as one module, halves it where that fails; returns name -> words of what went wrong."""
    import numpy
    text = "".join(program.text for program in programs)
    name = programs[0].name
    modules = {target: compile_module(text, folder, name, target, flags) for target in TARGETS}
    if None in modules.values():
        if len(programs) > 1:
            middle = len(programs) // 2
            return check(programs[:middle], folder, hip, flags) | check(programs[middle:], folder, hip, flags)
        refused = [target for target, module in modules.items() if module is None]
        return {name: f"not compiled for {' and '.join(refused)}"}
    for number, program in enumerate(programs):
        numpy.savez(folder / f"{program.name}.in.npz", *arguments_of(program, program.seed))
    names = [program.name for program in programs]
    for target, module in modules.items():
        done = run_module(module, names, folder, target, hip)
        if done.returncode != 0:
            if len(programs) > 1:
                middle = len(programs) // 2
                return check(programs[:middle], folder, hip, flags) | check(programs[middle:], folder, hip, flags)
            return {name: f"{target} ended with {done.returncode}: {done.stderr.strip()[-600:]}"}
    return {program.name: words for program in programs if (words := difference(program, folder))}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hip")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--together", type=int, default=20)
    parser.add_argument("--kind", help="all of this kind")
    parser.add_argument("--flag", action="append", default=[], help="of the compiler for gfx942; repeatable")
    parser.add_argument("--keep")
    parser.add_argument("--child")
    options = parser.parse_args()
    if options.child:
        run_child(json.loads(options.child))
        return 0
    if not (ROOT / ".venv/bin/iree-compile").exists() or not importlib.util.find_spec("iree.runtime"):
        print("IREE is missing: scripts/setup")
        return 3
    failed, refused = {}, 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(options.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for first in range(0, options.count, options.together):
            programs = []
            for number in range(first, min(first + options.together, options.count)):
                program = generated_programs.Program(f"p{number}", f"{options.seed}/{number}", options.kind)
                program.seed = options.seed * 100000 + number
                programs.append(program)
            for name, words in check(programs, folder, options.hip, options.flag).items():
                kind = next(each.kind for each in programs if each.name == name)
                if words.startswith("not compiled"):
                    refused += 1
                    print(f"{name} ({kind}): {words}", flush=True)
                else:
                    failed[name] = words
                    print(f"FAILED {name} ({kind}): {words}", flush=True)
    agreed = options.count - refused - len(failed)
    print(f"{agreed} of {options.count} programs agree, {refused} not compiled, {len(failed)} differ")
    return 1 if failed or agreed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
