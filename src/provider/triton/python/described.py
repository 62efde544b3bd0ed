"""An operand that tensor descriptors load, tile by tile.

Its descriptor has a dimension for each loop that a tile goes along (neighbours taken as one) and one for k, of which the
one along which elements lie side by side comes last. The taps of a convolution have none of their own: how far a tap lies
from the first is added to the place along the last dimension, which is made as much longer. So an image is read in place,
whatever its border and its stride are, and a filter in any order of its taps.
"""
import math

from element_values import TYPES
from kernel_text import KernelText
from stated_kernel import size_of

# Alignment of bases and strides of tensor descriptors, and their largest rank (CUDA driver API,
# cuTensorMapEncodeTiled).
DESCRIPTOR_BYTES = 16
MOST_DIMENSIONS = 5


class Described:
    """`dimensions`: of the operand's role; `inner`: the one of k that steps go along; `taps`: the others of k."""

    def __init__(self, said, use, dimensions, inner, taps):
        self.use, self.dimensions, self.inner, self.taps = use, dimensions, inner, taps
        along, across = inner.strides[id(use)], [each.strides[id(use)] for each in dimensions]
        self.is_dense_along_k = along == 1
        if not self.is_dense_along_k and across != [1]:
            raise ValueError("tensor descriptors are for operands that are dense along k, or matrices dense along the "
                             "other side")
        bytes_ = TYPES[use["type"]][2]
        view = said["views"][use["view"]]
        batch = [stride for stride, loop in zip(use["strides"], said["loops"]) if loop["role"] == "batch"]
        rows = across if self.is_dense_along_k else [along]
        begins = [view["offset"], view["multiple"], *(bytes_ * each for each in (use["offset"], *rows, *batch))]
        if math.gcd(*begins) % DESCRIPTOR_BYTES:
            raise ValueError(f"rows of an operand do not begin at multiples of {DESCRIPTOR_BYTES} bytes, as descriptors "
                             "want")
        if min(rows) <= 0 or any(each.strides[id(use)] < 0 for each in taps) or len(rows) >= MOST_DIMENSIONS:
            raise ValueError(f"tensor descriptors have {MOST_DIMENSIONS} dimensions, each walked forwards")

    def lines(self, name, pointer, block, block_k):
        """Lines that make a descriptor; `block`: elements of a tile along each of the dimensions."""
        use = self.use
        sizes = [(each.size, each.strides[id(use)], count) for each, count in zip(self.dimensions, block)]
        k = self.inner.size, self.inner.strides[id(use)], block_k
        listed = [*sizes, k] if self.is_dense_along_k else [k, *sizes]
        *outer, (size, _, count) = listed
        reach = sum((each.size - 1) * each.strides[id(use)] for each in self.taps)
        return [f"{name}_tiles = tl.make_tensor_descriptor({pointer}, "
                f"shape=[{', '.join(str(each[0]) for each in outer)}, {size + reach}], "
                f"strides=[{', '.join(str(each[1]) for each in outer)}, 1], "
                f"block_shape=[{', '.join(str(each[2]) for each in outer)}, {count}])"]

    def load(self, name, origins, block, block_k, by_rows):
        """The tile that begins at these places, at `k_begin` of the tap `tap`: as rows along the role's dimensions and
        columns along k where it is to be `by_rows`, else the other way round."""
        *before, last = [*origins, "k_begin"] if self.is_dense_along_k else ["k_begin", *origins]
        tap = KernelText.along(self.taps, self.use, "tap") if size_of(self.taps) > 1 else ""
        loaded = f"{name}_tiles.load([{', '.join([*before, ' + '.join([last, tap] if tap else [last])])}])"
        if len(block) > 1:
            loaded += f".reshape({math.prod(block)}, {block_k})"
        return loaded + (".T" if self.is_dense_along_k != by_rows else "")
