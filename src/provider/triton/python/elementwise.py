"""A kernel for one dispatch of a program without a product: elementwise operations, and reductions of rows.

A program computes a block of BLOCK_M rows (loops of role m) and BLOCK_N columns (role n). Loads and stores have any
strides. Triton gives each the layout in which it is contiguous and converts between them in shared memory, so a
transpose reads and writes whole lines.

If a value is a reduction, columns are the loops of role k, and a program has whole rows: BLOCK_N is the next power of
two. Elements beyond a row's end are the identity of the reduction. Sums are f32, in the order of a tree.
"""
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
        width = 1 << (columns - 1).bit_length() if of.reduces else knobs["BLOCK_N"]
        super().__init__(of, rows, columns, knobs["BLOCK_M"], width)
        self.combinations = {}  # names of functions, by operation

    def tiles(self):
        return cdiv(self.rows, self.block_m) * cdiv(self.columns, self.block_n)

    def functions(self):
        lines = []
        for operation, name in self.combinations.items():
            lines += ["@triton.jit", f"def {name}(a, b):",
                      f"    return {_COMBINATIONS[operation][0].format('a', 'b')}", "", ""]
        return lines

    def root(self):
        beside = cdiv(self.columns, self.block_n)
        tile, place = ("tl.program_id(0)", "") if beside == 1 else (f"tl.program_id(0) // {beside}",
                                                                     f"tl.program_id(0) % {beside} * {self.block_n} + ")
        self.add(f"row = {tile} * {self.block_m} + tl.arange(0, {self.block_m})",
                 f"column = {place}tl.arange(0, {self.block_n})")
        for use in self.of.uses:
            self.place(use, self.of.batch)
            self.walk(use, "row", self.of.m)
            self.walk(use, "column", self.of.n)

    def beyond(self, use):
        return sum(block * max(abs(each.strides[id(use)]) * each.size for each in dimensions)
                   for block, dimensions in ((self.block_m, self.of.m), (self.block_n, self.of.n)))

    def value(self, value):
        if value["op"] == "reduce":
            return self.reduction(value)
        if value["op"] not in ("load", "table"):
            return super().value(value)
        inside = [f"({index}{axis} < {size})" for index, axis, size in (("row", "[:, None]", self.rows), ("column", "[None, :]", self.columns))
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
        whole_rows = self.of.reduces and not self.walks(store, "column")
        return (self.block_m, 1 if whole_rows else self.block_n)

    def reduction(self, value):
        """Of each row, as a block of one column."""
        operation, type_ = value["combines"].split(".")[-1], value["type"]
        if operation not in _COMBINATIONS or (operation[-1] == "f") != (type_ in FLOATS):
            raise ValueError(f"a reduction by {value['combines']} of {type_} is not known")
        combination, identity = _COMBINATIONS[operation]
        combine = self.combinations.setdefault(operation, f"combine_{operation}")
        sums = "tl.float32" if type_ in FLOATS else "tl.int32" if type_ == "i1" else TYPES[type_][0]
        if identity is None:
            least = 1 << (8 * TYPES[type_][2] - 1)
            identity = -least if operation == "maxsi" else least - 1
        row = f"tl.broadcast_to(v{value['operands'][0]}, ({self.block_m}, {self.block_n})).to({sums})"
        if self.ragged["column"]:
            row = f"tl.where(column[None, :] < {self.columns}, {row}, tl.full((1, 1), {number(identity)}, {sums}))"
        reduced = f"tl.reduce({row}, 1, {combine}, keep_dims=True)"
        if value["start"] != identity:
            start = f"tl.full((1, 1), {number(value['start'])}, {sums})"
            reduced = f"({combination.format(start, reduced)})"
        return f"({reduced} != 0)" if type_ == "i1" else f"{reduced}.to({TYPES[type_][0]})"
