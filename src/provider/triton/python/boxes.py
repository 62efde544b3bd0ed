"""How the rows of a product are dealt out to tiles where they are pixels that do not follow one another in memory.

A tensor descriptor loads a box of pixels: so many images, rows and columns. Rows of a tile are the box's pixels, the
last dimension the fastest.
"""
import math

from problem import cdiv


class Boxes:
    """`sizes`: of the dimensions of pixels, outermost first. A tile is a box of `block` pixels, and one of `more` behind it
    along one dimension; both are powers of two. Of all such boxes those that make the fewest tiles, and of these the
    widest."""

    def __init__(self, sizes, block, more=0):
        self.sizes = sizes
        self.extents, self.behind = min(
            ((extents, behind) for extents in _factors(block, len(sizes)) for behind in range(len(sizes))
             if extents[behind] * more % block == 0),
            key=lambda chosen: (math.prod(_counts(sizes, *chosen, block, more)), [-each for each in reversed(chosen[0])],
                                chosen[1]))
        self.counts = _counts(sizes, self.extents, self.behind, block, more)
        self.tile = _tile(self.extents, self.behind, block, more)
        self.more = list(self.extents)
        self.more[self.behind] = self.tile[self.behind] - self.extents[self.behind]

    def tiles(self):
        return math.prod(self.counts)

    def ragged(self):
        """Whether a tile may have pixels that are none."""
        return any(size % step for size, step in zip(self.sizes, self.tile))

    def origin_lines(self, tile):
        """Lines that leave in `pixel0`, `pixel1`, ... where the tile of this number begins."""
        lines, inner = [], 1
        for place in reversed(range(len(self.sizes))):
            index = tile if inner == 1 else f"{tile} // {inner}"
            index += f" % {self.counts[place]}" if place else ""
            lines.append(f"pixel{place} = {index} * {self.tile[place]}")
            inner *= self.counts[place]
        return lines

    def row_lines(self, second):
        """Lines that leave in `row` which row of the product each pixel of a box is; what is no pixel is beyond the last."""
        extents = self.more if second else self.extents
        lines, inner = [f"within = tl.arange(0, {math.prod(extents)})"], 1
        for place in reversed(range(len(self.sizes))):
            index = "within" if inner == 1 else f"within // {inner}"
            index += f" % {extents[place]}" if place else ""
            lines.append(f"at{place} = {self.origins(second)[place]} + {index}")
            inner *= extents[place]
        row = "at0"
        for place in range(1, len(self.sizes)):
            row = f"{row if place == 1 else f'({row})'} * {self.sizes[place]} + at{place}"
        inside = " & ".join(f"(at{place} < {size})" for place, size in enumerate(self.sizes) if size % self.tile[place])
        return [*lines, f"row = tl.where({inside}, {row}, {math.prod(self.sizes)})" if inside else f"row = {row}"]

    def origins(self, second):
        """Where a box of the tile begins, as expressions."""
        return [f"(pixel{place} + {self.extents[place]})" if second and place == self.behind else f"pixel{place}"
                for place in range(len(self.sizes))]


def _factors(product, count):
    """All lists of so many powers of two with this product."""
    if count == 1:
        yield [product]
        return
    first = 1
    while first <= product:
        for rest in _factors(product // first, count - 1):
            yield [first, *rest]
        first *= 2


def _tile(extents, behind, block, more):
    return [each * (block + more) // block if place == behind else each for place, each in enumerate(extents)]


def _counts(sizes, extents, behind, block, more):
    return [cdiv(size, step) for size, step in zip(sizes, _tile(extents, behind, block, more))]
