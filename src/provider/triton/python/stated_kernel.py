"""What kernels for dispatches of a program have in common: the dispatch's statement, compiling, how they are launched.

A dispatch is stated by src/provider/iree/program/dispatch_statement.h: loops with their roles, operands, loads and
stores as strides over these loops, and the values behind the root. Sizes and strides are constants of the text that is
made of it. A kernel is launched as IREE launches its own: with a pointer for each binding and the constants behind
them. Scratch memory is a variable of the kernel's own module, which is zero when it is loaded: launches of one kernel
must not run at the same time, and do not, as the runtime has one stream of a device.
"""
import hashlib
import importlib.util
import math
import sys
import time
import typing

from element_values import FLOATS, TYPES

# Largest extent of a CUDA grid in its second direction.
MOST_BATCH = 65535
# Knobs that are Triton's own.
OPTIONS = ("num_warps", "num_stages", "waves_per_eu", "matrix_instr_nonkdim", "kpack")
# Alignment in bytes that tensor descriptors need, which is more than any load needs.
ALIGNMENT = 128


class Variable(typing.NamedTuple):
    """Memory of a kernel's module: so many bytes of zeros, or words."""

    bytes: int = 0
    words: tuple = ()


class StatedKernel:
    """One dispatch. A kind of dispatches is a class below this one: its `name` (of the kernel before it gets the
    dispatch's), its `default` knobs, and grid(), source() and perhaps scratch_bytes().

    `said`: the statement; `uses`: the operands of its root; `folder`: where texts of kernels may be written."""

    name = ""
    default = {}

    def __init__(self, said, uses, folder):
        self.said = said
        self.folder = folder
        self.entry = "".join(each if each.isalnum() or each == "_" else "_" for each in said["entry"])
        loads = [value for value in said["values"] if value["op"] in ("load", "table")]
        self.tables = [value for value in loads if value["op"] == "table"]
        self.uses = [*uses, *loads, *said["stores"]]
        for each in [*self.uses, *said["values"]]:
            if each["type"] not in TYPES:
                raise ValueError(f"{each['type']} is not known in a kernel for a dispatch")

    def dimensions(self, role, uses):
        """The loops of a role, outermost first; neighbours that every use walks as one are one."""
        loops = self.said["loops"]
        found = []
        for place, loop in enumerate(loops):
            if loop["role"] != role or loop["size"] == 1:
                continue
            inner = Dimension(loop["size"], {id(use): use["strides"][place] for use in uses})
            if found and all(outer == inner.strides[use] * inner.size for use, outer in found[-1].strides.items()):
                inner.size *= found.pop().size
            found.append(inner)
        return found or [Dimension(1, {id(use): 0 for use in uses})]

    def grid(self, knobs, device):
        raise NotImplementedError

    def scratch_bytes(self, knobs):
        """Of the argument `scratch`, which a kernel has where these are any."""
        return 0

    def has_descriptors(self, knobs):
        return False

    def source(self, knobs):
        raise NotImplementedError

    def compile(self, knobs, device, assemble_for):
        """(answer, code) of a job."""
        import triton
        from triton.compiler import ASTSource
        form = importlib.import_module({"cuda": "ptx_form", "hip": "hsaco_form"}[device.backend])
        knobs = self.default | knobs
        grid = self.grid(knobs, device)
        if grid[1] > MOST_BATCH:
            raise ValueError(f"{grid[1]} matrices; a grid has {MOST_BATCH} in its second direction")
        begin = time.monotonic()
        kernel = self.load(self.source(knobs))
        bindings = [f"binding{i}" for i in range(self.said["bindings"])]
        constants = [f"constant{i}" for i in range(self.said["constants"])]
        signature = {name: "*" + TYPES[self.type_of(i)][1] for i, name in enumerate(bindings)}
        signature |= {name: "i32" for name in constants}
        # The runtime aligns bindings to at least 16 bytes.
        attributes = {(i,): [["tt.divisibility", 16], *form.attributes(self, i)] for i in range(len(bindings))}
        launched = len(signature)
        variables = []  # of the module, which the pointers behind those of the launch point to
        for place, table in enumerate(self.tables):
            signature[f"table{place}"] = "*" + TYPES[table["type"]][1]
            variables.append(Variable(words=tuple(table["words"])))
        scratch_bytes = self.scratch_bytes(knobs)
        if scratch_bytes:
            signature["scratch"] = "*" + self.scratch_type()
            variables.append(Variable(scratch_bytes))
        for place in range(launched, len(signature)):
            attributes[place,] = [["tt.divisibility", 16]]
        # Products and sums behind the root are not fused: each is rounded, as the operations say.
        options = {each: knobs[each] for each in OPTIONS if each in knobs} | {"enable_fp_fusion": False}
        options |= form.options(device, self.has_descriptors(knobs))
        with triton.knobs.compilation.scope(), triton.knobs.runtime.scope():
            # Line information would name files of this machine, and equal code would differ in
            # text.
            triton.knobs.compilation.disable_line_info = True
            if hasattr(triton.knobs.runtime, "add_stages_inspection_hook"):  # since Triton 3.6
                triton.knobs.runtime.add_stages_inspection_hook = form.inspect_stages
            compiled = triton.compile(ASTSource(kernel, signature, constexprs={}, attrs=attributes),
                                      target=device.target(), options=options)
        metadata = compiled.metadata
        if metadata.shared > device.shared_bytes:
            raise ValueError(f"{metadata.shared} bytes of shared memory; a workgroup may have {device.shared_bytes}")
        # Triton makes tensor descriptors in scratch memory of its own, a part for each program.
        own_bytes = getattr(metadata, "global_scratch_size", 0) * math.prod(grid)
        variables += [Variable(own_bytes)] * (own_bytes > 0)
        code, shared_bytes = form.finished(self, compiled, options, launched, variables)
        launch = {"entry": self.entry, "ordinal": 0, "grid": list(grid),
                  "block": [metadata.num_warps * device.target().warp_size, 1, 1], "shared_bytes": shared_bytes,
                  "constants": [0] * len(constants)}
        answer = {"format": form.FORMAT, "launch": launch, "stages": {"translate": time.monotonic() - begin}}
        if not assemble_for:
            return answer, code
        import assembler
        begin = time.monotonic()
        code = assembler.assemble(code.decode(), self.folder)
        answer["stages"]["assemble"] = time.monotonic() - begin
        return answer | {"format": "cuda-cubin"}, code

    def scratch_type(self):
        """Of sums, as the compiler's signatures have it."""
        return "fp32" if self.said.get("accumulator", "f32") in FLOATS else "i32"

    def load(self, text):
        """The function. Triton reads a kernel's source from its file, so there is one."""
        file = self.folder / "stated" / f"k{hashlib.sha256(text.encode()).hexdigest()[:32]}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            written = file.with_suffix(f".{id(self)}")
            written.write_text(text)
            written.replace(file)
        specification = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(specification)
        sys.modules[specification.name] = module
        specification.loader.exec_module(module)
        return getattr(module, self.name)

    def reach(self, binding):
        """Bytes of a binding up to the last one that is read or written; infinity where that is known at run time only."""
        last = 0
        for use in self.uses:
            if "view" not in use or self.said["views"][use["view"]]["binding"] != binding:
                continue
            view = self.said["views"][use["view"]]
            if view["words"] or min(use["strides"], default=0) < 0:
                return math.inf
            steps = sum(stride * (loop["size"] - 1) for stride, loop in zip(use["strides"], self.said["loops"]))
            last = max(last, view["offset"] + (use["offset"] + steps + 1) * TYPES[use["type"]][2])
        return last

    def type_of(self, binding):
        """Of the first view in it, by which its pointer is passed."""
        for use in self.uses:
            if "view" in use and self.said["views"][use["view"]]["binding"] == binding:
                return use["type"]
        return "i8"


class Dimension:
    """Loops walked as one, and the strides of each use (by its id) along it."""

    def __init__(self, size, strides):
        self.size, self.strides = size, strides


def products_of(said):
    """The products that each store's value is made of, by number."""
    made_of = []
    for value in said["values"]:
        own = {value.get("product", 0)} if value["op"] == "root" else set()
        made_of.append(own.union(*(made_of[each] for each in value["operands"])))
    return [made_of[store["value"]] or {0} for store in said["stores"]]


def merged_stride(loops, role, use):
    """The stride of a use along the loops of a role, walked as one; None where they cannot be."""
    stride, size = None, 1
    for loop, step in zip(reversed(loops), reversed(use["strides"])):
        if loop["role"] != role or loop["size"] == 1:
            continue
        if stride is not None and step != stride * size:
            return None
        stride = step if stride is None else stride
        size *= loop["size"]
    return 0 if stride is None else stride


def size_of(dimensions):
    return math.prod(each.size for each in dimensions)
