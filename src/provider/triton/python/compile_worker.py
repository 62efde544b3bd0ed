"""A long-lived process that compiles Triton kernels for hone, one job after the other.

usage: compile_worker.py   (its socket is descriptor 3, docs/worker-protocol.md; the environment names TRITON_CACHE_DIR)

Jobs:
  prepare {"flags": ["--target=cuda:90", "--units=132", "--shared=232448"]}, blob: the GEMM as JSON, with a user's own
          kernel under "kernel"; or the statement of a program's dispatch (stated_kernel.py), and "assemble_for" beside
          "flags" where machine code is wanted instead of PTX
  compile {"knobs": {...}}, or {} for the default -> {"format", "launch", "configured", "stages"}, blob: the kernels' code, one after the
          other
Triton is imported once and torch never. No GPU is needed.
"""
import argparse
import fcntl
import hashlib
import json
import os
import pathlib
import re
import sys
import time
import traceback

SOCKET = 3
# The driver's numbers of element types (CUtensorMapDataType) where they are not the compiler's: f32 with denormals
# as zero, f64 and bf16.
DRIVER_ELEMENTS = {8: 10, 9: 8, 10: 9}
RUN_TIME_KNOBS = ("GROUP_M", "SPLIT_K", "WHOLE")


class Worker:
    def __init__(self):
        self.gemm = None
        self.user = None  # their kernel, instead of hone's
        self.stated = None  # the kernel of a program's dispatch, instead of a GEMM's
        self.assemble_for = ""
        self.device = None
        self.kernels = {}  # compiled for the device, by what was compiled
        self.cache = pathlib.Path(os.environ["TRITON_CACHE_DIR"])
        self.cache.mkdir(parents=True, exist_ok=True)

    def prepare(self, body, blobs):
        import attention
        import contraction
        import elementwise
        import problem
        import user_kernel
        flags = argparse.ArgumentParser()
        flags.add_argument("--target", required=True)
        flags.add_argument("--units", type=int, required=True)
        flags.add_argument("--shared", type=int, required=True)
        given = flags.parse_args(body["flags"])
        backend, _, arch = given.target.partition(":")
        self.device = problem.Device(backend, arch, given.units, given.shared)
        self.kernels = {}
        self.user = self.stated = None
        said = json.loads(blobs[0])
        if "why_not" in said:
            raise ValueError(said["why_not"])
        if "kind" in said:
            kinds = {"contraction": contraction.Contraction, "attention": attention.Attention,
                     "elementwise": elementwise.Elementwise}
            if said["kind"] not in kinds:
                raise ValueError(f"there is no kernel for dispatches of the kind {said['kind']!r}")
            self.stated = kinds[said["kind"]](said, self.cache)
            self.assemble_for = body.get("assemble_for", "")
            return {}, []
        kernel = said.pop("kernel", None)
        self.gemm = problem.Gemm(**said)
        self.user = user_kernel.UserKernel(kernel, backend, self.cache) if kernel else None
        return {}, []

    def compile(self, body, _):
        import structures
        begin = time.monotonic()
        if self.stated:
            knobs = body.get("knobs") or self.stated.default
            answer, code = self.stated.compile(knobs, self.device, self.assemble_for)
            answer["stages"] |= {"configure": 0, "serialize": 0}
            return answer | {"configured": json.dumps(knobs, sort_keys=True)}, [code]
        if self.user:
            knobs = body.get("knobs") or self.user.default
            steps = self.user.steps_of(self.gemm, knobs, self.device)
        else:
            knobs = body.get("knobs") or structures.default_knobs(self.gemm, self.device)
            steps = structures.steps_of(self.gemm, knobs, self.device)
        compiled = [self.compile_step(step) for step in steps]
        launches = [launch for launch, _ in compiled]
        first, *rest = launches
        first["then"] = rest
        return {
            "format": "cuda-cubin" if self.device.backend == "cuda" else "rocm-hsaco",
            "launch": first,
            "configured": json.dumps(knobs, sort_keys=True),
            "stages": {"configure": 0, "translate": time.monotonic() - begin, "serialize": 0},
        }, [b"".join(code for _, code in compiled)]

    def compile_step(self, step):
        """(launch, code) of one kernel."""
        import triton
        from triton.compiler import ASTSource
        from triton.experimental.gluon._runtime import GluonASTSource
        names = step.kernel.arg_names
        signature = {name: step.types.get(name, "constexpr") for name in names}
        # Specialisations of Triton's own launcher: pointers and whole numbers that are multiples of
        # 16. hone aligns buffers to 256 bytes. Knobs are not specialised: one compile serves all
        # their values.
        even = [name for name, type_ in step.types.items() if type_.startswith("*") or
                name not in RUN_TIME_KNOBS and step.arguments[name].get("i32", 1) % 16 == 0]
        even = [name for name in even if name not in step.general]
        attributes = {(names.index(name),): [["tt.divisibility", 16]] for name in even}
        if self.device.backend == "hip":
            for name in even:
                if step.types[name].startswith("*"):
                    attributes[names.index(name),].append(["tt.pointer_range", 32])
        what = repr((step.kernel.__name__, signature, sorted(step.constants.items(), key=str), attributes,
                     sorted(step.options.items())))
        if what not in self.kernels:
            language = GluonASTSource if step.kernel.is_gluon() else ASTSource
            source = language(step.kernel, signature, constexprs=step.constants, attrs=attributes)
            with self.only_one(what):
                self.kernels[what] = triton.compile(source, target=self.device.target(), options=step.options)
        kernel = self.kernels[what]
        metadata = kernel.metadata
        if metadata.shared > self.device.shared_bytes:
            raise ValueError(f"{metadata.shared} bytes of shared memory; a workgroup may have "
                             f"{self.device.shared_bytes}")
        if getattr(metadata, "global_scratch_size", 0):
            raise ValueError("the kernel wants global scratch memory, which hone does not give")
        code = kernel.asm["cubin" if self.device.backend == "cuda" else "hsaco"]
        arguments = list(step.arguments.values())
        maps = iter(getattr(metadata, "tensordesc_meta", None) or ())
        for argument in arguments:
            if "tensor_map" in argument:
                argument["tensor_map"] |= next(maps)
                element = argument["tensor_map"]["elem_type"]
                argument["tensor_map"]["elem_type"] = DRIVER_ELEMENTS.get(element, element)
                argument["binding"] = argument["tensor_map"].pop("binding")
        return {
            "entry": metadata.name,
            "ordinal": 0,
            "grid": list(step.grid),
            "block": [metadata.num_warps * self.device.target().warp_size, 1, 1],
            "shared_bytes": metadata.shared,
            "constants": [],
            "arguments": arguments,
            "hidden_pointers": self.hidden_pointers(kernel, arguments),
            "scratch_bytes": step.scratch_bytes,
            "code_bytes": len(code),
        }, code

    def hidden_pointers(self, kernel, arguments):
        """Pointers behind the arguments, which are Triton's own (none, one or two, by its version)."""
        passed = sum(1 + 2 * len(each["tensor_map"]["shape"]) if "tensor_map" in each else 1 for each in arguments)
        if "ptx" in kernel.asm:
            entry = re.search(r"\.entry\s[^(]*\(([^)]*)\)", kernel.asm["ptx"])
            return entry.group(1).count(".param") - passed
        listed = re.search(r"amdhsa\.kernels:.*?\.args:(.*?)\.group_segment", kernel.asm["amdgcn"], re.S)
        kinds = re.findall(r"\.value_kind:\s+(\S+)", listed.group(1))
        # Arguments that the system passes (the grid's size and the like) have kinds named
        # hidden_something.
        return sum(not kind.startswith("hidden_") for kind in kinds) - passed

    def only_one(self, what):
        """Held while this code is compiled: whoever wants the same waits and then finds it in the cache."""
        return FileLock(self.cache / (hashlib.sha256(what.encode()).hexdigest() + ".lock"))


class FileLock:
    def __init__(self, path):
        self.path = path

    def __enter__(self):
        self.file = open(self.path, "w")
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        self.file.close()


def failure(error, user):
    """What went wrong, and where; of a user's kernel from their file on."""
    kind = "compile memory" if isinstance(error, MemoryError) else "compile error"
    trace = error.__traceback__
    while user and trace and trace.tb_frame.f_code.co_filename != str(user.file):
        trace = trace.tb_next
    words = str(error) if isinstance(error, ValueError) else "".join(
        traceback.format_exception(type(error), error, trace, chain=not user))
    words = user.words(words) if user else words
    return {"kind": kind, "message": words.strip() or type(error).__name__}


def main():
    import triton
    from frames import Connection
    if "torch" in sys.modules:
        raise SystemExit("importing triton imported torch")
    connection = Connection(SOCKET)
    connection.send("hello", {"pid": os.getpid(), "triton": triton.__version__})
    worker = Worker()
    jobs = {"prepare": worker.prepare, "compile": worker.compile}
    while True:
        try:
            kind, body, blobs = connection.receive()
        except EOFError:
            return 0
        if kind == "ping":
            connection.send("ping")
            continue
        try:
            answer, code = jobs[kind](body, blobs)
        except BaseException as error:  # pylint: disable=broad-except
            connection.send("failure", failure(error, worker.user))
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                raise
            continue
        connection.send("done", answer, code)


if __name__ == "__main__":
    sys.exit(main())
