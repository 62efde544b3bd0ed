"""Whole programs, each right or with one of eight faults at its product: the text of the same function, drawn from a
seed. `Program(seed).text(fault)`; a fault is one of FAULTS, or None."""
import random

FAULTS = ("narrowed operands", "sums in bf16", "stale rows", "dropped bias", "shifted index", "missing k-tile",
          "swapped operand", "wrong scale")
KINDS = ("mlp", "softmax", "layer norm", "log", "mean", "gated", "attention", "shifted rows")


def tensor(*shape):
    return f'tensor<{"x".join(map(str, shape))}xf32>'


def constant(value):
    return f"{value:.9e}"


def in_bf16(source):
    """Lines that round %source to bf16 by its bits: the compiler drops a truncation with an extension behind it."""
    return [f"%bits = arith.bitcast %{source} : f32 to i32", "%half = arith.constant 32768 : i32",
            "%upper = arith.constant -65536 : i32", "%up = arith.addi %bits, %half : i32",
            "%kept = arith.andi %up, %upper : i32", "%y = arith.bitcast %kept : i32 to f32"]


class Program:
    """y = tail(act(A B + bias)) with A: m x k, B: k x n; the kind says which tail."""

    def __init__(self, seed):
        self.kind = KINDS[seed % len(KINDS)]
        draw = random.Random(seed)
        self.m, self.n, self.k = (draw.choice((32, 48, 64, 80)) for _ in range(3))
        self.k *= draw.choice((1, 2, 4))
        self.scale = draw.choice((0.125, 0.25, 1.0))
        self.values = 0
        self.lines = []

    def value(self, line):
        self.values += 1
        self.lines.append(f"  %v{self.values} = {line}")
        return f"%v{self.values}"

    def filled(self, number, *shape):
        c = self.value(f"arith.constant {number} : f32")
        e = self.value(f"tensor.empty() : {tensor(*shape)}")
        return self.value(f"linalg.fill ins({c} : f32) outs({e} : {tensor(*shape)}) -> {tensor(*shape)}")

    def loops(self, body, shape, *operands, init=None, iterators=None, rank=None):
        """`operands`: (value, dimensions of the loops that index it, shape)."""
        rank = rank or len(shape)
        names = ", ".join(f"d{i}" for i in range(rank))
        maps = [f"affine_map<({names}) -> ({', '.join(at)})>" for _, at, _ in operands]
        out = ", ".join(f"d{i}" for i in range(len(shape)))
        init = init or self.value(f"tensor.empty() : {tensor(*shape)}")
        iterators = iterators or ["parallel"] * rank
        arguments = ", ".join(f"%x{i}: f32" for i in range(len(operands)))
        words = ", ".join(f'"{each}"' for each in iterators)
        ins = ""
        if operands:
            ins = f"ins({', '.join(v for v, _, _ in operands)} : {', '.join(tensor(*s) for _, _, s in operands)}) "
        return self.value(
            f"linalg.generic {{indexing_maps = [{', '.join(maps + [f'affine_map<({names}) -> ({out})>'])}], "
            f"iterator_types = [{words}]}} {ins}outs({init} : {tensor(*shape)}) {{\n"
            f"  ^bb0({arguments}{', ' if arguments else ''}%o: f32):\n    " + "\n    ".join(body) +
            f"\n    linalg.yield %y : f32\n  }} -> {tensor(*shape)}")

    def each(self, body, shape, *values):
        at = [f"d{i}" for i in range(len(shape))]
        return self.loops(body, shape, *((v, at, shape) for v in values))

    def along_row(self, body, start, shape, value):
        """A reduction of each row of m x n."""
        return self.loops(body, shape[:1], (value, ["d0", "d1"], shape), init=self.filled(start, shape[0]),
                          iterators=["parallel", "reduction"], rank=2)

    def with_row(self, body, shape, value, row):
        return self.loops(body, shape, (value, ["d0", "d1"], shape), (row, ["d0"], shape[:1]))

    def product(self, a, b, shape, k, fault):
        m, n = shape
        if fault == "narrowed operands":
            narrow = in_bf16("x0")
            a, b = self.each(narrow, (m, k), a), self.each(narrow, (k, n), b)
        if fault == "shifted index":
            # Column j of B reads what belongs to j + 1, but for the last.
            tail = self.value(f"tensor.extract_slice {b}[0, 1] [{k}, {n - 1}] [1, 1] : {tensor(k, n)} to "
                              f"{tensor(k, n - 1)}")
            b = self.value(f"tensor.insert_slice {tail} into {b}[0, 0] [{k}, {n - 1}] [1, 1] : "
                           f"{tensor(k, n - 1)} into {tensor(k, n)}")
        body = ["%p = arith.mulf %x0, %x1 : f32", "%y = arith.addf %o, %p : f32"]
        if fault == "sums in bf16":
            body[1:] = ["%s = arith.addf %o, %p : f32"] + in_bf16("s")
        used = k - 8 if fault == "missing k-tile" else k
        if used < k:
            a = self.value(f"tensor.extract_slice {a}[0, 0] [{m}, {used}] [1, 1] : {tensor(m, k)} to {tensor(m, used)}")
            b = self.value(f"tensor.extract_slice {b}[0, 0] [{used}, {n}] [1, 1] : {tensor(k, n)} to {tensor(used, n)}")
        return self.loops(body, (m, n), (a, ["d0", "d2"], (m, used)), (b, ["d2", "d1"], (used, n)),
                          init=self.filled("0.0", m, n), iterators=["parallel", "parallel", "reduction"], rank=3)

    def biased(self, value, shape, fault):
        bias, other = ("%gain", "%bias") if fault == "swapped operand" else ("%bias", "%gain")
        body = [f"%c = arith.constant {constant(self.scale * (1.01 if fault == 'wrong scale' else 1))} : f32",
                "%s = arith.mulf %x0, %c : f32", "%g = arith.mulf %s, %x2 : f32", "%y = arith.addf %g, %x1 : f32"]
        if fault == "dropped bias":
            body[-1] = "%y = arith.addf %g, %zero : f32"
            body.insert(0, "%zero = arith.constant 0.0 : f32")
        column = ["d1"]
        return self.loops(body, shape, (value, ["d0", "d1"], shape), (bias, column, shape[1:]),
                          (other, column, shape[1:]))

    def head(self, fault):
        """The faulty part: m x n numbers."""
        m, n, k = self.m, self.n, self.k
        a, b, shape = "%a", "%b", (m, n)
        if self.kind == "shifted rows":
            # Behind a shift by one row, as a convolution in the form of a product has it.
            top = self.value(f"tensor.extract_slice %a[1, 0] [{m - 1}, {k}] [1, 1] : {tensor(m, k)} to "
                             f"{tensor(m - 1, k)}")
            a = self.value(f"tensor.insert_slice {top} into %a[0, 0] [{m - 1}, {k}] [1, 1] : {tensor(m - 1, k)} into "
                           f"{tensor(m, k)}")
        return self.biased(self.product(a, b, shape, k, fault), shape, fault)

    def tail(self, x):
        shape, m, n = (self.m, self.n), self.m, self.n
        if self.kind == "mlp":
            return self.each(["%zero = arith.constant 0.0 : f32", "%y = arith.maximumf %x0, %zero : f32"], shape, x)
        if self.kind in ("softmax", "attention"):
            cold = self.each(["%c = arith.constant 0.05 : f32", "%y = arith.mulf %x0, %c : f32"], shape, x)
            most = self.along_row(["%y = arith.maximumf %x0, %o : f32"], "-1.0e30", shape, cold)
            grown = self.with_row(["%d = arith.subf %x0, %x1 : f32", "%y = math.exp %d : f32"], shape, cold, most)
            total = self.along_row(["%y = arith.addf %x0, %o : f32"], "0.0", shape, grown)
            share = self.with_row(["%y = arith.divf %x0, %x1 : f32"], shape, grown, total)
            if self.kind == "softmax":
                return share
            return self.loops(["%p = arith.mulf %x0, %x1 : f32", "%y = arith.addf %o, %p : f32"], (m, m),
                              (share, ["d0", "d2"], shape), (x, ["d1", "d2"], shape),
                              init=self.filled("0.0", m, m), iterators=["parallel", "parallel", "reduction"], rank=3)
        if self.kind == "layer norm":
            total = self.along_row(["%y = arith.addf %x0, %o : f32"], "0.0", shape, x)
            centred = self.with_row([f"%c = arith.constant {constant(1 / n)} : f32", "%q = arith.mulf %x1, %c : f32",
                                     "%y = arith.subf %x0, %q : f32"], shape, x, total)
            square = self.along_row(["%s = arith.mulf %x0, %x0 : f32", "%y = arith.addf %s, %o : f32"], "0.0", shape,
                                    centred)
            return self.with_row([f"%c = arith.constant {constant(1 / n)} : f32", "%q = arith.mulf %x1, %c : f32",
                                  "%e = arith.constant 1.0e-5 : f32", "%w = arith.addf %q, %e : f32",
                                  "%r = math.rsqrt %w : f32", "%y = arith.mulf %x0, %r : f32"], shape, centred, square)
        if self.kind == "log":
            return self.each(["%s = arith.mulf %x0, %x0 : f32", "%e = arith.constant 1.0e-10 : f32",
                              "%w = arith.maximumf %s, %e : f32", "%y = math.log %w : f32"], shape, x)
        if self.kind == "mean":
            total = self.along_row(["%z = math.absf %x0 : f32", "%y = arith.addf %z, %o : f32"], "0.0", shape, x)
            return self.with_row([f"%c = arith.constant {constant(1 / n)} : f32", "%q = arith.mulf %x1, %c : f32",
                                  "%h = math.absf %x0 : f32", "%t = math.tanh %h : f32",
                                  "%y = arith.addf %q, %t : f32"], shape, x, total)
        if self.kind == "gated":
            return self.each(["%one = arith.constant 1.0 : f32", "%n = arith.negf %x0 : f32", "%g = math.exp %n : f32",
                              "%d = arith.addf %g, %one : f32", "%y = arith.divf %x0, %d : f32"], shape, x)
        return self.each(["%t = math.erf %x0 : f32", "%y = arith.addf %x0, %t : f32"], shape, x)

    def result_shape(self):
        return (self.m, self.m) if self.kind == "attention" else (self.m, self.n)

    def text(self, fault=None):
        self.values, self.lines = 0, []
        result, shape = self.tail(self.head(fault)), self.result_shape()
        if fault == "stale rows":
            # The first eight rows are those of other inputs, as of a launch before.
            other = self.each(["%c = arith.constant 0.9 : f32", "%y = arith.mulf %x0, %c : f32"], shape, result)
            rows = self.value(f"tensor.extract_slice {other}[0, 0] [8, {shape[1]}] [1, 1] : {tensor(*shape)} to "
                              f"{tensor(8, shape[1])}")
            result = self.value(f"tensor.insert_slice {rows} into {result}[0, 0] [8, {shape[1]}] [1, 1] : "
                                f"{tensor(8, shape[1])} into {tensor(*shape)}")
        arguments = (f"%a: {tensor(self.m, self.k)}, %b: {tensor(self.k, self.n)}, %bias: {tensor(self.n)}, "
                     f"%gain: {tensor(self.n)}")
        return (f"func.func @main({arguments}) -> {tensor(*shape)} {{\n" + "\n".join(self.lines) +
                f"\n  return {result} : {tensor(*shape)}\n}}\n")
