"""The whole-number expressions of a manifest: what src/space/expression_parser.h reads, with the same values."""
import ast
import functools


def evaluate(text, names):
    """The value of `text`, an int or a bool. ValueError for what is no such expression, or has no value."""
    try:
        return _value(ast.parse(text.strip(), mode="eval").body, names)
    except (SyntaxError, ZeroDivisionError) as error:
        raise ValueError(f"'{text}': {error}") from None


def divide(a, b):
    """Euclidean, as is modulo(): the rest is never negative."""
    return a // b if b > 0 else -(a // -b)


def modulo(a, b):
    return a % abs(b)


def cdiv(a, b):
    return divide(a + b - 1, b)


_ARITHMETIC = {ast.Add: int.__add__, ast.Sub: int.__sub__, ast.Mult: int.__mul__, ast.FloorDiv: divide,
               ast.Mod: modulo}
_COMPARISONS = {ast.Eq: int.__eq__, ast.NotEq: int.__ne__, ast.Lt: int.__lt__, ast.LtE: int.__le__,
                ast.Gt: int.__gt__, ast.GtE: int.__ge__}
_FUNCTIONS = {"min": min, "max": max, "cdiv": cdiv}


def _value(node, names):
    value = functools.partial(_value, names=names)
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=[argument], keywords=[]):
            return names[f"{name}.{method}({ast.unparse(argument)})"]
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*map(value, arguments))
        case ast.BinOp(left=left, op=operation, right=right) if type(operation) in _ARITHMETIC:
            return _ARITHMETIC[type(operation)](int(value(left)), int(value(right)))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -value(operand)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not value(operand)
        case ast.BoolOp(op=ast.And(), values=values):
            return all(map(value, values))
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(map(value, values))
        case ast.IfExp(test=test, body=body, orelse=other):
            return value(body) if value(test) else value(other)
        case ast.Compare(left=left, ops=operations, comparators=others):
            operands = [int(value(each)) for each in (left, *others)]
            return all(_COMPARISONS[type(operation)](a, b)
                       for operation, a, b in zip(operations, operands, operands[1:]))
    raise ValueError(f"'{ast.unparse(node)}' is no whole-number expression")
