"""Small programs of one dispatch or a few, drawn from a seed: matmuls, convolutions, reductions, chains of scalar
operations, casts and moves, in the element types of gfx942. Used by emulated_programs.py."""
import random

FLOATS = ("f32", "f16", "bf16", "f64")
SMALL_FLOATS = ("f8E4M3FNUZ", "f8E5M2FNUZ")
INTEGERS = ("i8", "i16", "i32", "i64")
# Relative tolerance by the narrowest type that a program rounds to.
TOLERANCE = {"f64": 1e-6, "f32": 1e-3, "f16": 2e-2, "bf16": 1e-1, "f8E4M3FNUZ": 2e-1, "f8E5M2FNUZ": 4e-1}
# numpy has no such types: they cross the border as integers.
CARRIERS = {"bf16": "i16", "f8E4M3FNUZ": "i8", "f8E5M2FNUZ": "i8"}
UNARY = ("exp", "exp2", "expm1", "log", "log2", "log1p", "tanh", "erf", "sqrt", "rsqrt", "sin", "cos", "atan")
# Not continuous: only of arguments, which both sides have alike.
STEPS = ("floor", "ceil", "round", "roundeven", "trunc", "absf")
INTEGER_BINARY = ("addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui")
INTEGER_UNARY = ("ctlz", "cttz", "ctpop", "absi")


def is_float(element):
    return not element.startswith("i")


def tensor(shape, element):
    return f'tensor<{"x".join([*map(str, shape), element])}>'


class Program:
    """One function: `text`, `arguments` and `results` as (shape, element type), `tolerance` (0: exact)."""

    def __init__(self, name, seed, kind=None):
        self.random = random.Random(seed)
        self.name, self.lines, self.arguments, self.results, self.values = name, [], [], [], 0
        self.narrowest = []  # float types that results were rounded to
        self.integral = True  # arguments are small integers and all sums exact
        kinds = ("matmul", "matmul", "matmul", "convolution", "reduction", "reduction", "softmax", "floats", "floats",
                 "integers", "integers", "casts", "moves", "gather", "normalisation", "pooling", "index_of_largest", "attention", "scan", "sort")
        # Not drawn, but by --kind: "scatter" of one column, "largest_few" and exclusive scans. IREE 3.13 has two waves do
        # the work of one there, on the same memory without a barrier; the emulator shows the race.
        self.kind = kind or self.random.choice(kinds)
        getattr(self, self.kind)()
        arguments = ", ".join(f"%a{i}: {tensor(s, CARRIERS.get(e, e))}" for i, (s, e) in enumerate(self.arguments))
        heads = [f"  %c{i} = tensor.bitcast %a{i} : {tensor(s, CARRIERS.get(e, e))} to {tensor(s, e)}"
                 for i, (s, e) in enumerate(self.arguments) if e in CARRIERS]
        tails, names, types = [], [], []
        for i, (value, shape, element) in enumerate(self.values_out):
            carrier = CARRIERS.get(element, element)
            if carrier != element:
                tails.append(f"  %r{i} = tensor.bitcast {value} : {tensor(shape, element)} to {tensor(shape, carrier)}")
                value = f"%r{i}"
            names.append(value)
            types.append(tensor(shape, carrier))
            self.results.append((shape, element))
        body = "\n".join([*heads, *self.lines, *tails])
        self.text = (f'func.func @{name}({arguments}) -> ({", ".join(types)}) {{\n{body}\n'
                     f'  return {", ".join(names)} : {", ".join(types)}\n}}\n')

    # Builders.
    def pick(self, *choices):
        return self.random.choice(choices)

    def size(self, most=130):
        return self.random.choice((self.random.randint(1, most), self.random.choice((16, 32, 64, 128))))

    def value(self, line):
        self.values += 1
        self.lines.append(f"  %v{self.values} = {line}")
        return f"%v{self.values}"

    def argument(self, shape, element):
        self.arguments.append((tuple(shape), element))
        index = len(self.arguments) - 1
        return f"%c{index}" if element in CARRIERS else f"%a{index}"

    def out(self, value, shape, element):
        self.values_out = [*getattr(self, "values_out", []), (value, tuple(shape), element)]

    def filled(self, shape, element, constant=0):
        literal = float(constant) if is_float(element) else constant
        if constant in ("-inf", "inf"):
            literal = {"f16": "0xFC00", "bf16": "0xFF80", "f32": "0xFF800000", "f64": "0xFFF0000000000000"}[element]
        zero = self.value(f"arith.constant {literal} : {element}")
        empty = self.value(f"tensor.empty() : {tensor(shape, element)}")
        type_ = tensor(shape, element)
        return self.value(f"linalg.fill ins({zero} : {element}) outs({empty} : {type_}) -> {type_}")

    def generic(self, operands, maps, iterators, shape, element, body, init=None):
        """operands: (value, shape, element). body: a function of names that returns lines and the value to yield."""
        init = init or self.value(f"tensor.empty() : {tensor(shape, element)}")
        ranks = ", ".join(f"d{i}" for i in range(len(iterators)))
        spelled = ", ".join(f"affine_map<({ranks}) -> ({', '.join(each)})>" for each in maps)
        names = [f"%x{i}" for i in range(len(operands))]
        heads = ", ".join([f"{n}: {o[2]}" for n, o in zip(names, operands)] + [f"%o: {element}"])
        lines, result = body(*names, "%o")
        inner = "\n".join(f"    {line}" for line in lines)
        ins = ", ".join(o[0] for o in operands)
        types = ", ".join(tensor(o[1], o[2]) for o in operands)
        loops = ", ".join(f'"{each}"' for each in iterators)
        type_ = tensor(shape, element)
        inputs = f"ins({ins} : {types}) " if operands else ""
        return self.value(f"linalg.generic {{indexing_maps = [{spelled}], iterator_types = [{loops}]}} {inputs}"
                          f"outs({init} : {type_}) {{\n  ^bb0({heads}):\n{inner}\n    linalg.yield {result} : {element}\n"
                          f"  }} -> {type_}")

    def mapped(self, operands, shape, element, body):
        dims = [f"d{i}" for i in range(len(shape))]
        return self.generic(operands, [dims] * (len(operands) + 1), ["parallel"] * len(shape), shape, element, body)

    @property
    def tolerance(self):
        if self.integral or not self.narrowest:
            return 0
        return max(TOLERANCE[each] for each in self.narrowest)

    # Kinds.
    def matmul(self):
        left, right, result = self.pick(("f16", "f16", "f32"), ("bf16", "bf16", "f32"), ("f32", "f32", "f32"),
                                        ("i8", "i8", "i32"), ("f64", "f64", "f64"), ("f8E4M3FNUZ", "f8E4M3FNUZ", "f32"),
                                        ("f8E5M2FNUZ", "f8E5M2FNUZ", "f32"))
        m, n, k = self.size(), self.size(), self.size()
        batch = self.pick([], [], [self.random.randint(2, 4)])
        layout = self.pick("nn", "nt", "tn")
        b = ["d0"] if batch else []
        i, j, r = (f"d{len(b) + x}" for x in range(3))
        shapes = {"nn": ([m, k], [k, n]), "nt": ([m, k], [n, k]), "tn": ([k, m], [k, n])}[layout]
        maps = {"nn": ([i, r], [r, j]), "nt": ([i, r], [j, r]), "tn": ([r, i], [r, j])}[layout]
        x = self.argument(batch + shapes[0], left)
        y = self.argument(batch + shapes[1], right)
        shape = batch + [m, n]

        def body(p, q, o):
            if is_float(result):
                lines = [f"%p = arith.extf {p} : {left} to {result}" if left != result else "",
                         f"%q = arith.extf {q} : {right} to {result}" if right != result else ""]
                p, q = (p if left == result else "%p"), (q if right == result else "%q")
                return [*lines, f"%m = arith.mulf {p}, {q} : {result}", f"%s = arith.addf {o}, %m : {result}"], "%s"
            return [f"%p = arith.extsi {p} : {left} to {result}", f"%q = arith.extsi {q} : {right} to {result}",
                    f"%m = arith.muli %p, %q : {result}", f"%s = arith.addi {o}, %m : {result}"], "%s"
        product = self.generic([(x, batch + shapes[0], left), (y, batch + shapes[1], right)],
                               [b + maps[0], b + maps[1], b + [i, j]], ["parallel"] * (len(b) + 2) + ["reduction"], shape,
                               result, body, self.filled(shape, result))
        if is_float(result) and self.random.random() < 0.6:
            epilogue = self.pick("relu", "tanh", "truncate", "bias") if result == "f32" else "bias"
            bias = self.argument([n], result) if epilogue == "bias" else None
            if epilogue == "truncate":
                narrow = self.pick("f16", "bf16")
                self.integral = False
                self.narrowest.append(narrow)
                product = self.mapped([(product, shape, result)], shape, narrow,
                                      lambda p, o: ([f"%t = arith.truncf {p} : {result} to {narrow}"], "%t"))
                result = narrow
            elif epilogue == "tanh":
                self.integral = False
                self.narrowest.append(result)
                product = self.mapped([(product, shape, result)], shape, result, lambda p, o: (
                    [f"%k = arith.constant 0.01 : {result}", f"%w = arith.mulf {p}, %k : {result}",
                     f"%t = math.tanh %w : {result}"], "%t"))
            elif bias:
                dims = [f"d{x}" for x in range(len(shape))]
                product = self.generic([(product, shape, result), (bias, [n], result)], [dims, dims[-1:], dims],
                                       ["parallel"] * len(shape), shape, result,
                                       lambda p, q, o: ([f"%t = arith.addf {p}, {q} : {result}"], "%t"))
            else:
                product = self.mapped([(product, shape, result)], shape, result, lambda p, o: (
                    [f"%k = arith.constant 0.0 : {result}", f"%t = arith.maximumf {p}, %k : {result}"], "%t"))
        self.out(product, shape, result)

    def convolution(self):
        element, result = self.pick(("f32", "f32"), ("f16", "f32"), ("i8", "i32"), ("bf16", "f32"))
        channels, filters = self.pick(1, 3, 8, 16, 20), self.pick(4, 8, 16, 33)
        height, width = self.random.randint(7, 20), self.random.randint(7, 20)
        side, stride = self.pick(1, 3), self.pick(1, 2)
        x = self.argument([1, height, width, channels], element)
        w = self.argument([side, side, channels, filters], element)
        shape = [1, (height - side) // stride + 1, (width - side) // stride + 1, filters]
        init = self.filled(shape, result)
        self.out(self.value(
            f"linalg.conv_2d_nhwc_hwcf {{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}} "
            f"ins({x}, {w} : {tensor([1, height, width, channels], element)}, "
            f"{tensor([side, side, channels, filters], element)}) outs({init} : {tensor(shape, result)}) "
            f"-> {tensor(shape, result)}"), shape, result)

    def reduction(self):
        element = self.pick(*FLOATS, "i32", "i64")
        shape = [self.size(40), self.size(600)]
        kept = self.pick(0, 1)
        operation = self.pick("sum", "largest")
        x = self.argument(shape, element)
        wide = "f32" if element in ("f16", "bf16") else element
        extend = [f"%e = arith.extf %x0 : {element} to {wide}"] if wide != element else []
        value = "%e" if extend else "%x0"
        if operation == "sum":
            add = "arith.addf" if is_float(wide) else "arith.addi"
            init, lines = self.filled([shape[kept]], wide), [*extend, f"%s = {add} {value}, %o : {wide}"]
        else:
            larger = "arith.maximumf" if is_float(wide) else "arith.maxsi"
            init, lines = self.filled([shape[kept]], wide, -100), [*extend, f"%s = {larger} {value}, %o : {wide}"]
        iterators = ["reduction", "reduction"]
        iterators[kept] = "parallel"
        self.out(self.generic([(x, shape, element)], [["d0", "d1"], [f"d{kept}"]], iterators, [shape[kept]], wide,
                              lambda *_: (lines, "%s"), init), [shape[kept]], wide)

    def softmax(self):
        element = "f32"  # f16 needs a function that IREE's CPU code lacks
        shape = [self.size(40), self.size(300)]
        self.integral = False
        self.narrowest.append(element)
        x = self.argument(shape, element)
        empty = self.value(f"tensor.empty() : {tensor(shape, element)}")
        type_ = tensor(shape, element)
        self.out(self.value(f"linalg.softmax dimension(1) ins({x} : {type_}) outs({empty} : {type_}) -> {type_}"),
                 shape, element)

    def normalisation(self):
        element = self.pick("f32", "f16")
        shape = [self.size(40), self.size(300)]
        rows = [shape[0]]
        self.integral = False
        self.narrowest.append(element)
        x = self.argument(shape, element)
        extend = [f"%e = arith.extf %x0 : f16 to f32"] if element == "f16" else ["%k0 = arith.constant 0.0 : f32",
                                                                              "%e = arith.addf %x0, %k0 : f32"]
        squares = self.generic([(x, shape, element)], [["d0", "d1"], ["d0"]], ["parallel", "reduction"], rows, "f32",
                               lambda *_: ([*extend, "%m = arith.mulf %e, %e : f32", "%s = arith.addf %m, %o : f32"], "%s"),
                               self.filled(rows, "f32"))
        shrink = [f"%r = arith.truncf %q : f32 to f16"] if element == "f16" else []
        self.out(self.generic([(x, shape, element), (squares, rows, "f32")], [["d0", "d1"], ["d0"], ["d0", "d1"]],
                              ["parallel", "parallel"], shape, element, lambda *_: (
                                  [*extend, "%k = arith.constant 1.0 : f32", "%a = arith.addf %x1, %k : f32",
                                   "%w = math.rsqrt %a : f32", "%q = arith.mulf %e, %w : f32", *shrink],
                                  "%r" if shrink else "%q")), shape, element)

    def floats(self):
        element = self.pick(*FLOATS)
        shape = [self.size(60), self.size(60)]
        self.integral = False
        self.narrowest.append(element)
        x, y = self.argument(shape, element), self.argument(shape, element)
        lines, value = [], "%x0"

        def add(line):
            lines.append(f"%s{len(lines)} = {line} : {element}")
            return f"%s{len(lines) - 1}"
        if self.random.random() < 0.4:
            value = add(f"math.{self.random.choice(STEPS)} {value}")
        for _ in range(self.random.randint(1, 4)):
            # IREE's CPU code lacks most functions of f64; its code for gfx942 makes copysign of f64 NaN.
            unary = UNARY if element != "f64" else ("sqrt", "rsqrt")
            operation = self.random.choice((*unary, "addf", "subf", "mulf", "divf", "maximumf", "minimumf", "fma",
                                            "select", *(["pow", "copysign"] if element != "f64" else [])))
            one = add("arith.constant 1.0")
            # Into a range where every function is smooth: 1 + x / 8 squared and cut off.
            if operation in UNARY:
                bounded = add(f"arith.divf {value}, {add('arith.addf ' + add('math.absf ' + value) + ', ' + one)}")
                argument = add(f"arith.addf {bounded}, {add('arith.constant 1.5')}")
                if operation in ("sin", "cos", "atan", "erf", "tanh"):
                    argument = value
                value = add(f"math.{operation} {argument}")
            elif operation == "divf":
                positive = add(f"arith.addf {add('math.absf %x1')}, {one}")
                value = add(f"arith.divf {value}, {positive}")
            elif operation == "pow":
                base = add(f"arith.addf {add('math.tanh ' + value)}, {add('arith.constant 1.5')}")
                value = add(f"math.powf {base}, {add('arith.constant 1.7')}")
            elif operation == "fma":
                value = add(f"math.fma {value}, %x1, {one}")
            elif operation == "copysign":
                value = add(f"math.copysign {value}, %x1")
            elif operation == "select":
                lines.append(f"%b{len(lines)} = arith.cmpf {self.pick('olt', 'oge', 'une', 'oeq')}, %x0, %x1 : {element}")
                value = add(f"arith.select %b{len(lines) - 1}, {value}, %x1")
            else:
                value = add(f"arith.{operation} {value}, %x1")
        self.out(self.mapped([(x, shape, element), (y, shape, element)], shape, element, lambda *_: (lines, value)),
                 shape, element)

    def integers(self):
        element = self.pick(*INTEGERS)
        shape = [self.size(60), self.size(60)]
        x, y = self.argument(shape, element), self.argument(shape, element)
        lines, value = [], "%x0"

        def add(line):
            lines.append(f"%s{len(lines)} = {line} : {element}")
            return f"%s{len(lines) - 1}"
        for _ in range(self.random.randint(2, 6)):
            operation = self.random.choice((*INTEGER_BINARY, *INTEGER_UNARY, "division", "shift", "select"))
            if operation in INTEGER_UNARY:
                value = add(f"math.{operation} {value}")
            elif operation == "division":
                # Never by 0 or -1: both are undefined.
                positive = add(f"arith.addi {add(f'arith.andi %x1, ' + add('arith.constant 15'))}, {add('arith.constant 2')}")
                value = add(f"arith.{self.pick('divsi', 'divui', 'remsi', 'remui')} {value}, {positive}")
            elif operation == "shift":
                amount = add(f"arith.andi %x1, {add('arith.constant 7')}")
                value = add(f"arith.{self.pick('shli', 'shrsi', 'shrui')} {value}, {amount}")
            elif operation == "select":
                predicate = self.pick("slt", "sge", "ult", "ugt", "eq", "ne")
                lines.append(f"%b{len(lines)} = arith.cmpi {predicate}, {value}, %x1 : {element}")
                value = add(f"arith.select %b{len(lines) - 1}, {value}, %x1")
            else:
                value = add(f"arith.{operation} {value}, %x1")
        self.out(self.mapped([(x, shape, element), (y, shape, element)], shape, element, lambda *_: (lines, value)),
                 shape, element)

    def casts(self):
        source, target = self.random.sample((*FLOATS, *SMALL_FLOATS, *INTEGERS), 2)
        shape = [self.size(60), self.size(60)]
        x = self.argument(shape, source)
        width = lambda e: {"f8E4M3FNUZ": 8, "f8E5M2FNUZ": 8, "bf16": 16}.get(e) or int(e[1:])
        if is_float(source) and is_float(target):
            lines, value = [], "%x0"
            if source in SMALL_FLOATS and width(target) == 16:  # not defined for all compilers: by way of f32
                lines, value = [f"%w = arith.extf %x0 : {source} to f32", f"%t = arith.truncf %w : f32 to {target}"], "%t"
            elif width(source) != width(target):
                operation = "extf" if width(source) < width(target) else "truncf"
                lines, value = [f"%t = arith.{operation} %x0 : {source} to {target}"], "%t"
            else:
                lines, value = [f"%w = arith.extf %x0 : {source} to f32", f"%t = arith.truncf %w : f32 to {target}"], "%t"
        elif is_float(source):
            # Within the range of the integer, of which the rest is undefined.
            lines, value = [f"%t = arith.fptosi %x0 : {source} to {target}"], "%t"
        elif is_float(target):
            if width(target) == 8:  # not defined for all compilers: by way of f32
                lines, value = [f"%w = arith.sitofp %x0 : {source} to f32", f"%t = arith.truncf %w : f32 to {target}"], "%t"
            else:
                lines, value = [f"%t = arith.{self.pick('sitofp', 'uitofp')} %x0 : {source} to {target}"], "%t"
        else:
            operation = self.pick("extsi", "extui") if width(source) < width(target) else "trunci"
            lines, value = [f"%t = arith.{operation} %x0 : {source} to {target}"], "%t"
        self.out(self.mapped([(x, shape, source)], shape, target, lambda *_: (lines, value)), shape, target)

    def moves(self):
        element = self.pick("f32", "f16", "i8", "i32", "i64", "bf16")
        rows, columns = self.size(), self.size()
        x = self.argument([rows, columns], element)
        turned = self.generic([(x, [rows, columns], element)], [["d1", "d0"], ["d0", "d1"]], ["parallel"] * 2, [columns, rows],
                              element, lambda p, o: ([], p))
        shape = [columns, rows]
        if self.random.random() < 0.5:
            low, high = self.random.randint(0, 3), self.random.randint(1, 5)
            zero = self.value(f"arith.constant {'0.0' if is_float(element) else '0'} : {element}")
            padded = [columns + low + high, rows + high]
            turned = self.value(f"tensor.pad {turned} low[{low}, 0] high[{high}, {high}] {{\n  ^bb0(%i: index, %j: index):\n"
                                f"    tensor.yield {zero} : {element}\n  }} : {tensor(shape, element)} to {tensor(padded, element)}")
            shape = padded
        elif min(shape) > 2:
            cut = [shape[0] - 1, shape[1] // 2]
            turned = self.value(f"tensor.extract_slice {turned}[1, 1] [{cut[0]}, {cut[1]}] [1, 1] : {tensor(shape, element)} "
                                f"to {tensor(cut, element)}")
            shape = cut
        self.out(turned, shape, element)

    def gather(self):
        element = self.pick("f32", "f16", "i32", "i8")
        rows, columns, picked = self.size(), self.size(60), self.size(60)
        x = self.argument([rows, columns], element)
        index = self.argument([picked], "i32")
        type_ = tensor([rows, columns], element)
        self.out(self.generic([(index, [picked], "i32")], [["d0"], ["d0", "d1"]], ["parallel"] * 2, [picked, columns], element,
                              lambda p, o: ([f"%k = arith.constant {rows} : i32", f"%u = arith.remui {p}, %k : i32",
                                             "%r = arith.index_castui %u : i32 to index", "%c = linalg.index 1 : index",
                                             f"%t = tensor.extract {x}[%r, %c] : {type_}"], "%t")), [picked, columns], element)

    def pooling(self):
        element = self.pick("f32", "f16", "i32")
        height, width, channels = self.random.randint(6, 20), self.random.randint(6, 20), self.pick(1, 7, 16, 32)
        x = self.argument([1, height, width, channels], element)
        window = self.value(f"tensor.empty() : {tensor([3, 3], element)}")
        shape = [1, height - 2, width - 2, channels]
        kind, start = self.pick(("max", -100), ("sum", 0)) if is_float(element) else ("max", -100)
        init = self.filled(shape, element, start)
        self.out(self.value(f"linalg.pooling_nhwc_{kind} {{dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}} "
                            f"ins({x}, {window} : {tensor([1, height, width, channels], element)}, {tensor([3, 3], element)}) "
                            f"outs({init} : {tensor(shape, element)}) -> {tensor(shape, element)}"), shape, element)

    def index_of_largest(self):
        rows, columns = self.size(40), self.size(300)
        x = self.argument([rows, columns], "f32")
        best, place = self.filled([rows], "f32", -100), self.filled([rows], "i64")
        row, f, i = tensor([rows], "f32"), tensor([rows], "f32"), tensor([rows], "i64")
        self.values += 1
        pair = f"%v{self.values}"
        self.lines.append(
            f"""  {pair}:2 = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
      affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}} ins({x} : {tensor([rows, columns], 'f32')})
      outs({best}, {place} : {f}, {i}) {{
  ^bb0(%x0: f32, %o: f32, %p: i64):
    %n = linalg.index 1 : index
    %w = arith.index_cast %n : index to i64
    %g = arith.cmpf ogt, %x0, %o : f32
    %m = arith.select %g, %x0, %o : f32
    %q = arith.select %g, %w, %p : i64
    linalg.yield %m, %q : f32, i64
  }} -> ({f}, {i})""")
        self.out(f"{pair}#0", [rows], "f32")
        self.out(f"{pair}#1", [rows], "i64")

    def extension(self, operation, result_types, bodies, yielded):
        """An operation of IREE's own dialect with a body of scalars."""
        return self.value(f"iree_linalg_ext.{operation} {{\n  ^bb0({bodies}):\n{yielded}\n  }} -> {result_types}")

    def attention(self):
        element = self.pick("f16", "bf16", "f32")
        batch, rows, keys, width = self.random.randint(1, 3), self.size(100), self.size(100), self.pick(16, 32, 64, 31)
        self.integral = False
        self.narrowest.append(element)
        shapes = [batch, rows, width], [batch, keys, width], [batch, keys, width]
        q, k, v = (self.argument(shape, element) for shape in shapes)
        scale = self.value(f"arith.constant 0.125 : {element}")
        empty = self.value(f"tensor.empty() : {tensor(shapes[0], element)}")
        loops = "affine_map<(b, m, d, k, n) -> "
        maps = ", ".join(loops + each for each in ("(b, m, k)>", "(b, n, k)>", "(b, n, d)>", "()>", "(b, m, d)>"))
        types = ", ".join(tensor(shape, element) for shape in shapes)
        self.out(self.extension(f"attention <{{indexing_maps = [{maps}]}}> ins({q}, {k}, {v}, {scale} : {types}, {element}) "
                                f"outs({empty} : {tensor(shapes[0], element)})", tensor(shapes[0], element), "%score: f32",
                                "    iree_linalg_ext.yield %score : f32"), shapes[0], element)

    def scan(self):
        element = self.pick("i32", "f32")
        rows, columns = self.size(20), self.size(200)
        x = self.argument([rows, columns], element)
        empty = self.value(f"tensor.empty() : {tensor([rows, columns], element)}")
        start = self.filled([rows], element)
        types = f"{tensor([rows, columns], element)}, {tensor([rows], element)}"
        add = "arith.addi" if element == "i32" else "arith.addf"
        self.out(self.extension(f"scan dimension(1) inclusive(true) ins({x} : "
                                f"{tensor([rows, columns], element)}) outs({empty}, {start} : {types})", types,
                                f"%p: {element}, %q: {element}", f"    %s = {add} %p, %q : {element}\n"
                                f"    iree_linalg_ext.yield %s : {element}") + "#0", [rows, columns], element)
        self.lines[-1] = self.lines[-1].replace(" =", ":2 =", 1)

    def sort(self):
        element = self.pick("i32", "f32", "i8")
        rows, columns = self.size(10), self.size(60)
        x = self.argument([rows, columns], element)
        type_ = tensor([rows, columns], element)
        compare = f"arith.cmpi slt, %p, %q : {element}" if element != "f32" else "arith.cmpf olt, %p, %q : f32"
        self.out(self.extension(f"sort dimension(1) outs({x} : {type_})", type_, f"%p: {element}, %q: {element}",
                                f"    %s = {compare}\n    iree_linalg_ext.yield %s : i1"), [rows, columns], element)

    def scatter(self):
        element = self.pick("i32", "f32")
        rows, columns, updates = self.size(100), self.size(40), self.pick(1, 3, 8)
        onto = self.argument([rows + 8, columns], element)
        new = self.argument([updates, columns], element)
        # Rows 0, 1, 2, ...: each once.
        index = self.generic([], [["d0", "d1"]], ["parallel"] * 2, [updates, 1], "i32", lambda o: (
            ["%i = linalg.index 0 : index", "%w = arith.index_cast %i : index to i32"], "%w"))
        add = "arith.addi" if element == "i32" else "arith.addf"
        type_ = tensor([rows + 8, columns], element)
        self.out(self.extension(f"scatter dimension_map = [0] unique_indices(true) ins({new}, {index} : "
                                f"{tensor([updates, columns], element)}, {tensor([updates, 1], 'i32')}) outs({onto} : {type_})",
                                type_, f"%p: {element}, %q: {element}", f"    %s = {add} %p, %q : {element}\n"
                                f"    iree_linalg_ext.yield %s : {element}"), [rows + 8, columns], element)

    def largest_few(self):
        rows, columns, few = self.size(10), self.size(200) + 8, self.random.randint(1, 8)
        x = self.argument([rows, columns], "f32")
        # Among equal values the order is the compiler's: only the values are a result.
        values, places = self.filled([rows, few], "f32", -100), self.filled([rows, few], "i32")
        types = f"{tensor([rows, few], 'f32')}, {tensor([rows, few], 'i32')}"
        self.out(self.extension(f"topk dimension(1) ins({x} : {tensor([rows, columns], 'f32')}) outs({values}, {places} : {types})",
                                types, "%p: f32, %q: f32", "    %s = arith.cmpf ogt, %p, %q : f32\n"
                                "    iree_linalg_ext.yield %s : i1") + "#0", [rows, few], "f32")
        self.lines[-1] = self.lines[-1].replace(" =", ":2 =", 1)
