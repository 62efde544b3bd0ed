"""A kernel for one dispatch of a program: a contraction or convolution and what goes element by element behind it.
Or several contractions of one left operand. If each has results of its own, a program computes a tile of one of them.
Otherwise it computes the same tile of all, without SPLIT_K and MORE_N (`joined`).

STRUCTURE, numbered as in structures.py:
  0  a program for each tile, which computes the address of each element it loads (addressed.py)
  4  as many programs as run at a time, which walk the tiles and load them by tensor descriptors (described.py)
  5  a program for each tile, which loads it by tensor descriptors
Descriptors are made by the programs themselves, since addresses are known at launch only.

SPLIT_K > 1 (structures 0 and 5): as many programs for each tile, each over its part of k (kernel_text.py, Parts).
SWAP (structures 4 and 5): the product is computed transposed, so BLOCK_M goes along the result's columns. An image is
loaded in boxes of several dimensions (boxes.py), which Triton takes from shared memory for the second operand of a matrix
instruction only: the first one's go through registers.
MORE_N (structures 4 and 5): columns of what is computed in a second block beside the first. Blocks are powers of two; of
tiles that are 256 + 64 wide there may be just as many as multiprocessors.
PRECISION is that of products of f32 (kernel_text.py, PRECISIONS).
"""
import addressed
from boxes import Boxes
from described import Described
from element_values import FLOATS, number
from kernel_text import KernelText, Parts, precision
from problem import cdiv
from stated_kernel import StatedKernel, products_of, size_of

# Smallest size that matrix instructions take along k; a step along fewer elements would multiply
# zeros.
LEAST_STEP = 16

BLOCKED, PERSISTENT, TILES_TMA = 0, 4, 5


class Contraction(StatedKernel):
    name = "hone_contraction"
    default = {"STRUCTURE": BLOCKED, "BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 8, "SPLIT_K": 1, "PER_UNIT": 1,
               "MORE_N": 0, "SWAP": 0, "PRECISION": 0, "num_warps": 4, "num_stages": 3}

    def __init__(self, said, folder):
        # The right operand of each product; all have the same strides.
        self.rights = [said["rhs"], *(said[f"rhs{i}"] for i in range(1, len(said)) if f"rhs{i}" in said)]
        super().__init__(said, [said["lhs"], *self.rights], folder)
        self.joined = any(len(products) > 1 for products in products_of(said))
        self.alternatives = 1 if self.joined else len(self.rights)  # products that a program has one of
        self.batch, self.m, self.n = (self.dimensions(role, self.uses) for role in ("batch", "m", "n"))
        k = self.dimensions("k", [said["lhs"], *self.rights])
        # Steps go along the longest dimension in which an operand is contiguous. A kernel's three
        # columns are too few for a step, even if they are contiguous.
        dense = [each for each in k if 1 in each.strides.values() and each.size >= LEAST_STEP] or k
        self.inner = max(dense, key=lambda each: each.size)
        self.taps = [each for each in k if each is not self.inner]

    def grid(self, knobs, device):
        tiles = _Text(self, knobs).tiles()
        if knobs["STRUCTURE"] == PERSISTENT:
            tiles = min(tiles, device.units * knobs["PER_UNIT"])
        return (tiles * self.alternatives, size_of(self.batch), knobs["SPLIT_K"])

    def scratch_bytes(self, knobs):
        return _Text(self, knobs).parts.bytes()

    def has_descriptors(self, knobs):
        return knobs["STRUCTURE"] != BLOCKED

    def source(self, knobs):
        return _Text(self, knobs).text()


class _Text(KernelText):
    def __init__(self, of, knobs):
        self.knobs = knobs = of.default | knobs
        self.structure, self.swap = knobs["STRUCTURE"], knobs["SWAP"]
        self.block_k, self.group_m, self.more_n = knobs["BLOCK_K"], knobs["GROUP_M"], knobs["MORE_N"]
        if self.structure not in (BLOCKED, PERSISTENT, TILES_TMA):
            raise ValueError(f"STRUCTURE = {self.structure}; kernels for dispatches are {BLOCKED}, {PERSISTENT} and "
                             f"{TILES_TMA}")
        if self.structure == PERSISTENT and knobs["SPLIT_K"] > 1:
            raise ValueError("a program that walks the tiles does not split k")
        if self.structure == PERSISTENT and len(of.rights) > 1:
            raise ValueError("a program that walks the tiles is for one product")
        if of.joined and (self.more_n or self.swap or knobs["SPLIT_K"] > 1):
            raise ValueError("MORE_N, SWAP and SPLIT_K are for results of one product each")
        if self.more_n and (self.structure == BLOCKED or knobs["SPLIT_K"] > 1):
            raise ValueError("MORE_N is for tensor descriptors, without SPLIT_K")
        if self.swap and self.structure == BLOCKED:
            raise ValueError("SWAP is for tensor descriptors")
        # Blocks of a tile along each role.
        several = [knobs["BLOCK_N"], self.more_n] if self.more_n else [knobs["BLOCK_N"]]
        self.blocks = {"n": [knobs["BLOCK_M"]], "m": several} if self.swap else {"m": [knobs["BLOCK_M"]], "n": several}
        super().__init__(of, size_of(of.m), size_of(of.n), self.blocks["m"][0], self.blocks["n"][0])
        self.products = of.alternatives
        # What a program loads of right operands, and the sums of each: name, use, sums.
        self.rights = [("b", of.rights[0], "sums")]
        if of.joined:
            self.rights += [(f"b{i}", use, f"sums{i}") for i, use in enumerate(of.rights[1:], start=1)]
        self.described, self.boxes = {}, None
        if self.structure != BLOCKED:
            self.describe()
        self.extent = {role: sum(blocks) for role, blocks in self.blocks.items()}  # of a tile
        self.tiles_along = {"m": cdiv(self.rows, self.extent["m"]), "n": cdiv(self.columns, self.extent["n"])}
        self.ragged = {"row": self.rows % self.extent["m"] != 0, "column": self.columns % self.extent["n"] != 0}
        if self.boxes:
            self.tiles_along["m"], self.ragged["row"] = self.boxes.tiles(), self.boxes.ragged()
        self.parts = Parts(knobs["SPLIT_K"], self.tiles() * self.products * size_of(of.batch),
                           self.block_m * self.block_n)

    def tiles(self):
        return self.tiles_along["m"] * self.tiles_along["n"]

    def describe(self):
        """What descriptors are made of. ValueError for what they cannot load."""
        of = self.of
        # What is checked of each right operand is the same but for where it begins.
        for role, uses in (("m", [self.said["lhs"]]), ("n", reversed(of.rights))):
            for use in uses:
                self.described[role] = Described(self.said, use, of.dimensions(role, [use]), of.inner, of.taps)
        image = self.described["m"].dimensions
        if len(self.described["n"].dimensions) > 1:
            raise ValueError("tensor descriptors of the second operand are for matrices")
        if len(image) > 1:
            if not self.swap:
                raise ValueError("boxes of an image are for the second operand of an instruction: SWAP")
            self.boxes = Boxes([each.size for each in image], self.blocks["m"][0], self.more_n)
        if of.taps and of.inner.size % self.block_k:
            raise ValueError(f"a step of {self.block_k} would go beyond the {of.inner.size} elements of a tap, into the "
                             "next one")

    def root(self):
        self.check_types()
        self.add("batch = tl.program_id(1)")
        for use in self.of.uses:
            self.place(use, self.of.batch)
        if self.products > 1:
            self.add(f"product = tl.program_id(0) // {self.tiles()}")
            first, *others = (self.names[id(right)] for right in self.of.rights)
            self.add(*(f"{first} = tl.where(product == {i}, {name}, {first})" for i, name in enumerate(others, start=1)))
        for role, described in self.described.items():
            for name, block, _ in self.pieces(role):
                for place, use in enumerate([described.use] if role == "m" else [use for _, use, _ in self.rights]):
                    self.add(*described.lines(name + (str(place) if place else ""), self.names[id(use)], block,
                                              self.block_k))
        if self.structure == PERSISTENT:
            # The loop is flattened, so that a tile's store overlaps with the next tile's first
            # loads.
            self.add(f"for tile in tl.range(tl.program_id(0), {self.tiles()}, tl.num_programs(0), flatten=True):")
            self.depth += 1
        else:
            self.add("tile = tl.program_id(0)" + (f" % {self.tiles()}" if self.products > 1 else ""))
        self.tile_of_program()
        self.sums()
        if self.parts.count > 1:
            matrix = "batch" if self.products == 1 else f"(batch * {self.products} + product)"
            self.meet(f"{matrix} * {self.tiles()} + tile", "sums")
            # Parts are added in a fixed order, whichever program came last.
            self.add(self.no_sums("sums", self.block_m, self.block_n), f"for other in range(0, {self.parts.count}):",
                     f"    sums += {self.of_part('sums')}")
        if self.said["start"]:
            self.add(*(f"{each} += {number(self.said['start'])}" for each in self.all_sums()))

    def all_sums(self):
        return [*(sums for _, _, sums in self.rights), *["more"][:self.more_n > 0]]

    def sums_of(self, value):
        return self.rights[value.get("product", 0) if self.of.joined else 0][2]

    def check_types(self):
        types = [use["type"] for use in (self.said["lhs"], self.said["rhs"])]
        if types[0] != types[1] or types[0] not in ("f16", "bf16", "f32", "i8"):
            raise ValueError(f"products of {types[0]} and {types[1]}")
        if (self.said["accumulator"] in FLOATS) != (types[0] in FLOATS):
            raise ValueError(f"sums in {self.said['accumulator']} of products of {types[0]}")
        self.type = types[0]
        self.precision = precision(self.type, self.knobs["PRECISION"])
        self.sum_type = "tl.int32" if types[0] == "i8" else "tl.float32"

    def pieces(self, role):
        """(name, extents, where it begins along each dimension) of the blocks of a tile that are loaded one by one."""
        name, blocks = ("a" if role == "m" else "b"), self.blocks[role]
        if role == "m" and self.boxes:
            boxes = self.boxes
            both = [(name, boxes.extents, boxes.origins(False)), (f"{name}_more", boxes.more, boxes.origins(True))]
            return both[:len(blocks)]
        begin = f"tile_{role} * {self.extent[role]}"
        return [(name, [blocks[0]], [begin]), *((f"{name}_more", [each], [f"{begin} + {blocks[0]}"]) for each in blocks[1:])]

    def tile_of_program(self):
        """The rows and columns of the tile, and where every use's elements of it lie."""
        down, beside = ("n", "m") if self.swap else ("m", "n")
        tiles_down, tiles_beside = self.tiles_along[down], self.tiles_along[beside]
        if self.group_m == 1 or tiles_down == 1:
            self.add(f"tile_{down} = tile // {tiles_beside}", f"tile_{beside} = tile % {tiles_beside}")
        else:
            self.add(f"first_{down} = tile // {self.group_m * tiles_beside} * {self.group_m}",
                     f"group_{down} = min({tiles_down} - first_{down}, {self.group_m})",
                     f"within = tile % {self.group_m * tiles_beside}",
                     f"tile_{down} = first_{down} + within % group_{down}", f"tile_{beside} = within // group_{down}")
        if self.boxes:
            self.add(*self.boxes.origin_lines("tile_m"))
        for role in ("m", "n"):
            self.walk_block(role, 0)

    def walk_block(self, role, place):
        """The rows or columns of a block of the tile, and where every use's elements of them lie."""
        index, size, dimensions = ("row", self.rows, self.of.m) if role == "m" else ("column", self.columns, self.of.n)
        if role == "m" and self.boxes:
            self.add(*self.boxes.row_lines(place > 0))
        else:
            begin, *before = f"tile_{role} * {self.extent[role]}", *map(str, self.blocks[role][:place])
            self.add(f"{index} = {' + '.join([begin, *before])} + tl.arange(0, {self.blocks[role][place]})")
        # Indices beyond the end wrap round: they are in bounds, and their results are not stored.
        self.add(f"safe_{index} = {index} % {size}" if self.ragged[index] else f"safe_{index} = {index}")
        for use in self.of.uses:
            self.walk(use, index, dimensions, f"safe_{index}")

    def behind_root(self):
        super().behind_root()
        if self.more_n:
            # Repeats the epilogue for the second block.
            self.walk_block("m" if self.swap else "n", 1)
            self.add("sums = more")
            self.block_m, self.block_n = self.blocks["m"][-1], self.blocks["n"][-1]
            super().behind_root()

    def beyond(self, use):
        return self.block_k * abs(self.of.inner.strides.get(id(use), 0))

    def sums(self):
        """Lines that leave the products of this program's part of k in `sums`, and those of a second block in `more`."""
        down, beside = (self.blocks[role] for role in (("n", "m") if self.swap else ("m", "n")))
        for name, block in zip(self.all_sums(), beside * len(self.rights)):
            self.add(self.no_sums(name, down[0], block))
        if self.structure == BLOCKED:
            addressed.add_sums(self)
        else:
            self.sums_by_descriptors()

    def no_sums(self, name, rows, columns):
        return f"{name} = tl.zeros(({rows}, {columns}), dtype={self.sum_type})"

    def product(self, a, b, sums):
        return f"tl.dot({a}, {b}, {sums}{self.precision}, out_dtype={self.sum_type})"

    def sums_by_descriptors(self):
        inner_steps, taps = cdiv(self.of.inner.size, self.block_k), size_of(self.of.taps)
        self.add(f"for step in range({self.part_of(taps * inner_steps)}):")
        if taps > 1:
            self.add(f"    tap = step // {inner_steps}", f"    k_begin = step % {inner_steps} * {self.block_k}")
        else:
            self.add(f"    k_begin = step * {self.block_k}")
        for role, described in self.described.items():
            by_rows = (role == "m") != bool(self.swap)
            for piece, block, origins in self.pieces(role):
                for name in [piece] if piece != "b" else [name for name, _, _ in self.rights]:
                    self.add(f"    {name} = {described.load(name, origins, block, self.block_k, by_rows)}")
        a, b = ("b", "a") if self.swap else ("a", "b")
        names = self.all_sums()
        seconds = [b, f"{b}_more"] if self.more_n else [name for name, _, _ in self.rights] if self.of.joined else [b]
        for sums, second in zip(names, seconds):
            self.add(f"    {sums} = {self.product(a, second, sums)}")
        if self.swap:
            self.add(*(f"{each} = {each}.T" for each in names))
