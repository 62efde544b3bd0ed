"""The values behind a kernel's sums as Triton computes them, each rounded as its operation says."""

# Type names in code and in signatures, and sizes in bytes; truth values are bytes in memory.
TYPES = {"i1": ("tl.int1", "i8", 1), "i8": ("tl.int8", "i8", 1), "i16": ("tl.int16", "i16", 2),
          "i32": ("tl.int32", "i32", 4), "i64": ("tl.int64", "i64", 8), "f16": ("tl.float16", "fp16", 2),
          "bf16": ("tl.bfloat16", "bf16", 2), "f32": ("tl.float32", "fp32", 4)}
FLOATS = ("f16", "bf16", "f32")
_ARITHMETIC = {"addf": "+", "subf": "-", "mulf": "*", "addi": "+", "subi": "-", "muli": "*"}
# Modulo two, sums and differences are the exclusive or.
_ARITHMETIC_OF_BITS = {"addi": "^", "subi": "^", "muli": "&", "andi": "&", "ori": "|", "xori": "^"}
_CHOICES = {"maximumf": "tl.maximum({}, {}, propagate_nan=tl.PropagateNan.ALL)",
            "minimumf": "tl.minimum({}, {}, propagate_nan=tl.PropagateNan.ALL)",
            "maxnumf": "tl.maximum({}, {})", "minnumf": "tl.minimum({}, {})",
            "maxsi": "tl.maximum({}, {})", "minsi": "tl.minimum({}, {})",
            "andi": "({} & {})", "ori": "({} | {})", "xori": "({} ^ {})"}
# Functions that are computed in f32 and rounded to the operation's type. Triton's own exp and
# similar functions are the hardware's approximations, which lose digits far from 1. The library's
# are accurate, as the compiler's are.
FUNCTIONS = {name: f"libdevice.{name}({{}})" for name in
              ("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "atan", "asinh", "tanh",
               "erf", "rsqrt", "round", "trunc")}
FUNCTIONS |= {"roundeven": "libdevice.rint({})", "powf": "libdevice.pow({}, {})", "atan2": "libdevice.atan2({}, {})",
               "sqrt": "tl.sqrt_rn({})", "absf": "tl.abs({})", "floor": "tl.floor({})", "ceil": "tl.ceil({})",
               "fma": "tl.fma({}, {}, {})", "divf": "tl.div_rn({}, {})"}
_COMPARISONS = {"oeq": "{0} == {1}", "ogt": "{0} > {1}", "oge": "{0} >= {1}", "olt": "{0} < {1}", "ole": "{0} <= {1}",
                "one": "({0} < {1}) | ({0} > {1})", "ord": "({0} == {0}) & ({1} == {1})",
                # Comparisons that hold for NaN too are negations of the others.
                "ueq": "~(({0} < {1}) | ({0} > {1}))", "ugt": "~({0} <= {1})", "uge": "~({0} < {1})",
                "ult": "~({0} >= {1})", "ule": "~({0} > {1})", "une": "{0} != {1}",
                "uno": "({0} != {0}) | ({1} != {1})"}
_INTEGER_COMPARISONS = {"eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}


def computed(value, kinds):
    """The expression for a value that is neither loaded nor the root's; `kinds`: the types of all values. ValueError
    for what is not known."""
    operation, type_ = value["op"], value["type"]
    to = f".to({TYPES[type_][0]})"
    if operation == "constant":
        return f"tl.full((1, 1), {number(value['value'])}, {TYPES[type_][0]})"
    operands = [f"v{each}" for each in value["operands"]]
    kind = kinds[value["operands"][0]]
    name = operation.split(".")[-1]
    if type_ == kind == "i1" and name in _ARITHMETIC_OF_BITS:
        return f"({f' {_ARITHMETIC_OF_BITS[name]} '.join(operands)})"
    if name in _ARITHMETIC and kind != "i1":
        return f"({f' {_ARITHMETIC[name]} '.join(operands)}){to}"
    if name == "negf":
        # Triton 3.6 computes a minus as a difference from zero, by which zero would keep its sign.
        return f"({operands[0]} * -1.0){to}"
    if name in _CHOICES and kind != "i1":
        return _CHOICES[name].format(*operands)
    if name == "select":
        return f"tl.where({', '.join(operands)})"
    if name in ("cmpf", "cmpi"):
        return _comparison(name, value["predicate"], kind, operands)
    if name in ("truncf", "extf", "sitofp", "uitofp", "fptosi", "extsi", "extui", "trunci"):
        return _conversion(name, type_, kind, operands[0])
    if name in FUNCTIONS and type_ in FLOATS:
        return "(" + FUNCTIONS[name].format(*(f"{each}.to(tl.float32)" for each in operands)) + ")" + to
    raise ValueError(f"{operation} of {kind} is not known in an epilogue")


def _comparison(name, predicate, kind, operands):
    if name == "cmpf" and predicate in _COMPARISONS:
        return f"({_COMPARISONS[predicate].format(*operands)})"
    sign, order = ("", predicate) if predicate in ("eq", "ne") else (predicate[0], predicate[1:])
    if name == "cmpi" and order in _INTEGER_COMPARISONS and (kind != "i1" or not sign):
        return f"({f' {_INTEGER_COMPARISONS[order]} '.join(_signed(each, kind, sign) for each in operands)})"
    raise ValueError(f"{name} {predicate} of {kind} is not known in an epilogue")


def _conversion(name, type_, kind, operand):
    to = f".to({TYPES[type_][0]})"
    if type_ == "i1":
        if name == "trunci":
            return f"(({operand} & 1) != 0)"
        raise ValueError(f"{name} to i1 is not known in an epilogue")
    if kind == "i1":
        # True is -1 as a signed number of one bit.
        return f"(-({operand}.to(tl.int32))){to}" if name in ("sitofp", "extsi") else operand + to
    return _signed(operand, kind, "u" if name in ("uitofp", "extui") else "") + to


def stored(type_):
    """The name in code of an element in memory."""
    return "tl.int8" if type_ == "i1" else TYPES[type_][0]


def _signed(operand, kind, sign):
    """An integer operand, taken as one without a sign where `sign` is "u"."""
    return f"{operand}.to(tl.u{TYPES[kind][0][3:]}, bitcast=True)" if sign == "u" else operand


def number(value):
    """As Python text: JSON has no words for infinities and NaN, which come as texts."""
    return f'float("{value}")' if isinstance(value, str) else repr(value)
