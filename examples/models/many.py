"""A program of any number of launches, written as linalg operations."""
import random

from builder import GLOBAL_STAYS, require


def widths_of(launches, distinct, gigabytes):
    """Widths that all differ, so that the products from one to the next all do, in a shuffled ring."""
    mean = (gigabytes * 1e9 / 4 / launches) ** 0.5
    for multiple in (16, 8, 4, 2, 1):
        widths = [max(1, round(mean * (0.5 + i / max(1, distinct - 1)) / multiple)) * multiple
                  for i in range(distinct)]
        if len(set(widths)) == distinct:
            random.Random(0).shuffle(widths)
            return widths
    raise ValueError(f"{gigabytes} GB in {launches} launches are too small for {distinct} distinct ones")


def many(path, launches=2000, distinct=140, gigabytes=5.0, rows=64):
    """A chain of products with weights of their own: --launches of them, --distinct different ones."""
    require(launches >= distinct, f"{launches} launches cannot be {distinct} distinct ones")
    widths = widths_of(launches, distinct, gigabytes)
    matrix, same = "affine_map<(d0, d1) -> (d0, d1)>", '["parallel", "parallel"]'
    with open(path, "w", encoding="ascii") as file:
        for launch in range(launches):
            depth, width = widths[launch % distinct], widths[(launch + 1) % distinct]
            # The outputs are the mean of the inputs; no two weights are equal and would be merged.
            file.write(f"util.global private @weight_{launch} {GLOBAL_STAYS} = "
                       f"dense<{(1 + launch * 1e-6) / depth:.9e}> : tensor<{depth}x{width}xf32>\n")
        last = widths[launches % distinct]
        file.write(f"func.func @many(%x0: tensor<{rows}x{widths[0]}xf32>) -> tensor<{rows}x{last}xf32> {{\n"
                   "  %zero = arith.constant 0.0 : f32\n")
        for launch in range(launches):
            depth, width = widths[launch % distinct], widths[(launch + 1) % distinct]
            x, w = f"tensor<{rows}x{depth}xf32>", f"tensor<{depth}x{width}xf32>"
            y = f"tensor<{rows}x{width}xf32>"
            file.write(
                f"  %w{launch} = util.global.load @weight_{launch} : {w}\n"
                f"  %e{launch} = tensor.empty() : {y}\n"
                f"  %f{launch} = linalg.fill ins(%zero : f32) outs(%e{launch} : {y}) -> {y}\n"
                f"  %p{launch} = linalg.matmul ins(%x{launch}, %w{launch} : {x}, {w})"
                f" outs(%f{launch} : {y}) -> {y}\n"
                f"  %x{launch + 1} = linalg.generic {{indexing_maps = [{matrix}, {matrix}],"
                f" iterator_types = {same}}} ins(%p{launch} : {y}) outs(%e{launch} : {y}) {{\n"
                "  ^bb0(%in: f32, %out: f32):\n"
                "    %a = math.absf %in : f32\n"
                "    linalg.yield %a : f32\n"
                f"  }} -> {y}\n")
        file.write(f"  return %x{launches} : tensor<{rows}x{last}xf32>\n}}\n")
