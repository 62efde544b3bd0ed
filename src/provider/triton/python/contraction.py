"""A kernel for one dispatch of a program: a contraction or convolution and what goes element by element behind it.

What it computes is stated by the dispatch (src/provider/iree/program/contraction_statement.h): loops with their roles,
operands, loads and stores as strides over these loops, and the values behind the sums. Sizes and strides are constants
of the text that is made of it. It is launched as IREE launches its own kernels: with a pointer for each binding and the
constants behind them, so it has neither scratch memory nor tensor descriptors.
"""
import hashlib
import importlib.util
import math
import re
import sys
import time

from problem import cdiv

NAME = "hone_contraction"
MOST_INTEGER = 2**31 - 1
# Bytes: more than any load asks for, and no larger number than the compiler keeps track of.
ALIGNMENT = 64
# What CUDA's grids have at most in their second direction.
MOST_BATCH = 65535
# What matrix instructions take at least along k; a step along fewer elements would multiply zeros.
LEAST_STEP = 16
# Names in code and in signatures, and bytes in memory, where truth values are bytes.
_TYPES = {"i1": ("tl.int1", "i8", 1), "i8": ("tl.int8", "i8", 1), "i16": ("tl.int16", "i16", 2),
          "i32": ("tl.int32", "i32", 4), "i64": ("tl.int64", "i64", 8), "f16": ("tl.float16", "fp16", 2),
          "bf16": ("tl.bfloat16", "bf16", 2), "f32": ("tl.float32", "fp32", 4)}
_FLOATS = ("f16", "bf16", "f32")
_ARITHMETIC = {"addf": "+", "subf": "-", "mulf": "*", "addi": "+", "subi": "-", "muli": "*"}
# Modulo two, sums and differences are the exclusive or.
_ARITHMETIC_OF_BITS = {"addi": "^", "subi": "^", "muli": "&", "andi": "&", "ori": "|", "xori": "^"}
_CHOICES = {"maximumf": "tl.maximum({}, {}, propagate_nan=tl.PropagateNan.ALL)",
            "minimumf": "tl.minimum({}, {}, propagate_nan=tl.PropagateNan.ALL)",
            "maxnumf": "tl.maximum({}, {})", "minnumf": "tl.minimum({}, {})",
            "maxsi": "tl.maximum({}, {})", "minsi": "tl.minimum({}, {})",
            "andi": "({} & {})", "ori": "({} | {})", "xori": "({} ^ {})"}
# What is computed in f32, and rounded to the operation's type. Triton's own exp and its kind are the hardware's
# approximations, which lose digits far from 1; the library's do not, as the compiler's do not.
_FUNCTIONS = {name: f"libdevice.{name}({{}})" for name in
              ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "atan", "tanh", "erf",
               "rsqrt", "round", "trunc")}
_FUNCTIONS |= {"roundeven": "libdevice.rint({})", "powf": "libdevice.pow({}, {})", "atan2": "libdevice.atan2({}, {})",
               "sqrt": "tl.sqrt_rn({})", "absf": "tl.abs({})", "floor": "tl.floor({})", "ceil": "tl.ceil({})",
               "fma": "tl.fma({}, {}, {})", "divf": "tl.div_rn({}, {})"}
_COMPARISONS = {"oeq": "{0} == {1}", "ogt": "{0} > {1}", "oge": "{0} >= {1}", "olt": "{0} < {1}", "ole": "{0} <= {1}",
                "one": "({0} < {1}) | ({0} > {1})", "ord": "({0} == {0}) & ({1} == {1})",
                # Those that hold for NaN too are what the others leave.
                "ueq": "~(({0} < {1}) | ({0} > {1}))", "ugt": "~({0} <= {1})", "uge": "~({0} < {1})",
                "ult": "~({0} >= {1})", "ule": "~({0} > {1})", "une": "{0} != {1}",
                "uno": "({0} != {0}) | ({1} != {1})"}
_INTEGER_COMPARISONS = {"eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}

DEFAULT = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 8, "num_warps": 4, "num_stages": 3}


class Contraction:
    """`said`: the document; `folder`: where texts of kernels may be written."""

    def __init__(self, said, folder):
        if "why_not" in said:
            raise ValueError(said["why_not"])
        self.said = said
        self.folder = folder
        self.entry = "".join(each if each.isalnum() or each == "_" else "_" for each in said["entry"])
        loads = [value for value in said["values"] if value["op"] == "load"]
        self.uses = [said["lhs"], said["rhs"], *loads, *said["stores"]]
        for each in [*self.uses, *said["values"]]:
            if each["type"] not in _TYPES:
                raise ValueError(f"{each['type']} is not known in a contraction")
        self.batch, self.m, self.n = (self.dimensions(role, self.uses) for role in ("batch", "m", "n"))
        k = self.dimensions("k", self.uses[:2])
        # Steps go along the dimension in which an operand's elements lie side by side; of several the longest.
        # A kernel's three columns are no step, whatever lies side by side in them.
        dense = [each for each in k if 1 in each.strides.values() and each.size >= LEAST_STEP] or k
        self.inner = max(dense, key=lambda each: each.size)
        self.taps = [each for each in k if each is not self.inner]

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

    def compile(self, knobs, device, assemble_for):
        """(answer, code) of a job."""
        import triton
        from triton.compiler import ASTSource
        if device.backend != "cuda":
            raise ValueError("kernels in the place of the compiler's are for NVIDIA GPUs only")
        if size_of(self.batch) > MOST_BATCH:
            raise ValueError(f"{size_of(self.batch)} matrices; a grid has {MOST_BATCH} in its second direction")
        begin = time.monotonic()
        kernel = self.load(self.source(knobs))
        bindings = [f"binding{i}" for i in range(self.said["bindings"])]
        constants = [f"constant{i}" for i in range(self.said["constants"])]
        signature = {name: "*" + _TYPES[self.type_of(i)][1] for i, name in enumerate(bindings)}
        signature |= {name: "i32" for name in constants}
        # The runtime aligns bindings at least so.
        attributes = {(i,): [["tt.divisibility", 16]] for i in range(len(bindings))}
        # A product and a sum behind the sums are rounded each, as the operations say.
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
        launch = {"entry": self.entry, "ordinal": 0, "grid": list(self.grid(knobs)),
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
        begin = ptx.index("(", ptx.index(f".entry {NAME}"))
        end = ptx.index(")", begin)
        listed = [each.strip() for each in ptx[begin + 1:end].split(",")]
        if len(listed) < parameters:
            raise ValueError(f"the kernel has {len(listed)} parameters; IREE's launches give {parameters}")
        for hidden in listed[parameters:]:
            name = hidden.split()[-1]
            if re.search(rf"\b{re.escape(name)}\b", ptx[end:]):
                raise ValueError(f"the kernel reads {name}, which IREE's launches do not give")
        ptx = ptx[:begin + 1] + "\n\t" + ",\n\t".join(listed[:parameters]) + "\n" + ptx[end:]
        return ptx.replace(NAME, self.entry)

    def load(self, text):
        """The function. Triton reads a kernel's source from its file, so there is one."""
        file = self.folder / "contractions" / f"c{hashlib.sha256(text.encode()).hexdigest()[:32]}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            written = file.with_suffix(f".{id(self)}")
            written.write_text(text)
            written.replace(file)
        specification = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(specification)
        sys.modules[specification.name] = module
        specification.loader.exec_module(module)
        return getattr(module, NAME)

    def grid(self, knobs):
        tiles = cdiv(size_of(self.m), knobs["BLOCK_M"]) * cdiv(size_of(self.n), knobs["BLOCK_N"])
        return (tiles, size_of(self.batch), 1)

    def type_of(self, binding):
        """Of the first view in it, by which its pointer is passed."""
        for use in self.uses:
            if self.said["views"][use["view"]]["binding"] == binding:
                return use["type"]
        return "i8"

    def source(self, knobs):
        return _Source(self, knobs).text()


class Dimension:
    """Loops walked as one, and the strides of each use (by its id) along it."""

    def __init__(self, size, strides):
        self.size, self.strides = size, strides


def size_of(dimensions):
    return math.prod(each.size for each in dimensions)


class _Source:
    """The text of the kernel for one configuration."""

    def __init__(self, contraction, knobs):
        self.of, self.said = contraction, contraction.said
        self.block_m, self.block_n, self.block_k = (knobs[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K"))
        self.group_m = knobs["GROUP_M"]
        self.rows, self.columns = size_of(contraction.m), size_of(contraction.n)
        self.names = {id(use): f"use{i}" for i, use in enumerate(contraction.uses)}
        self.lines = []
        self.walked = set()  # names of offsets along rows and columns

    def text(self):
        said = self.said
        passed = [f"binding{i}" for i in range(said["bindings"])] + [f"constant{i}" for i in range(said["constants"])]
        self.begin()
        self.sums()
        self.values()
        for store in said["stores"]:
            self.store(store)
        head = ["import triton", "import triton.language as tl", "from triton.language.extra import libdevice", "", "",
                "@triton.jit", f"def {NAME}({', '.join(passed)}):"]
        return "\n".join(head + ["    " + line for line in self.lines]) + "\n"

    def add(self, *lines):
        self.lines += lines

    def begin(self):
        tiles_m, tiles_n = cdiv(self.rows, self.block_m), cdiv(self.columns, self.block_n)
        self.add("tile = tl.program_id(0)")
        if self.group_m == 1 or tiles_m == 1:
            self.add(f"tile_m = tile // {tiles_n}", f"tile_n = tile % {tiles_n}")
        else:
            self.add(f"first_m = tile // {self.group_m * tiles_n} * {self.group_m}",
                     f"group_m = min({tiles_m} - first_m, {self.group_m})",
                     f"within = tile % {self.group_m * tiles_n}",
                     "tile_m = first_m + within % group_m", "tile_n = within // group_m")
        self.add("batch = tl.program_id(1)", f"row = tile_m * {self.block_m} + tl.arange(0, {self.block_m})",
                 f"column = tile_n * {self.block_n} + tl.arange(0, {self.block_n})")
        # What lies beyond the end wraps round: it is in bounds, and what comes of it is not stored.
        for name, size, block in (("row", self.rows, self.block_m), ("column", self.columns, self.block_n)):
            self.add(f"safe_{name} = {name}" if size % block == 0 else f"safe_{name} = {name} % {size}")
        for use in self.of.uses:
            self.place(use)

    def place(self, use):
        """Pointers to the use's elements, as far as batch, rows and columns say."""
        name = self.names[id(use)]
        # Several uses of one binding may be of different types.
        view = self.said["views"][use["view"]]
        pointer, bytes_ = f"binding{view['binding']}", _TYPES[use["type"]][2]
        if view["offset"] % bytes_ or view["multiple"] % bytes_:
            raise ValueError(f"a view begins within an element of {use['type']}")
        if self.of.type_of(view["binding"]) != use["type"]:
            pointer += f".to(tl.pointer_type({_stored(use['type'])}))"
        begin = view["offset"] // bytes_
        if view["words"]:
            low, *high = view["words"]
            words = f"constant{low}.to(tl.uint32, bitcast=True).to(tl.int64)"
            if high:
                words = f"({words} + (constant{high[0]}.to(tl.int64) << 32))"
            # Shifted, since dividing would round towards zero, which the compiler would have to provide for.
            # The hint is kept with an operation: one that adds nothing would be dropped, and the hint with it.
            words = f"{words} >> {bytes_.bit_length() - 1}" + (f") + {begin}" if begin else "")
            words = f"({words}" if begin else words
            multiple = math.gcd(view["multiple"], ALIGNMENT) // bytes_
            # Triton's hints are powers of two.
            pointer += f" + tl.multiple_of({words}, {multiple & -multiple})"
            begin = 0
        if begin + use["offset"]:
            pointer += f" + {begin + use['offset']}"
        wide = ".to(tl.int64)" if self.is_wide(use) else ""
        batch = self.along(self.of.batch, use, f"batch{wide}")
        self.add(f"{name} = {pointer}" + (f" + {batch}" if batch else ""))
        for index, dimensions in (("row", self.of.m), ("column", self.of.n)):
            along = self.along(dimensions, use, f"safe_{index}{wide}")
            if along:
                self.walked.add(f"{name}_{index}")
                self.add(f"{name}_{index} = {along}")

    def is_wide(self, use):
        """Whether 32 bits are too few for how far its last element lies from its first. What is read beyond the end of
        k is masked, but its address is computed all the same."""
        last = sum(abs(stride) * (loop["size"] - 1) for stride, loop in zip(use["strides"], self.said["loops"]))
        return last + self.block_k * abs(self.of.inner.strides.get(id(use), 0)) > MOST_INTEGER

    @staticmethod
    def along(dimensions, use, index):
        """How far an index into these dimensions, taken as one, lies from the first element; empty: nowhere."""
        terms, inner = [], 1
        for place, each in enumerate(reversed(dimensions)):
            stride = each.strides[id(use)]
            if stride:
                term = index if inner == 1 else f"({index} // {inner})"
                if place + 1 < len(dimensions):
                    term = f"({term} % {each.size})"
                terms.append(term if stride == 1 else f"{term} * {stride}")
            inner *= each.size
        return " + ".join(reversed(terms))

    def pointers(self, use, rows, columns):
        """Of a tile; `rows` and `columns`: the axes that they go along, "" for none."""
        name = self.names[id(use)]
        along = [f"{name}_{index}{axis}" for index, axis in (("row", rows), ("column", columns))
                 if axis and f"{name}_{index}" in self.walked]
        return " + ".join([name, *along])

    def sums(self):
        of, lhs, rhs = self.of, self.said["lhs"], self.said["rhs"]
        types = [use["type"] for use in (lhs, rhs)]
        if types[0] != types[1] or types[0] not in ("f16", "bf16", "f32", "i8"):
            raise ValueError(f"products of {types[0]} and {types[1]}")
        if (self.said["accumulator"] in _FLOATS) != (types[0] in _FLOATS):
            raise ValueError(f"sums in {self.said['accumulator']} of products of {types[0]}")
        sums = "tl.int32" if types[0] == "i8" else "tl.float32"
        inner_steps, taps = cdiv(of.inner.size, self.block_k), size_of(of.taps)
        even = of.inner.size % self.block_k == 0
        strides = [of.inner.strides[id(use)] for use in (lhs, rhs)]
        wide = [".to(tl.int64)" if self.is_wide(use) else "" for use in (lhs, rhs)]
        self.add(f"k = tl.arange(0, {self.block_k})",
                 f"a_at = {self.pointers(lhs, '[:, None]', '')} + (k{wide[0]} * {strides[0]})[None, :]",
                 f"b_at = {self.pointers(rhs, '', '[None, :]')} + (k{wide[1]} * {strides[1]})[:, None]",
                 # An operand of one row or column does not walk along it.
                 f"a_at = tl.broadcast_to(a_at, ({self.block_m}, {self.block_k}))",
                 f"b_at = tl.broadcast_to(b_at, ({self.block_k}, {self.block_n}))",
                 f"sums = tl.zeros(({self.block_m}, {self.block_n}), dtype={sums})",
                 # One loop over taps and steps, since Triton's pipeline is of innermost loops only.
                 f"for step in range({taps * inner_steps}):")
        a_from, b_from = "a_at", "b_at"
        if taps > 1:
            self.add(f"    tap = step // {inner_steps}", f"    k_begin = step % {inner_steps} * {self.block_k}")
            a_from, b_from = (
                " + ".join([f"{name}_at", f"({self.along(of.taps, use, f'tap{far}')} + k_begin{far} * {stride})"])
                for name, use, stride, far in zip("ab", (lhs, rhs), strides, wide))
        elif not even:
            self.add(f"    k_begin = step * {self.block_k}")
        a_inside = b_inside = ""
        if not even:
            self.add(f"    inside = k < {of.inner.size} - k_begin")
            a_inside, b_inside = ", mask=inside[None, :], other=0", ", mask=inside[:, None], other=0"
        self.add(f"    a = tl.load({a_from}{a_inside})", f"    b = tl.load({b_from}{b_inside})")
        precision = ', input_precision="ieee"' if types[0] == "f32" else ""
        self.add(f"    sums = tl.dot(a, b, sums{precision}, out_dtype={sums})")
        if taps == 1:
            self.add(f"    a_at += {self.block_k * strides[0]}", f"    b_at += {self.block_k * strides[1]}")
        if self.said["start"]:
            self.add(f"sums += {number(self.said['start'])}")

    def values(self):
        for place, value in enumerate(self.said["values"]):
            self.add(f"v{place} = {self.value(value)}")

    def value(self, value):
        operation, type_ = value["op"], value["type"]
        to = f".to({_TYPES[type_][0]})"
        if operation == "root":
            return "sums" + to
        if operation == "load":
            loaded = f"tl.load({self.pointers(value, '[:, None]', '[None, :]')})"
            return f"({loaded} != 0)" if type_ == "i1" else loaded
        if operation == "constant":
            return f"tl.full((1, 1), {number(value['value'])}, {_TYPES[type_][0]})"
        operands = [f"v{each}" for each in value["operands"]]
        kind = self.said["values"][value["operands"][0]]["type"]
        name = operation.split(".")[-1]
        if type_ == kind == "i1" and name in _ARITHMETIC_OF_BITS:
            return f"({f' {_ARITHMETIC_OF_BITS[name]} '.join(operands)})"
        if name in _ARITHMETIC and kind != "i1":
            return f"({f' {_ARITHMETIC[name]} '.join(operands)}){to}"
        if name == "negf":
            # Triton 3.6 takes a minus to be a difference from zero, by which zero keeps its sign.
            return f"({operands[0]} * -1.0){to}"
        if name in _CHOICES and kind != "i1":
            return _CHOICES[name].format(*operands)
        if name == "select":
            return f"tl.where({', '.join(operands)})"
        if name in ("cmpf", "cmpi"):
            return self.comparison(name, value["predicate"], kind, operands)
        if name in ("truncf", "extf", "sitofp", "uitofp", "fptosi", "extsi", "extui", "trunci"):
            return self.conversion(name, type_, kind, operands[0])
        if name in _FUNCTIONS and type_ in _FLOATS:
            return "(" + _FUNCTIONS[name].format(*(f"{each}.to(tl.float32)" for each in operands)) + ")" + to
        raise ValueError(f"{operation} of {kind} is not known in an epilogue")

    @staticmethod
    def comparison(name, predicate, kind, operands):
        if name == "cmpf" and predicate in _COMPARISONS:
            return f"({_COMPARISONS[predicate].format(*operands)})"
        sign, order = ("", predicate) if predicate in ("eq", "ne") else (predicate[0], predicate[1:])
        if name == "cmpi" and order in _INTEGER_COMPARISONS and (kind != "i1" or not sign):
            return f"({f' {_INTEGER_COMPARISONS[order]} '.join(_signed(each, kind, sign) for each in operands)})"
        raise ValueError(f"{name} {predicate} of {kind} is not known in an epilogue")

    @staticmethod
    def conversion(name, type_, kind, operand):
        to = f".to({_TYPES[type_][0]})"
        if type_ == "i1":
            if name == "trunci":
                return f"(({operand} & 1) != 0)"
            raise ValueError(f"{name} to i1 is not known in an epilogue")
        if kind == "i1":
            # As a number of one bit with a sign, what is true is -1.
            return f"(-({operand}.to(tl.int32))){to}" if name in ("sitofp", "extsi") else operand + to
        return _signed(operand, kind, "u" if name in ("uitofp", "extui") else "") + to

    def store(self, store):
        value = f"tl.broadcast_to(v{store['value']}, ({self.block_m}, {self.block_n}))"
        if store["type"] == "i1":
            value += ".to(tl.int8)"
        inside = [f"({name}{axis} < {size})" for name, axis, size, block in
                  (("row", "[:, None]", self.rows, self.block_m), ("column", "[None, :]", self.columns, self.block_n))
                  if size % block]
        mask = f", mask={' & '.join(inside)}" if inside else ""
        if len(inside) == 1:
            mask = f", mask=tl.broadcast_to({inside[0]}, ({self.block_m}, {self.block_n}))"
        at = self.pointers(store, "[:, None]", "[None, :]")
        self.add(f"tl.store(tl.broadcast_to({at}, ({self.block_m}, {self.block_n})), {value}{mask})")


def _stored(type_):
    """The name in code of an element in memory."""
    return "tl.int8" if type_ == "i1" else _TYPES[type_][0]


def _signed(operand, kind, sign):
    """An integer operand, taken as one without a sign where `sign` is "u"."""
    return f"{operand}.to(tl.u{_TYPES[kind][0][3:]}, bitcast=True)" if sign == "u" else operand


def number(value):
    """As Python text: JSON has no words for infinities and NaN, which come as texts."""
    return f'float("{value}")' if isinstance(value, str) else repr(value)
