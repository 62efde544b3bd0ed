"""A kernel for one dispatch of a program: attention and what goes element by element behind it.

A program keeps BLOCK_M queries and walks all keys in steps of BLOCK_N, with the largest score so far, the sum of the
weights and the weighted sum of the values, which are made smaller whenever a larger score comes (Dao et al., 2022). So
scores are never in memory. Scores, weights and sums are f32; a weight is rounded to the type of the values before it is
multiplied with one, as the compiler's own kernels do. Exponentials are those of 2, so log2(e) goes into the scale.

With SPLIT_K > 1 as many programs share these queries, each over its part of the keys (kernel_text.py, Parts): where
there are few queries, as in a step of decoding, a GPU has more multiprocessors than heads. What each found is brought
together by its largest score, as its own steps are.

PRECISION is that of products of f32 (kernel_text.py, PRECISIONS).
"""
import math

from element_values import FLOATS, TYPES
from kernel_text import KernelText, Parts, precision
from problem import cdiv
from stated_kernel import StatedKernel, size_of

# A finite value below any score. Masked scores are minus infinity, whose difference from this is
# infinite too.
LEAST = "-3.4028234663852886e+38"
# Smallest size that matrix instructions take, in each direction.
LEAST_BLOCK = 16


class Attention(StatedKernel):
    name = "hone_attention"
    default = {"BLOCK_M": 64, "BLOCK_N": 32, "SPLIT_K": 1, "PRECISION": 0, "num_warps": 4, "num_stages": 2}

    def __init__(self, said, folder):
        self.operands = [said[name] for name in ("query", "key", "value", "mask") if name in said]
        super().__init__(said, self.operands, folder)
        self.batch, self.m, self.n = (self.dimensions(role, self.uses) for role in ("batch", "m", "n"))
        self.k1 = self.dimensions("k1", self.operands[:2])
        self.k2 = self.dimensions("k2", self.operands[1:])
        # Blocks are powers of two; what is beyond the end of a head is zero.
        self.depth, self.width = (max(LEAST_BLOCK, 1 << (size_of(each) - 1).bit_length()) for each in (self.k1, self.n))

    def grid(self, knobs, device):
        return (cdiv(size_of(self.m), knobs["BLOCK_M"]), size_of(self.batch), knobs["SPLIT_K"])

    def scratch_bytes(self, knobs):
        return _Text(self, knobs).parts.bytes()

    def source(self, knobs):
        return _Text(self, knobs).text()


class _Text(KernelText):
    def __init__(self, of, knobs):
        super().__init__(of, size_of(of.m), size_of(of.n), knobs["BLOCK_M"], of.width)
        self.step = knobs["BLOCK_N"]
        blocks = cdiv(self.rows, self.block_m)
        # The sums, and for each query the largest score and the sum of the weights.
        self.parts = Parts(knobs.get("SPLIT_K", 1), blocks * size_of(of.batch), self.block_m * (self.block_n + 2))
        self.keys = size_of(of.k2)
        self.query, self.key, self.weighted = (self.said[name] for name in ("query", "key", "value"))
        self.mask = self.said.get("mask")
        self.type = self.query["type"]
        self.precision = precision(self.type, knobs.get("PRECISION", 0))

    def beyond(self, use):
        def reach(dimensions, by):
            return by * max(abs(each.strides.get(id(use), 0)) for each in dimensions)
        return reach(self.of.k1, self.of.depth) + reach(self.of.k2, self.step) + reach(self.of.n, self.of.width)

    def root(self):
        types = {use["type"] for use in (self.query, self.key, self.weighted)}
        if types not in ({"f16"}, {"bf16"}, {"f32"}):
            raise ValueError(f"attention of {' and '.join(sorted(types))}")
        if self.mask and self.mask["type"] not in ("i1", *FLOATS):
            raise ValueError(f"a mask of {self.mask['type']}")
        self.begin()
        whole, steps = self.keys // self.step, cdiv(self.keys, self.step)
        first, end = self.part_of(steps).split(", ")
        if self.parts.count > 1:
            self.add(*(f"{self.names[id(use)]}_at += first_step * {self.step * stride}"
                       for use, stride in self.strides_along_keys()))
        if whole:
            if self.parts.count > 1 and whole < steps:
                end = f"min(end_step, {whole})"
            elif self.parts.count == 1:
                end = str(whole)
            self.add(f"for number in range({first}, {end}):", f"    begin = number * {self.step}",
                     *("    " + line for line in self.step_lines(True)))
        if whole < steps:
            # Only the last part has the incomplete step.
            self.depth += self.parts.count > 1
            if self.parts.count > 1:
                self.lines.append("    " * (self.depth - 1) + f"if part == {self.parts.count - 1}:")
            self.add(f"begin = {whole * self.step}", f"inside = step < {self.keys} - begin", *self.step_lines(False))
            self.depth -= self.parts.count > 1
        if self.parts.count > 1:
            self.add_parts()
        self.add("sums = sums * (1.0 / total)[:, None]")

    def add_parts(self):
        """Lines that bring together what the programs of a block found, in a fixed order."""
        self.meet(f"batch * {cdiv(self.rows, self.block_m)} + tl.program_id(0)", "sums", "largest", "total")
        self.add(*self.nothing_found(), f"for other in range(0, {self.parts.count}):",
                 f"    theirs = {self.of_part('largest')}", "    larger = tl.maximum(largest, theirs)",
                 "    smaller = tl.exp2(largest - larger)", "    their_smaller = tl.exp2(theirs - larger)",
                 f"    total = total * smaller + {self.of_part('total')} * their_smaller",
                 f"    sums = sums * smaller[:, None] + {self.of_part('sums')} * their_smaller[:, None]",
                 "    largest = larger")

    def nothing_found(self):
        """Lines for what is known before any key was seen."""
        return [f"largest = tl.full(({self.block_m}, ), {LEAST}, tl.float32)",
                f"total = tl.zeros(({self.block_m}, ), dtype=tl.float32)",
                f"sums = tl.zeros(({self.block_m}, {self.block_n}), dtype=tl.float32)"]

    def begin(self):
        of = self.of
        self.add("batch = tl.program_id(1)",
                 f"row = tl.program_id(0) * {self.block_m} + tl.arange(0, {self.block_m})",
                 f"column = tl.arange(0, {self.block_n})", f"depth = tl.arange(0, {of.depth})",
                 f"step = tl.arange(0, {self.step})")
        # Indices beyond the end wrap round: they are in bounds, and their results are not stored.
        for name, size, block in (("row", self.rows, self.block_m), ("column", self.columns, self.block_n)):
            self.add(f"safe_{name} = {name}" if size % block == 0 else f"safe_{name} = {name} % {size}")
        for use in of.uses:
            self.place(use, of.batch)
            self.walk(use, "row", of.m, "safe_row")
            # Values are masked instead, for the compiler cannot see wrapped indices as contiguous.
            self.walk(use, "column", of.n, "column" if use is self.weighted else "safe_column")
        for use in (self.query, self.key):
            self.walk(use, "depth", of.k1)
        inside = self.inside("depth", "[None, :]")
        at = self.pointers(self.query, row="[:, None]", depth="[None, :]")
        self.add(f"query = tl.load(tl.broadcast_to({at}, ({self.block_m}, {of.depth})){self.masked(inside)})",
                 *self.nothing_found())
        for use, axis, shape in self.walked_by_keys():
            along = self.along(of.k2, use, f"step{self.wide(use)}") if len(of.k2) == 1 else ""
            name = self.names[id(use)]
            pointers = self.pointers(use, row="[:, None]", column="[None, :]", depth="[:, None]")
            pointers += f" + ({along}){axis}" if along else ""
            self.add(f"{name}_at = tl.broadcast_to({pointers}, {shape})")

    def walked_by_keys(self):
        """(use, the axis that keys go along, shape of a step)."""
        uses = [(self.key, "[None, :]", (self.of.depth, self.step)),
                (self.weighted, "[:, None]", (self.step, self.block_n))]
        return uses + ([(self.mask, "[None, :]", (self.block_m, self.step))] if self.mask else [])

    def inside(self, index, axis):
        """The condition that an index of a head is inside; empty where all are."""
        size, block = (size_of(self.of.k1), self.of.depth) if index == "depth" else (self.columns, self.block_n)
        return f"({index}{axis} < {size})" if size != block else ""

    @staticmethod
    def masked(*conditions):
        holds = " & ".join(each for each in conditions if each)
        return f", mask={holds}, other=0" if holds else ""

    def load(self, use, axis, even, *conditions):
        """A step's elements, keys along `axis`. A step that is not `even` has keys that are not inside."""
        name = self.names[id(use)] + "_at"
        if len(self.of.k2) > 1:
            # Only the first of several dimensions exceeds the end: the others wrap round.
            along = self.along(self.of.k2, use, f"(begin + step){self.wide(use)}")
            name += f" + ({along}){axis}" if along else ""
        return f"tl.load({name}{self.masked(*conditions, '' if even else 'inside' + axis)})"

    def strides_along_keys(self):
        """(use, elements from one key to the next) of those whose pointers go from step to step."""
        found = [(use, self.of.k2[0].strides[id(use)]) for use, _, _ in self.walked_by_keys() if len(self.of.k2) == 1]
        return [(use, stride) for use, stride in found if stride]

    def advance_lines(self):
        """Lines after which pointers are those of the next step."""
        return [f"{self.names[id(use)]}_at += {self.step * stride}" for use, stride in self.strides_along_keys()]

    def step_lines(self, even):
        """Lines that add a step's values to the sums."""
        keys = self.load(self.key, "[None, :]", even, self.inside("depth", "[:, None]"))
        values = self.load(self.weighted, "[:, None]", even, self.inside("column", "[None, :]"))
        return [f"keys = {keys}", f"scores = tl.dot(query, keys{self.precision}, out_dtype=tl.float32)", *self.weight_lines(even),
                "smaller = tl.exp2(largest - larger)", "total = tl.fma(total, smaller, tl.sum(weights, 1))",
                "sums = sums * smaller[:, None]", "largest = larger", f"values = {values}",
                f"sums = tl.dot(weights.to({TYPES[self.type][0]}), values, sums{self.precision}, out_dtype=tl.float32)",
                *self.advance_lines()]

    def weight_lines(self, even):
        """Lines that make `larger`, the largest score so far, and `weights` of `scores`."""
        scale = self.said["scale"] * math.log2(math.e)
        lines = []
        if self.mask:
            loaded = self.load(self.mask, "[None, :]", even)
            if self.mask["type"] == "i1":
                # Masks are bytes whose lowest bit counts.
                lines.append(f"scores = tl.where(({loaded} & 1) != 0, scores * {scale!r}, float('-inf'))")
            else:
                lines.append(f"scores = tl.fma({loaded}.to(tl.float32), {math.log2(math.e)!r}, scores * {scale!r})")
        elif scale <= 0:
            lines.append(f"scores = scores * {scale!r}")
        if not even:
            lines.append("scores = tl.where(inside[None, :], scores, float('-inf'))")
        if self.mask or scale <= 0:
            return lines + ["larger = tl.maximum(largest, tl.max(scores, 1))",
                            "weights = tl.exp2(scores - larger[:, None])"]
        # Scaling keeps the largest score the largest, so one instruction scales and subtracts.
        return lines + [f"larger = tl.maximum(largest, tl.max(scores, 1) * {scale!r})",
                        f"weights = tl.exp2(tl.fma(scores, {scale!r}, -larger[:, None]))"]
