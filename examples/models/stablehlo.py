"""A builder of StableHLO programs on images (NHWC), with the methods that convolutional.py calls."""
import math

import numpy

from builder import Value


ELEMENTS = {"f32": "<f4", "f16": "<f2"}


def tensor_of(shape, element):
    return "tensor<" + "".join(f"{extent}x" for extent in shape) + f"{element}>"


class StableHlo:
    """Draws the same weights in the same order as builder.Graph, so both files compute the same.

    Products of f16 are added up in f32, as those of an ONNX model are.
    """

    def __init__(self, name, element="f32", seed=0):
        self.name, self.element = name, element
        self.random = numpy.random.default_rng(seed)
        self.lines, self.arguments, self.results = [], [], []
        self.count = 0

    def tensor(self, shape):
        return tensor_of(shape, self.element)

    def value(self, text, shape, operation_type=None):
        self.count += 1
        self.lines.append(f"%{self.count} = {text} : {operation_type or self.tensor(shape)}")
        return Value(f"%{self.count}", tuple(shape))

    def product(self, text, shape, operands):
        """A contraction or convolution, with sums in f32."""
        types = ", ".join(self.tensor(operand.shape) for operand in operands)
        sums = self.value(text, shape, f"({types}) -> {tensor_of(shape, 'f32')}")
        if self.element == "f32":
            return sums
        return self.value(f"stablehlo.convert {sums.name}", shape,
                          f"({tensor_of(shape, 'f32')}) -> {self.tensor(shape)}")

    def weight(self, *shape, deviation, order=None):
        data = self.random.standard_normal(shape, dtype=numpy.float32)
        data *= deviation
        data = data if order is None else data.transpose(order)
        text = data.astype(ELEMENTS[self.element]).tobytes().hex().upper()
        return self.value(f'stablehlo.constant dense<"0x{text}">', data.shape)

    def image(self, name, batch, channels, size):
        self.arguments.append(Value(f"%{name}", (batch, size, size, channels)))
        return self.arguments[-1]

    def output(self, name, value):
        self.results.append(value)

    def broadcast(self, x, shape):
        """Over all dimensions but the last ones, which x has."""
        dims = ", ".join(str(len(shape) - len(x.shape) + i) for i in range(len(x.shape)))
        return self.value(f"stablehlo.broadcast_in_dim {x.name}, dims = [{dims}]", shape,
                          f"({self.tensor(x.shape)}) -> {self.tensor(shape)}")

    def scalar(self, number):
        return self.value(f"stablehlo.constant dense<{number}>", ())

    def add(self, a, b):
        return self.value(f"stablehlo.add {a.name}, {self.broadcast_to(b, a).name}", a.shape)

    def broadcast_to(self, x, like):
        return x if x.shape == like.shape else self.broadcast(x, like.shape)

    def relu(self, x):
        zero = self.broadcast(self.scalar("0.0"), x.shape)
        return self.value(f"stablehlo.maximum {x.name}, {zero.name}", x.shape)

    def relu6(self, x):
        low, high = self.scalar("0.0"), self.scalar("6.0")
        return self.value(f"stablehlo.clamp {low.name}, {x.name}, {high.name}", x.shape,
                          f"({self.tensor(())}, {self.tensor(x.shape)}, {self.tensor(())}) -> {self.tensor(x.shape)}")

    def conv(self, x, channels, kernel, stride=1, groups=1, gain=1.0):
        batch, height, width, depth = x.shape
        fan_in = depth // groups * kernel * kernel
        weight = self.weight(channels, depth // groups, kernel, kernel,
                             deviation=gain / math.sqrt(fan_in), order=(2, 3, 1, 0))
        bias = self.weight(channels, deviation=0.1)
        shape = (batch, -(-height // stride), -(-width // stride), channels)
        pad = kernel // 2
        # With an even size and a stride of 2 the last row of the padding is never read.
        return self.add(self.product(
            f"stablehlo.convolution({x.name}, {weight.name}) "
            "dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], "
            f"window = {{stride = [{stride}, {stride}], pad = [[{pad}, {pad}], [{pad}, {pad}]]}} "
            f"{{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}}", shape,
            [x, weight]), bias)

    def reduce(self, operation, x, initial, shape, attributes, name):
        start, scalar = self.scalar(initial), self.tensor(())
        return self.value(
            f'"stablehlo.{name}"({x.name}, {start.name}) ({{ ^bb0(%a: {scalar}, %b: {scalar}): '
            f"%c = stablehlo.{operation} %a, %b : {scalar} stablehlo.return %c : {scalar} }}) "
            f"{{{attributes}}}", shape, f"({self.tensor(x.shape)}, {scalar}) -> {self.tensor(shape)}")

    def max_pool(self, x, kernel, stride):
        batch, height, width, channels = x.shape
        shape = (batch, -(-height // stride), -(-width // stride), channels)
        pad = kernel // 2
        return self.reduce(
            "maximum", x, {"f32": "0xFF800000", "f16": "0xFC00"}[self.element], shape,
            f"window_dimensions = array<i64: 1, {kernel}, {kernel}, 1>, "
            f"window_strides = array<i64: 1, {stride}, {stride}, 1>, "
            f"padding = dense<[[0, 0], [{pad}, {pad}], [{pad}, {pad}], [0, 0]]> : tensor<4x2xi64>",
            "reduce_window")

    def mean_of_image(self, x):
        batch, height, width, channels = x.shape
        total = self.reduce("add", x, "0.0", (batch, channels), "dimensions = array<i64: 1, 2>",
                            "reduce")
        count = self.broadcast(self.scalar(f"{height * width:.1f}"), total.shape)
        return self.value(f"stablehlo.divide {total.name}, {count.name}", total.shape)

    def linear(self, x, width):
        depth = x.shape[-1]
        weight = self.weight(depth, width, deviation=1 / math.sqrt(depth))
        shape = (x.shape[0], width)
        return self.add(self.product(
            f"stablehlo.dot_general {x.name}, {weight.name}, contracting_dims = [1] x [0]", shape,
            [x, weight]), self.weight(width, deviation=0.1))

    def write(self, path):
        arguments = ", ".join(f"{value.name}: {self.tensor(value.shape)}" for value in self.arguments)
        types = ", ".join(self.tensor(value.shape) for value in self.results)
        names = ", ".join(value.name for value in self.results)
        with open(path, "w", encoding="ascii") as file:
            file.write(f"func.func @{self.name}({arguments}) -> ({types}) {{\n")
            for line in self.lines:
                file.write(f"  {line}\n")
            file.write(f"  return {names} : {types}\n}}\n")
