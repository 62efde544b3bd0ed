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
import re
import sys
import time

from element_values import FLOATS, TYPES

# Largest extent of a CUDA grid in its second direction.
MOST_BATCH = 65535
# Alignment in bytes that tensor descriptors need, which is more than any load needs.
ALIGNMENT = 128


def up_to_ptx(*arguments):
    """Triton's hook on its stages, without the last: hone assembles the PTX once it is as IREE launches it. Assembling
    it here too took a fifth of a compile (0.06 of 0.4 s; 0.44 of 1.5 s with a GELU behind the product)."""
    if not arguments:
        return ("up to ptx", "up to ptx")  # of the key in Triton's cache
    _, stages, *_ = arguments
    stages["cubin"] = lambda ptx, metadata: b""
    return None


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
        if device.backend != "cuda":
            raise ValueError("kernels in the place of the compiler's are for NVIDIA GPUs only")
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
        attributes = {(i,): [["tt.divisibility", 16]] for i in range(len(bindings))}
        launched = len(signature)
        variables = []  # of the module, which the pointers behind those of the launch point to
        for place, table in enumerate(self.tables):
            signature[f"table{place}"] = "*" + TYPES[table["type"]][1]
            variables.append(table_variable(table["words"]))
        scratch_bytes = self.scratch_bytes(knobs)
        if scratch_bytes:
            signature["scratch"] = "*" + self.scratch_type()
            variables.append(scratch_variable(scratch_bytes))
        for place in range(launched, len(signature)):
            attributes[place,] = [["tt.divisibility", 16]]
        # Products and sums behind the root are not fused: each is rounded, as the operations say.
        options = {"num_warps": knobs["num_warps"], "num_stages": knobs["num_stages"], "enable_fp_fusion": False}
        if int(device.arch) < 100:
            # Versions that drivers of CUDA 12.3 read, and of 12.7 if tensor descriptors load tiles.
            options["ptx_version"] = 86 if self.has_descriptors(knobs) else 83
        with triton.knobs.compilation.scope(), triton.knobs.runtime.scope():
            # Line information would name files of this machine, and equal code would differ in
            # text.
            triton.knobs.compilation.disable_line_info = True
            if hasattr(triton.knobs.runtime, "add_stages_inspection_hook"):  # since Triton 3.6
                triton.knobs.runtime.add_stages_inspection_hook = up_to_ptx
            compiled = triton.compile(ASTSource(kernel, signature, constexprs={}, attrs=attributes),
                                      target=device.target(), options=options)
        metadata = compiled.metadata
        if metadata.shared > device.shared_bytes:
            raise ValueError(f"{metadata.shared} bytes of shared memory; a workgroup may have {device.shared_bytes}")
        # Triton makes tensor descriptors in scratch memory of its own, a part for each program.
        own_bytes = getattr(metadata, "global_scratch_size", 0) * math.prod(grid)
        variables += [scratch_variable(own_bytes)] * (own_bytes > 0)
        ptx = self.as_iree_launches(compiled.asm["ptx"], launched, variables)
        launch = {"entry": self.entry, "ordinal": 0, "grid": list(grid),
                  "block": [metadata.num_warps * 32, 1, 1], "shared_bytes": metadata.shared,
                  "constants": [0] * len(constants)}
        answer = {"format": "cuda-ptx", "launch": launch, "stages": {"translate": time.monotonic() - begin}}
        if not assemble_for:
            return answer, ptx.encode()
        import assembler
        begin = time.monotonic()
        code = assembler.assemble(ptx, self.folder)
        answer["stages"]["assemble"] = time.monotonic() - begin
        return answer | {"format": "cuda-cubin"}, code

    def as_iree_launches(self, ptx, parameters, variables):
        """Under the dispatch's name and with so many parameters. Those behind them point to `variables` of the module
        instead, whose declarations have {} for a name; what is listed beyond must not be read."""
        begin = ptx.index("(", ptx.index(f".entry {self.name}"))
        end = ptx.index(")", begin)
        listed = [each.strip() for each in ptx[begin + 1:end].split(",")]
        if len(listed) < parameters:
            raise ValueError(f"the kernel has {len(listed)} parameters; IREE's launches give {parameters}")
        head, body, declared = ptx[:begin + 1], ptx[end:], []
        for place, hidden in enumerate(listed[parameters:]):
            name = re.escape(hidden.split()[-1])
            if place < len(variables):
                variable = f"{self.name}_memory{place}"
                declared.append(variables[place].format(variable))
                body = re.sub(rf"ld\.param(?:::entry)?\.[bu]64(\s+%\w+,\s*)\[{name}\];", rf"mov.b64\g<1>{variable};", body)
            if re.search(rf"\b{name}\b", body):
                raise ValueError(f"the kernel reads {hidden.split()[-1]}, which IREE's launches do not give")
        entry = head.rindex("\n", 0, head.index(f".entry {self.name}")) + 1
        head = head[:entry] + "".join(declared) + head[entry:]
        ptx = head + "\n\t" + ",\n\t".join(listed[:parameters]) + "\n" + body
        return ptx.replace(self.name, self.entry)

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

    def type_of(self, binding):
        """Of the first view in it, by which its pointer is passed."""
        for use in self.uses:
            if "view" in use and self.said["views"][use["view"]]["binding"] == binding:
                return use["type"]
        return "i8"


def scratch_variable(bytes_):
    """Its declaration, with {} for its name; it is zero when the module is loaded."""
    return f".global .align {ALIGNMENT} .b8 {{}}[{bytes_}];\n"


def table_variable(words):
    return f".global .align {ALIGNMENT} .b32 {{}}[{len(words)}] = {{{{{', '.join(map(str, words))}}}}};\n"


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
