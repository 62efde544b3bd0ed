"""The text of a kernel for one configuration: what all kinds have in common, which is where elements lie, and the
values behind the root, which go element by element over rows and columns."""
import math

from element_values import TYPES, computed, stored
from stated_kernel import products_of

MOST_INTEGER = 2**31 - 1
# Alignment in bytes: more than any load asks for, and no larger number than the compiler tracks.
ALIGNMENT = 64
# Products of f32, by the knob PRECISION. "ieee" multiplies and adds without matrix units. The
# others split each number into a sum of parts that matrix units know, and skip the smallest
# products. Three parts of 8 bits hold all 24 bits of a number; two of 11 lose one or two.
PRECISIONS = ("ieee", "bf16x6", "tf32x3")


def precision(type_, number):
    """The argument of a product that says so; empty for types that matrix units know."""
    if number not in range(len(PRECISIONS)) or (number and type_ != "f32"):
        raise ValueError(f"PRECISION = {number} of products of {type_}")
    return f', input_precision="{PRECISIONS[number]}"' if type_ == "f32" else ""


class Parts:
    """`count` programs share each of `tiles` tiles. They meet in scratch memory, which holds so many `elements` of 32
    bits of each program, and behind all of them a counter for each tile."""

    def __init__(self, count, tiles, elements):
        self.count, self.tiles, self.elements = count, tiles, elements

    def bytes(self):
        return 4 * self.tiles * (self.count * self.elements + 1) if self.count > 1 else 0


class KernelText:
    """A kind adds the lines that leave its root's tile of rows x columns in `sums`, and calls walk() for its uses.

    `of`: a StatedKernel; `rows`, `columns` and their blocks: those of the tile that a program writes."""

    def __init__(self, of, rows, columns, block_m, block_n):
        self.of, self.said = of, of.said
        self.rows, self.columns, self.block_m, self.block_n = rows, columns, block_m, block_n
        # Whether a tile may have rows or columns that lie beyond the end.
        self.ragged = {"row": rows % block_m != 0, "column": columns % block_n != 0}
        self.names = {id(use): f"use{i}" for i, use in enumerate(of.uses)}
        self.lines = []
        self.depth = 0  # blocks that lines are added to are nested so deep
        self.parts = Parts(1, 0, 0)  # of those that share a tile
        self.products = 1  # of one left operand, of which a program computes one, `product`
        self.walked = set()  # names of offsets along an index

    def text(self):
        said = self.said
        passed = [f"binding{i}" for i in range(said["bindings"])] + [f"constant{i}" for i in range(said["constants"])]
        passed += [f"table{i}" for i in range(len(self.of.tables))] + ["scratch"] * (self.parts.bytes() > 0)
        self.root()
        self.behind_root()
        head = ["import triton", "import triton.language as tl", "from triton.language.extra import libdevice", "", "",
                *self.functions(), "@triton.jit", f"def {self.of.name}({', '.join(passed)}):"]
        return "\n".join(head + ["    " + line for line in self.lines]) + "\n"

    def root(self):
        raise NotImplementedError

    def functions(self):
        """Lines of functions that the kernel calls, each with two empty lines behind it."""
        return []

    def behind_root(self):
        """Lines for the values behind the root, of the block in `sums`, and what is stored of them: of `product` only,
        where there are several products."""
        for product in range(self.products):
            if self.products > 1:
                self.add(f"if product == {product}:")
                self.depth += 1
            values, stores = self.of_product(product)
            for place in values:
                self.add(f"v{place} = {self.value(self.said['values'][place])}")
            for store in stores:
                self.store(store)
            self.depth -= self.products > 1

    def of_product(self, product):
        """The values that the product's stores need, by number, in order; and these stores."""
        values, stores = self.said["values"], self.said["stores"]
        if self.products == 1:
            return range(len(values)), stores
        stores = [store for store, made_of in zip(stores, products_of(self.said)) if made_of == {product}]
        needed = {store["value"] for store in stores}
        for place in reversed(range(len(values))):
            if place in needed:
                needed.update(values[place]["operands"])
        return sorted(needed), stores

    def sums_of(self, value):
        """The name of the sums that this root value is."""
        return "sums"

    def add(self, *lines):
        self.lines += ["    " * self.depth + line for line in lines]

    def part_of(self, count):
        """First and end of this program's part of so many steps, as the arguments of range()."""
        parts = self.parts.count
        if parts == 1:
            return f"0, {count}"
        if count < parts:
            raise ValueError(f"SPLIT_K = {parts}; there are {count} steps to share")
        # Without the assumption ptxas waits for each product before the next, since the sums could
        # come from elsewhere.
        self.add("part = tl.program_id(2)", f"first_step = part * {count} // {parts}",
                 f"end_step = (part + 1) * {count} // {parts}", "tl.assume(first_step < end_step)")
        return "first_step, end_step"

    def meet(self, tile, sums, *columns):
        """Leaves what these variables hold in the scratch memory: sums for each row and column, and others for each row.
        Of the programs that share the tile, numbered `tile`, the one that comes last goes on, and finds what all left by
        of_part(), `other` being one of them; nobody waits for anybody."""
        parts, rows = self.parts, f"tl.arange(0, {self.block_m})"
        self.add(f"shared_tile = {tile}", f"parts_at = scratch + shared_tile * {parts.count * parts.elements}",
                 f"{sums}_at = parts_at + {rows}[:, None] * {self.block_n} + tl.arange(0, {self.block_n})[None, :]")
        for place, name in enumerate(columns):
            self.add(f"{name}_at = parts_at + {self.block_m * (self.block_n + place)} + {rows}")
        for name in (sums, *columns):
            self.add(f"tl.store({name}_at + part * {parts.elements}, {name}, cache_modifier='.cg')")
        # The barrier ensures that all threads have stored their sums before this program counts.
        self.add("tl.debug_barrier()",
                 f"come = (scratch + {parts.tiles * parts.count * parts.elements}).to(tl.pointer_type(tl.int32)) + shared_tile",
                 f"if tl.atomic_add(come, 1, sem='acq_rel', scope='gpu') == {parts.count - 1}:")
        self.depth += 1
        # The counter is reset for the next launch; the memory is zero when the kernel is loaded.
        self.add("tl.atomic_xchg(come, 0, sem='relaxed')")

    def of_part(self, name):
        return f"tl.load({name}_at + other * {self.parts.elements}, cache_modifier='.cg')"

    def place(self, use, batch):
        """A pointer to the use's first element of the matrix `batch`, which a program has one of."""
        name = self.names[id(use)]
        if "view" not in use:
            self.place_table(use, batch)
            return
        # Several uses of one binding may be of different types.
        view = self.said["views"][use["view"]]
        pointer, bytes_ = f"binding{view['binding']}", TYPES[use["type"]][2]
        if view["offset"] % bytes_ or view["multiple"] % bytes_:
            raise ValueError(f"a view begins within an element of {use['type']}")
        if self.of.type_of(view["binding"]) != use["type"]:
            pointer += f".to(tl.pointer_type({stored(use['type'])}))"
        begin = view["offset"] // bytes_
        if view["words"]:
            low, *high = view["words"]
            words = f"constant{low}.to(tl.uint32, bitcast=True).to(tl.int64)"
            if high:
                words = f"({words} + (constant{high[0]}.to(tl.int64) << 32))"
            # Uses a shift, for a division rounds towards zero, which costs the compiler extra code.
            # Keeps the hint on an operation that adds something: one that adds nothing would be
            # dropped with its hint.
            words = f"{words} >> {bytes_.bit_length() - 1}" + (f") + {begin}" if begin else "")
            words = f"({words}" if begin else words
            multiple = math.gcd(view["multiple"], ALIGNMENT) // bytes_
            # Triton's hints are powers of two.
            pointer += f" + tl.multiple_of({words}, {multiple & -multiple})"
            begin = 0
        if begin + use["offset"]:
            pointer += f" + {begin + use['offset']}"
        along = self.along(batch, use, f"batch{self.wide(use)}")
        self.add(f"{name} = {pointer}" + (f" + {along}" if along else ""))

    def place_table(self, use, batch):
        """The same of a table, whose pointer the kernel has for it alone."""
        table = next(i for i, each in enumerate(self.of.tables) if each is use)
        along = self.along(batch, use, f"batch{self.wide(use)}")
        self.add(" + ".join([f"{self.names[id(use)]} = table{table}", str(use["offset"]), *([along] if along else [])]))

    def walk(self, use, index, dimensions, variable=""):
        """How far each element lies from the first one along `index`, which has these values."""
        name = self.names[id(use)]
        along = self.along(dimensions, use, f"{variable or index}{self.wide(use)}")
        if along:
            self.walked.add(f"{name}_{index}")
            self.add(f"{name}_{index} = {along}")

    def wide(self, use):
        """What makes an index one of 64 bits, where 32 are too few for how far the use's last element lies from its
        first. What is masked is not read, but its address is computed all the same."""
        last = sum(abs(stride) * (loop["size"] - 1) for stride, loop in zip(use["strides"], self.said["loops"]))
        return ".to(tl.int64)" if last + self.beyond(use) > MOST_INTEGER else ""

    def beyond(self, use):
        """How many elements beyond the last one addresses are computed of."""
        raise NotImplementedError

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

    def pointers(self, use, **axes):
        """Of a tile; `axes`: by index the axis that it goes along, row="[:, None]"."""
        name = self.names[id(use)]
        along = [f"{name}_{index}{axis}" for index, axis in axes.items() if f"{name}_{index}" in self.walked]
        return " + ".join([name, *along])

    def tile(self, use):
        return self.pointers(use, row="[:, None]", column="[None, :]")

    def value(self, value):
        if value["op"] == "root":
            return f"{self.sums_of(value)}.to({TYPES[value['type']][0]})"
        if value["op"] in ("load", "table"):
            loaded = f"tl.load({self.tile(value)})"
            return f"({loaded} != 0)" if value["type"] == "i1" else loaded
        return computed(value, [each["type"] for each in self.said["values"]])

    def stored_shape(self, store):
        """Rows and columns of a block that are stored."""
        return (self.block_m, self.block_n)

    def store(self, store):
        rows, columns = self.stored_shape(store)
        shape = f"({rows}, {columns})"
        value = f"tl.broadcast_to(v{store['value']}, {shape})"
        if store["type"] == "i1":
            value += ".to(tl.int8)"
        inside = [f"({name}{axis} < {size})" for name, axis, size, stored in
                  (("row", "[:, None]", self.rows, rows), ("column", "[None, :]", self.columns, columns))
                  if self.ragged[name] and stored > 1]
        mask = f", mask={' & '.join(inside)}" if inside else ""
        if len(inside) == 1:
            mask = f", mask=tl.broadcast_to({inside[0]}, {shape})"
        self.add(f"tl.store(tl.broadcast_to({self.tile(store)}, {shape}), {value}{mask})")
