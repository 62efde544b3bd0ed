"""A kernel for one dispatch of a program: a contraction or convolution and what goes element by element behind it."""
from element_values import FLOATS, number
from kernel_text import KernelText
from problem import cdiv
from stated_kernel import StatedKernel, size_of

# What matrix instructions take at least along k; a step along fewer elements would multiply zeros.
LEAST_STEP = 16


class Contraction(StatedKernel):
    name = "hone_contraction"
    default = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 8, "num_warps": 4, "num_stages": 3}

    def __init__(self, said, folder):
        super().__init__(said, [said["lhs"], said["rhs"]], folder)
        self.batch, self.m, self.n = (self.dimensions(role, self.uses) for role in ("batch", "m", "n"))
        k = self.dimensions("k", self.uses[:2])
        # Steps go along the dimension in which an operand's elements lie side by side; of several the longest.
        # A kernel's three columns are no step, whatever lies side by side in them.
        dense = [each for each in k if 1 in each.strides.values() and each.size >= LEAST_STEP] or k
        self.inner = max(dense, key=lambda each: each.size)
        self.taps = [each for each in k if each is not self.inner]

    def grid(self, knobs):
        tiles = cdiv(size_of(self.m), knobs["BLOCK_M"]) * cdiv(size_of(self.n), knobs["BLOCK_N"])
        return (tiles, size_of(self.batch), 1)

    def source(self, knobs):
        return _Text(self, knobs).text()


class _Text(KernelText):
    def __init__(self, of, knobs):
        super().__init__(of, size_of(of.m), size_of(of.n), knobs["BLOCK_M"], knobs["BLOCK_N"])
        self.block_k, self.group_m = knobs["BLOCK_K"], knobs["GROUP_M"]

    def root(self):
        self.begin()
        self.sums()

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
            self.place(use, self.of.batch)
            self.walk(use, "row", self.of.m, "safe_row")
            self.walk(use, "column", self.of.n, "safe_column")

    def beyond(self, use):
        return self.block_k * abs(self.of.inner.strides.get(id(use), 0))

    def sums(self):
        of, lhs, rhs = self.of, self.said["lhs"], self.said["rhs"]
        types = [use["type"] for use in (lhs, rhs)]
        if types[0] != types[1] or types[0] not in ("f16", "bf16", "f32", "i8"):
            raise ValueError(f"products of {types[0]} and {types[1]}")
        if (self.said["accumulator"] in FLOATS) != (types[0] in FLOATS):
            raise ValueError(f"sums in {self.said['accumulator']} of products of {types[0]}")
        sums = "tl.int32" if types[0] == "i8" else "tl.float32"
        inner_steps, taps = cdiv(of.inner.size, self.block_k), size_of(of.taps)
        even = of.inner.size % self.block_k == 0
        strides = [of.inner.strides[id(use)] for use in (lhs, rhs)]
        wide = [self.wide(use) for use in (lhs, rhs)]
        self.add(f"k = tl.arange(0, {self.block_k})",
                 f"a_at = {self.pointers(lhs, row='[:, None]')} + (k{wide[0]} * {strides[0]})[None, :]",
                 f"b_at = {self.pointers(rhs, column='[None, :]')} + (k{wide[1]} * {strides[1]})[:, None]",
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
