"""A kernel for one dispatch of a program: a contraction or convolution and what goes element by element behind it.

STRUCTURE, numbered as in structures.py:
  0  a program for each tile, which computes the address of each element it loads
  4  as many programs as run at a time, which walk the tiles and load them by tensor descriptors
  5  a program for each tile, which loads it by tensor descriptors
Descriptors are made by the programs themselves, since addresses are known at launch only. They are for operands that
are matrices once the loops of a role are taken as one.

SPLIT_K > 1 (structures 0 and 5): as many programs for each tile, each over its part of k (kernel_text.py, Parts).
MORE_N (structures 4 and 5): the columns of a second block beside the first. Blocks are powers of two; of tiles that are
256 + 64 wide there may be just as many as multiprocessors.
"""
import math

from element_values import FLOATS, TYPES, number
from kernel_text import KernelText, Parts
from problem import cdiv
from stated_kernel import StatedKernel, merged_stride, size_of

# What matrix instructions take at least along k; a step along fewer elements would multiply zeros.
LEAST_STEP = 16
# Of bases and strides of tensor descriptors (CUDA driver API, cuTensorMapEncodeTiled).
DESCRIPTOR_BYTES = 16

BLOCKED, PERSISTENT, TILES_TMA = 0, 4, 5


class Contraction(StatedKernel):
    name = "hone_contraction"
    default = {"STRUCTURE": BLOCKED, "BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 8, "SPLIT_K": 1, "PER_UNIT": 1,
               "MORE_N": 0, "num_warps": 4, "num_stages": 3}

    def __init__(self, said, folder):
        super().__init__(said, [said["lhs"], said["rhs"]], folder)
        self.batch, self.m, self.n = (self.dimensions(role, self.uses) for role in ("batch", "m", "n"))
        k = self.dimensions("k", self.uses[:2])
        # Steps go along the dimension in which an operand's elements lie side by side; of several the longest.
        # A kernel's three columns are no step, whatever lies side by side in them.
        dense = [each for each in k if 1 in each.strides.values() and each.size >= LEAST_STEP] or k
        self.inner = max(dense, key=lambda each: each.size)
        self.taps = [each for each in k if each is not self.inner]

    def tiles(self, knobs):
        return cdiv(size_of(self.m), knobs["BLOCK_M"]) * cdiv(size_of(self.n), knobs["BLOCK_N"] + knobs["MORE_N"])

    def grid(self, knobs, device):
        tiles = self.tiles(knobs)
        if knobs["STRUCTURE"] == PERSISTENT:
            tiles = min(tiles, device.units * knobs["PER_UNIT"])
        return (tiles, size_of(self.batch), knobs["SPLIT_K"])

    def scratch_bytes(self, knobs):
        return _Text(self, knobs).parts.bytes()

    def has_descriptors(self, knobs):
        return knobs["STRUCTURE"] != BLOCKED

    def source(self, knobs):
        return _Text(self, knobs).text()


class _Text(KernelText):
    def __init__(self, of, knobs):
        super().__init__(of, size_of(of.m), size_of(of.n), knobs["BLOCK_M"], knobs["BLOCK_N"])
        knobs = of.default | knobs
        self.block_k, self.group_m = knobs["BLOCK_K"], knobs["GROUP_M"]
        self.structure = knobs["STRUCTURE"]
        self.more_n = knobs["MORE_N"]
        self.width = self.block_n + self.more_n
        self.tiles_m, self.tiles_n = cdiv(self.rows, self.block_m), cdiv(self.columns, self.width)
        self.parts = Parts(knobs["SPLIT_K"], self.tiles_m * self.tiles_n * size_of(of.batch), self.block_m * self.block_n)
        if self.structure not in (BLOCKED, PERSISTENT, TILES_TMA):
            raise ValueError(f"STRUCTURE = {self.structure}; kernels for dispatches are {BLOCKED}, {PERSISTENT} and {TILES_TMA}")
        if self.structure == PERSISTENT and self.parts.count > 1:
            raise ValueError("a program that walks the tiles does not split k")
        if self.more_n and (self.structure == BLOCKED or self.parts.count > 1):
            raise ValueError("MORE_N is for tensor descriptors, without SPLIT_K")

    def root(self):
        self.check_types()
        self.add("batch = tl.program_id(1)")
        for use in self.of.uses:
            self.place(use, self.of.batch)
        if self.structure != BLOCKED:
            for use, name, role, block, _ in self.operands():
                self.descriptor(use, name, role, block)
        if self.structure == PERSISTENT:
            # While a tile is written, the first steps of the next are on their way.
            self.add(f"for tile in tl.range(tl.program_id(0), {self.tiles_m * self.tiles_n}, tl.num_programs(0), "
                     "flatten=True):")
            self.depth += 1
        else:
            self.add("tile = tl.program_id(0)")
        self.tile_of_program()
        self.sums()
        if self.parts.count > 1:
            self.meet(f"batch * {self.tiles_m * self.tiles_n} + tile", "sums")
            # In a fixed order, whoever came last.
            self.add(self.no_sums(), f"for other in range(0, {self.parts.count}):", f"    sums += {self.of_part('sums')}")
        if self.said["start"]:
            self.add(*(f"{each} += {number(self.said['start'])}" for each in ("sums", "more")[:1 + (self.more_n > 0)]))

    def check_types(self):
        types = [use["type"] for use in (self.said["lhs"], self.said["rhs"])]
        if types[0] != types[1] or types[0] not in ("f16", "bf16", "f32", "i8"):
            raise ValueError(f"products of {types[0]} and {types[1]}")
        if (self.said["accumulator"] in FLOATS) != (types[0] in FLOATS):
            raise ValueError(f"sums in {self.said['accumulator']} of products of {types[0]}")
        self.type = types[0]
        self.sum_type = "tl.int32" if types[0] == "i8" else "tl.float32"

    def operands(self):
        """(use, name, the role of its other loops than those of k, its block along them, where it begins there)"""
        lhs, rhs = self.said["lhs"], self.said["rhs"]
        blocks = [(lhs, "a", "m", self.block_m, f"tile_m * {self.block_m}"),
                  (rhs, "b", "n", self.block_n, f"tile_n * {self.width}")]
        if self.more_n:
            blocks.append((rhs, "b_more", "n", self.more_n, f"tile_n * {self.width} + {self.block_n}"))
        return blocks

    def descriptor(self, use, name, role, block):
        """Of the matrix of `use`: rows along `role` and columns along k, or the other way round if it is dense there."""
        across, along = (merged_stride(self.said["loops"], each, use) for each in (role, "k"))
        if across is None or along is None or 1 not in (across, along):
            raise ValueError("tensor descriptors are for operands that are dense matrices")
        bytes_ = TYPES[use["type"]][2]
        view = self.said["views"][use["view"]]
        batch = [stride for stride, loop in zip(use["strides"], self.said["loops"]) if loop["role"] == "batch"]
        begins = [view["offset"], view["multiple"], *(bytes_ * each for each in (use["offset"], max(across, along), *batch))]
        if math.gcd(*begins) % DESCRIPTOR_BYTES:
            raise ValueError(f"rows of an operand do not begin at multiples of {DESCRIPTOR_BYTES} bytes, as descriptors want")
        rows = size_of(self.of.m if role == "m" else self.of.n), across, block
        columns = self.k_size(), along, self.block_k
        outer, inner = (rows, columns) if along == 1 else (columns, rows)
        self.add(f"{name}_matrix = tl.make_tensor_descriptor({self.names[id(use)]}, shape=[{outer[0]}, {inner[0]}], "
                 f"strides=[{outer[1]}, 1], block_shape=[{outer[2]}, {inner[2]}])")

    def k_size(self):
        return size_of(self.of.taps) * self.of.inner.size

    def tile_of_program(self):
        """The rows and columns of the tile, and where every use's elements of it lie."""
        tiles_m, tiles_n = self.tiles_m, self.tiles_n
        if self.group_m == 1 or tiles_m == 1:
            self.add(f"tile_m = tile // {tiles_n}", f"tile_n = tile % {tiles_n}")
        else:
            self.add(f"first_m = tile // {self.group_m * tiles_n} * {self.group_m}",
                     f"group_m = min({tiles_m} - first_m, {self.group_m})",
                     f"within = tile % {self.group_m * tiles_n}",
                     "tile_m = first_m + within % group_m", "tile_n = within // group_m")
        self.walk_along("row", self.rows, self.block_m, f"tile_m * {self.block_m}", self.block_m, self.of.m)
        self.walk_along("column", self.columns, self.width, f"tile_n * {self.width}", self.block_n, self.of.n)

    def walk_along(self, index, size, step, begin, block, dimensions):
        """A block's rows or columns, of tiles that are `step` apart, and where every use's elements of them lie."""
        # What lies beyond the end wraps round: it is in bounds, and what comes of it is not stored.
        self.add(f"{index} = {begin} + tl.arange(0, {block})",
                 f"safe_{index} = {index}" if size % step == 0 else f"safe_{index} = {index} % {size}")
        for use in self.of.uses:
            self.walk(use, index, dimensions, f"safe_{index}")

    def behind_root(self):
        super().behind_root()
        if self.more_n:
            # The same for the columns of the second block.
            self.walk_along("column", self.columns, self.width, f"tile_n * {self.width} + {self.block_n}", self.more_n,
                            self.of.n)
            self.add("sums = more")
            self.block_n = self.more_n
            super().behind_root()

    def beyond(self, use):
        return self.block_k * abs(self.of.inner.strides.get(id(use), 0))

    def sums(self):
        """Lines that leave the products of this program's part of k in `sums`."""
        self.add(self.no_sums())
        if self.more_n:
            self.add(f"more = tl.zeros(({self.block_m}, {self.more_n}), dtype={self.sum_type})")
        if self.structure == BLOCKED:
            self.sums_by_addresses()
        else:
            self.sums_by_descriptors()

    def no_sums(self):
        return f"sums = tl.zeros(({self.block_m}, {self.block_n}), dtype={self.sum_type})"

    def product(self, b="b", sums="sums"):
        precision = ', input_precision="ieee"' if self.type == "f32" else ""
        return f"    {sums} = tl.dot(a, {b}, {sums}{precision}, out_dtype={self.sum_type})"

    def sums_by_descriptors(self):
        self.add(f"for step in range({self.part_of(cdiv(self.k_size(), self.block_k))}):")
        for use, name, role, _, across in self.operands():
            along = f"step * {self.block_k}"
            is_rows = merged_stride(self.said["loops"], "k", use) == 1
            loaded = f"{name}_matrix.load([{across}, {along}])" if is_rows else f"{name}_matrix.load([{along}, {across}])"
            self.add(f"    {name} = {loaded}" + (".T" if is_rows == (role == "n") else ""))
        self.add(self.product())
        if self.more_n:
            self.add(self.product("b_more", "more"))

    def sums_by_addresses(self):
        of, lhs, rhs = self.of, self.said["lhs"], self.said["rhs"]
        inner_steps, taps = cdiv(of.inner.size, self.block_k), size_of(of.taps)
        even = of.inner.size % self.block_k == 0
        strides = [of.inner.strides[id(use)] for use in (lhs, rhs)]
        wide = [self.wide(use) for use in (lhs, rhs)]
        self.add(f"k = tl.arange(0, {self.block_k})",
                 f"a_at = {self.pointers(lhs, row='[:, None]')} + (k{wide[0]} * {strides[0]})[None, :]",
                 f"b_at = {self.pointers(rhs, column='[None, :]')} + (k{wide[1]} * {strides[1]})[:, None]",
                 # An operand of one row or column does not walk along it.
                 f"a_at = tl.broadcast_to(a_at, ({self.block_m}, {self.block_k}))",
                 f"b_at = tl.broadcast_to(b_at, ({self.block_k}, {self.block_n}))")
        # One loop over taps and steps, since Triton's pipeline is of innermost loops only.
        steps = self.part_of(taps * inner_steps)
        if taps == 1 and self.parts.count > 1:
            for name, stride, far in zip("ab", strides, wide):
                self.add(f"{name}_at += first_step{far} * {self.block_k * stride}")
        self.add(f"for step in range({steps}):")
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
        self.add(f"    a = tl.load({a_from}{a_inside})", f"    b = tl.load({b_from}{b_inside})", self.product())
        if taps == 1:
            self.add(f"    a_at += {self.block_k * strides[0]}", f"    b_at += {self.block_k * strides[1]}")
