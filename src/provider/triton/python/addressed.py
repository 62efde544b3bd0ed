"""The loop of a contraction whose programs compute the address of each element that they load."""
from problem import cdiv
from stated_kernel import size_of


def add_sums(text):
    """Adds to a contraction's text the lines that add the products of this program's part of k to `sums`."""
    of, lhs, rhs, block_k = text.of, text.said["lhs"], text.said["rhs"], text.block_k
    rights = [name for name, _, _ in text.rights]
    inner_steps, taps = cdiv(of.inner.size, block_k), size_of(of.taps)
    even = of.inner.size % block_k == 0
    strides = [of.inner.strides[id(use)] for use in (lhs, rhs)]
    wide = [text.wide(use) for use in (lhs, rhs)]
    text.add(f"k = tl.arange(0, {block_k})",
             f"a_at = {text.pointers(lhs, row='[:, None]')} + (k{wide[0]} * {strides[0]})[None, :]",
             *(f"{name}_at = {text.pointers(use, column='[None, :]')} + (k{wide[1]} * {strides[1]})[:, None]"
               for name, use, _ in text.rights),
             # An operand of one row or column does not walk along it.
             f"a_at = tl.broadcast_to(a_at, ({text.block_m}, {block_k}))",
             *(f"{name}_at = tl.broadcast_to({name}_at, ({block_k}, {text.block_n}))" for name in rights))
    # A single loop over taps and steps, since Triton pipelines only innermost loops.
    steps = text.part_of(taps * inner_steps)
    if taps == 1 and text.parts.count > 1:
        for name, stride, far in zip("ab", strides, wide):
            text.add(f"{name}_at += first_step{far} * {block_k * stride}")
    text.add(f"for step in range({steps}):")
    a_from, b_from = "a_at", "{}_at"
    if taps > 1:
        text.add(f"    tap = step // {inner_steps}", f"    k_begin = step % {inner_steps} * {block_k}")
        a_from, b_from = (
            " + ".join([place, f"({text.along(of.taps, use, f'tap{far}')} + k_begin{far} * {stride})"])
            for place, use, stride, far in zip((a_from, b_from), (lhs, rhs), strides, wide))
    elif not even:
        text.add(f"    k_begin = step * {block_k}")
    a_inside = b_inside = ""
    if not even:
        text.add(f"    inside = k < {of.inner.size} - k_begin")
        a_inside, b_inside = ", mask=inside[None, :], other=0", ", mask=inside[:, None], other=0"
    text.add(f"    a = tl.load({a_from}{a_inside})")
    for name, _, sums in text.rights:
        text.add(f"    {name} = tl.load({b_from.format(name)}{b_inside})", f"    {sums} = {text.product('a', name, sums)}")
    if taps == 1:
        text.add(f"    a_at += {block_k * strides[0]}", *(f"    {name}_at += {block_k * strides[1]}" for name in rights))
