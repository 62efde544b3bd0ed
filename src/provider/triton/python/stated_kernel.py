"""What kernels for dispatches of a program have in common: the dispatch's statement, compiling, how they are launched.

A dispatch is stated by src/provider/iree/program/dispatch_statement.h: loops with their roles, operands, loads and
stores as strides over these loops, and the values behind the root. Sizes and strides are constants of the text that is
made of it. A kernel is launched as IREE launches its own: with a pointer for each binding and the constants behind
them, so it has neither scratch memory nor tensor descriptors.
"""
import hashlib
import importlib.util
import math
import re
import sys
import time

from element_values import TYPES

# What CUDA's grids have at most in their second direction.
MOST_BATCH = 65535


class StatedKernel:
    """One dispatch. A kind of dispatches is a class below this one: its `name` (of the kernel before it gets the
    dispatch's), its `default` knobs, and grid(knobs) and source(knobs).

    `said`: the statement; `uses`: the operands of its root; `folder`: where texts of kernels may be written."""

    name = ""
    default = {}

    def __init__(self, said, uses, folder):
        self.said = said
        self.folder = folder
        self.entry = "".join(each if each.isalnum() or each == "_" else "_" for each in said["entry"])
        loads = [value for value in said["values"] if value["op"] == "load"]
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

    def grid(self, knobs):
        raise NotImplementedError

    def source(self, knobs):
        raise NotImplementedError

    def compile(self, knobs, device, assemble_for):
        """(answer, code) of a job."""
        import triton
        from triton.compiler import ASTSource
        if device.backend != "cuda":
            raise ValueError("kernels in the place of the compiler's are for NVIDIA GPUs only")
        grid = self.grid(knobs)
        if grid[1] > MOST_BATCH:
            raise ValueError(f"{grid[1]} matrices; a grid has {MOST_BATCH} in its second direction")
        begin = time.monotonic()
        kernel = self.load(self.source(knobs))
        bindings = [f"binding{i}" for i in range(self.said["bindings"])]
        constants = [f"constant{i}" for i in range(self.said["constants"])]
        signature = {name: "*" + TYPES[self.type_of(i)][1] for i, name in enumerate(bindings)}
        signature |= {name: "i32" for name in constants}
        # The runtime aligns bindings at least so.
        attributes = {(i,): [["tt.divisibility", 16]] for i in range(len(bindings))}
        # A product and a sum behind the root are rounded each, as the operations say.
        options = {"num_warps": knobs["num_warps"], "num_stages": knobs["num_stages"], "enable_fp_fusion": False}
        if int(device.arch) < 100:
            # What drivers of CUDA 12.3 read, and all that these kernels need.
            options["ptx_version"] = 83
        with triton.knobs.compilation.scope():
            # It would name files of this machine, by which the same code would not be the same text.
            triton.knobs.compilation.disable_line_info = True
            compiled = triton.compile(ASTSource(kernel, signature, constexprs={}, attrs=attributes),
                                      target=device.target(), options=options)
        metadata = compiled.metadata
        if metadata.shared > device.shared_bytes:
            raise ValueError(f"{metadata.shared} bytes of shared memory; a workgroup may have {device.shared_bytes}")
        if getattr(metadata, "global_scratch_size", 0):
            raise ValueError("the kernel wants global scratch memory, which IREE's launches do not give")
        ptx = self.as_iree_launches(compiled.asm["ptx"], len(signature))
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

    def as_iree_launches(self, ptx, parameters):
        """Without Triton's own pointers behind the parameters, and under the dispatch's name."""
        begin = ptx.index("(", ptx.index(f".entry {self.name}"))
        end = ptx.index(")", begin)
        listed = [each.strip() for each in ptx[begin + 1:end].split(",")]
        if len(listed) < parameters:
            raise ValueError(f"the kernel has {len(listed)} parameters; IREE's launches give {parameters}")
        for hidden in listed[parameters:]:
            name = hidden.split()[-1]
            if re.search(rf"\b{re.escape(name)}\b", ptx[end:]):
                raise ValueError(f"the kernel reads {name}, which IREE's launches do not give")
        ptx = ptx[:begin + 1] + "\n\t" + ",\n\t".join(listed[:parameters]) + "\n" + ptx[end:]
        return ptx.replace(self.name, self.entry)

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
            if self.said["views"][use["view"]]["binding"] == binding:
                return use["type"]
        return "i8"


class Dimension:
    """Loops walked as one, and the strides of each use (by its id) along it."""

    def __init__(self, size, strides):
        self.size, self.strides = size, strides


def size_of(dimensions):
    return math.prod(each.size for each in dimensions)
