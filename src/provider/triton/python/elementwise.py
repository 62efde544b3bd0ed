"""A kernel for one dispatch of a program without a product: elementwise operations, and reductions of rows.

A program computes a block of BLOCK_M rows (loops of role m) and BLOCK_N columns (role n). Loads and stores have any
strides. Triton gives each the layout in which it is contiguous and converts between them in shared memory, so a
transpose reads and writes whole lines.

If a value is a reduction, columns are the loops of role k, and a program has whole rows. It keeps rows that BLOCK_N
covers, and reads each element once. Longer ones it walks in steps of BLOCK_N: once for each reduction that needs the
one before, and once more for what is stored of each element. Elements beyond a row's end are the identity of the
reduction. Sums are f32.
"""
import contextlib

from element_values import FLOATS, TYPES, number
from kernel_text import MOST_INTEGER, KernelText
from problem import cdiv
from stated_kernel import StatedKernel, size_of

_LARGER = "tl.maximum({}, {}, propagate_nan=tl.PropagateNan.ALL)"
_SMALLER = "tl.minimum({}, {}, propagate_nan=tl.PropagateNan.ALL)"
# Combination of two values, and identity, by operation. None: the least or the largest integer.
_COMBINATIONS = {"addf": ("{} + {}", 0.0), "addi": ("{} + {}", 0), "mulf": ("{} * {}", 1.0), "muli": ("{} * {}", 1),
                 "maximumf": (_LARGER, "-inf"), "minimumf": (_SMALLER, "inf"),
                 "maxnumf": ("tl.maximum({}, {})", "-inf"), "minnumf": ("tl.minimum({}, {})", "inf"),
                 "maxsi": ("tl.maximum({}, {})", None), "minsi": ("tl.minimum({}, {})", None),
                 "andi": ("{} & {}", -1), "ori": ("{} | {}", 0)}


class Elementwise(StatedKernel):
    name = "hone_elementwise"
    default = {"BLOCK_M": 1, "BLOCK_N": 512, "num_warps": 4}

    def __init__(self, said, folder):
        super().__init__(said, [], folder)
        self.reduces = any(value["op"] == "reduce" for value in said["values"])
        self.batch, self.m, self.n = (self.dimensions(role, self.uses)
                                      for role in ("batch", "m", "k" if self.reduces else "n"))
        if max(size_of(self.m), size_of(self.n)) > MOST_INTEGER:
            raise ValueError("more rows or columns than 32 bits count")

    def grid(self, knobs, device):
        return (_Text(self, knobs).tiles(), 1, 1)

    def source(self, knobs):
        return _Text(self, knobs).text()


class _Text(KernelText):
    def __init__(self, of, knobs):
        rows, columns = size_of(of.m), size_of(of.n)
        width = knobs["BLOCK_N"]
        if of.reduces:
            width = min(width, 1 << (columns - 1).bit_length())
        super().__init__(of, rows, columns, knobs["BLOCK_M"], width)
        self.steps = cdiv(columns, width) if of.reduces else 1  # of a walk along a row
        self.combinations = {}  # names of functions, by operation

    def tiles(self):
        return cdiv(self.rows, self.block_m) * self.beside()

    def beside(self):
        """Programs that share a row."""
        return 1 if self.of.reduces else cdiv(self.columns, self.block_n)

    def functions(self):
        lines = []
        for operation, name in self.combinations.items():
            lines += ["@triton.jit", f"def {name}(a, b):",
                      f"    return {_COMBINATIONS[operation][0].format('a', 'b')}", "", ""]
        return lines

    def root(self):
        beside = self.beside()
        tile, place = ("tl.program_id(0)", "") if beside == 1 else (f"tl.program_id(0) // {beside}",
                                                                     f"tl.program_id(0) % {beside} * {self.block_n} + ")
        self.add(f"row = {tile} * {self.block_m} + tl.arange(0, {self.block_m})")
        for use in self.of.uses:
            self.place(use, self.of.batch)
            self.walk(use, "row", self.of.m)
        if self.steps == 1:
            self.walk_columns(place, self.of.uses)

    def walk_columns(self, begin, uses):
        self.add(f"column = {begin}tl.arange(0, {self.block_n})")
        for use in uses:
            self.walk(use, "column", self.of.n)

    def behind_root(self):
        if self.steps == 1:
            super().behind_root()
            return
        values, stores = self.said["values"], self.said["stores"]
        varies, passes = self.dependences()
        for before in range(max(passes) + 1):
            self.add_values(place for place, value in enumerate(values)
                            if passes[place] == before and not varies[place] and value["op"] != "reduce")
            reductions = [place for place, value in enumerate(values)
                          if value["op"] == "reduce" and passes[place] == before + 1]
            if not reductions:
                continue
            for place in reductions:
                shape = f"({self.block_m}, {self.block_n})"
                identity = number(self.identity(values[place]))
                self.add(f"all{place} = tl.full({shape}, {identity}, {sum_type(values[place])})")
            with self.walk_of([values[place]["operands"][0] for place in reductions], varies):
                for place in reductions:
                    combination, _ = _combination(values[place])
                    self.add(f"all{place} = {combination.format(f'all{place}', self.reduced_block(values[place]))}")
            for place in reductions:
                self.add(f"v{place} = {self.reduced(values[place], f'all{place}')}")
        each = [store for store in stores if self.varies_along_row(store)]
        if each:
            with self.walk_of([store["value"] for store in each], varies, each):
                for store in each:
                    self.store(store)
        for store in stores:
            if store not in each:
                self.store(store)

    def dependences(self):
        """For each value whether it varies along a row, and the walks that it needs before."""
        varies, passes = [], []
        for value in self.said["values"]:
            operands, reduces = value["operands"], value["op"] == "reduce"
            loads = value["op"] in ("load", "table") and self.varies_along_row(value)
            varies.append(not reduces and (loads or any(varies[each] for each in operands)))
            passes.append(max((passes[each] for each in operands), default=0) + reduces)
        return varies, passes

    def varies_along_row(self, use):
        return any(each.strides[id(use)] for each in self.of.n)

    def add_values(self, places):
        for place in places:
            self.add(f"v{place} = {self.value(self.said['values'][place])}")

    @contextlib.contextmanager
    def walk_of(self, wanted, varies, stores=()):
        """Lines added within are those of each step along a row, where these values are known."""
        values, needed = self.said["values"], set(wanted)
        for place in reversed(range(len(values))):
            if place in needed and varies[place]:
                needed.update(values[place]["operands"])
        places = [place for place in sorted(needed) if varies[place]]
        self.add(f"for begin in range(0, {self.columns}, {self.block_n}):")
        self.depth += 1
        self.walk_columns("begin + ", [values[place] for place in places if values[place]["op"] in ("load", "table")] +
                          list(stores))
        self.add_values(places)
        yield
        self.depth -= 1

    def beyond(self, use):
        return sum(block * max(abs(each.strides[id(use)]) * each.size for each in dimensions)
                   for block, dimensions in ((self.block_m, self.of.m), (self.block_n, self.of.n)))

    def value(self, value):
        if value["op"] == "reduce":
            return self.reduced(value, self.reduced_block(value))
        if value["op"] not in ("load", "table"):
            return super().value(value)
        axes = (("row", "[:, None]", self.rows), ("column", "[None, :]", self.columns))
        inside = [f"({index}{axis} < {size})" for index, axis, size in axes
                  if self.ragged[index] and self.walks(value, index)]
        mask = ""
        if inside:
            extents = (block if self.walks(value, index) else 1
                       for index, block in (("row", self.block_m), ("column", self.block_n)))
            mask = f", mask=tl.broadcast_to({' & '.join(inside)}, ({', '.join(map(str, extents))})), other=0"
        loaded = f"tl.load({self.tile(value)}{mask})"
        return f"({loaded} != 0)" if value["type"] == "i1" else loaded

    def walks(self, use, index):
        return f"{self.names[id(use)]}_{index}" in self.walked

    def stored_shape(self, store):
        """A result of rows alone has one column."""
        whole_rows = self.of.reduces and not self.varies_along_row(store)
        return (self.block_m, 1 if whole_rows else self.block_n)

    def identity(self, value):
        _, identity = _combination(value)
        if identity is None:
            least = 1 << (8 * TYPES[value["type"]][2] - 1)
            identity = -least if value["combines"].endswith("maxsi") else least - 1
        return identity

    def reduced_block(self, value):
        """Of a reduction the block that it reduces, with the identity beyond the end."""
        type_ = sum_type(value)
        block = f"tl.broadcast_to(v{value['operands'][0]}, ({self.block_m}, {self.block_n})).to({type_})"
        if not self.ragged["column"]:
            return block
        identity = f"tl.full((1, 1), {number(self.identity(value))}, {type_})"
        return f"tl.where(column[None, :] < {self.columns}, {block}, {identity})"

    def reduced(self, value, block):
        """The reduction of each row of a block, as a block of one column."""
        combination, _ = _combination(value)
        operation, type_ = value["combines"].split(".")[-1], value["type"]
        combine = self.combinations.setdefault(operation, f"combine_{operation}")
        reduced = f"tl.reduce({block}, 1, {combine}, keep_dims=True)"
        if value["start"] != self.identity(value):
            start = f"tl.full((1, 1), {number(value['start'])}, {sum_type(value)})"
            reduced = f"({combination.format(start, reduced)})"
        return f"({reduced} != 0)" if type_ == "i1" else f"{reduced}.to({TYPES[type_][0]})"


def sum_type(value):
    """The type in code that a reduction computes in."""
    type_ = value["type"]
    return "tl.float32" if type_ in FLOATS else "tl.int32" if type_ == "i1" else TYPES[type_][0]


def _combination(value):
    operation, type_ = value["combines"].split(".")[-1], value["type"]
    if operation not in _COMBINATIONS or (operation[-1] == "f") != (type_ in FLOATS):
        raise ValueError(f"a reduction by {value['combines']} of {type_} is not known")
    return _COMBINATIONS[operation]
