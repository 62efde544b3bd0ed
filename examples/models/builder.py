"""A small builder of ONNX graphs: values know their shapes, layers draw their own random weights."""
import collections
import math

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8  # what goes with opset 17, so that older runtimes read the files too
# A protobuf message ends at 2 GiB; weights beyond this go into a file of their own.
MOST_BYTES_INSIDE = 1_800_000_000
ELEMENTS = {"f32": TensorProto.FLOAT, "f16": TensorProto.FLOAT16}

# Without this the compiler would compute with a splat instead of loading what it takes for a weight.
GLOBAL_STAYS = "<inlining_policy = #util.inline.never>"

Value = collections.namedtuple("Value", "name shape")


def require(condition, message):
    if not condition:
        raise ValueError(message)


def splat_of(gain, fan_in):
    """One number for all weights of a sum of `fan_in`. Behind such sums a ReLU cuts off nothing that a gain makes up."""
    return min(gain, 1.0)**2 / fan_in


class Graph:
    """Nodes in the order of their making.

    Weights are normally distributed with a deviation that keeps activations near 1. Without
    `has_weights` they have no data and are inputs of the graph, after its own; `splats` says then
    which one number would do for each.
    """

    def __init__(self, name, element="f32", seed=0, has_weights=True):
        self.name = name
        self.element = ELEMENTS[element]
        self.random = numpy.random.default_rng(seed)
        self.has_weights = has_weights
        self.nodes, self.inputs, self.outputs, self.initializers = [], [], [], []
        self.weight_inputs, self.splats = [], {}
        self.names = collections.Counter()
        self.constants = {}

    def unique(self, name):
        self.names[name] += 1
        return f"{name}_{self.names[name]}"

    # Inputs, outputs, weights.

    def input(self, name, *shape, element=None):
        self.inputs.append(helper.make_tensor_value_info(name, element or self.element, shape))
        return Value(name, tuple(shape))

    def output(self, name, value):
        self.node("Identity", [value], value.shape, output=name)
        self.outputs.append(helper.make_tensor_value_info(name, self.element, value.shape))

    def weight(self, role, *shape, deviation, mean=0.0, splat=None):
        name = self.unique(role)
        if not self.has_weights:
            self.weight_inputs.append(helper.make_tensor_value_info(name, self.element, shape))
            # The square is one over what is summed up: outputs are the mean of what came in.
            self.splats[name] = splat or mean or deviation**2
            return Value(name, shape)
        self.initializers.append(numpy_helper.from_array(self.random_weight(shape, deviation, mean), name))
        return Value(name, shape)

    def random_weight(self, shape, deviation, mean):
        data = self.random.standard_normal(shape, dtype=numpy.float32)
        data *= deviation
        data += mean
        return data.astype(helper.tensor_dtype_to_np_dtype(self.element))

    def constant(self, array):
        """A part of the graph that training does not change: a shape, a mask, a table of angles."""
        array = numpy.asarray(array)
        if array.dtype.kind == "f":
            array = array.astype(helper.tensor_dtype_to_np_dtype(self.element))
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self.constants:
            self.constants[key] = Value(self.unique("constant"), array.shape)
            self.initializers.append(numpy_helper.from_array(array, self.constants[key].name))
        return self.constants[key]

    def node(self, operator, inputs, shape, output=None, **attributes):
        name = output or self.unique(operator.lower())
        self.nodes.append(helper.make_node(
            operator, [value.name if value else "" for value in inputs], [name], **attributes))
        return Value(name, tuple(shape))

    # Elementwise operations and changes of shape.

    def binary(self, operator, a, b):
        if not isinstance(b, Value):
            b = self.constant(float(b))
        return self.node(operator, [a, b], numpy.broadcast_shapes(a.shape, b.shape))

    def add(self, a, b):
        return self.binary("Add", a, b)

    def multiply(self, a, b):
        return self.binary("Mul", a, b)

    def unary(self, operator, x, **attributes):
        return self.node(operator, [x], x.shape, **attributes)

    def relu(self, x):
        return self.unary("Relu", x)

    def relu6(self, x):
        return self.node("Clip", [x, self.constant(0.0), self.constant(6.0)], x.shape)

    def silu(self, x):
        return self.multiply(x, self.unary("Sigmoid", x))

    def gelu(self, x):
        erf = self.unary("Erf", self.multiply(x, 1 / math.sqrt(2)))
        return self.multiply(self.multiply(x, self.add(erf, 1.0)), 0.5)

    def reshape(self, x, *shape):
        return self.node("Reshape", [x, self.constant(numpy.array(shape, numpy.int64))], shape)

    def transpose(self, x, *order):
        return self.node("Transpose", [x], [x.shape[i] for i in order], perm=order)

    def concat(self, values, axis):
        shape = list(values[0].shape)
        shape[axis] = sum(value.shape[axis] for value in values)
        return self.node("Concat", values, shape, axis=axis)

    def slice(self, x, axis, begin, end):
        shape = list(x.shape)
        shape[axis] = end - begin
        bounds = [self.constant(numpy.array([number], numpy.int64)) for number in (begin, end, axis)]
        return self.node("Slice", [x, *bounds], shape)

    def in_f32(self, x, function):
        """f16 programs compute norms and softmax in f32, as exporters write it."""
        if self.element == TensorProto.FLOAT:
            return function(x)
        wide = function(self.unary("Cast", x, to=TensorProto.FLOAT))
        return self.unary("Cast", wide, to=self.element)

    # Layers with weights.

    def linear(self, x, width, gain=1.0, bias=True):
        """Over the last dimension. A gain of 1 keeps the variance of what comes in."""
        depth = x.shape[-1]
        weight = self.weight("linear_weight", depth, width, deviation=gain / math.sqrt(depth),
                             splat=splat_of(gain, depth))
        y = self.node("MatMul", [x, weight], (*x.shape[:-1], width))
        return self.add(y, self.weight("linear_bias", width, deviation=0.1)) if bias else y

    def scale_and_shift(self, x, mean=1.0):
        scale = self.weight("scale", x.shape[-1], deviation=0.1 * mean, mean=mean)
        return self.add(self.multiply(x, scale), self.weight("shift", x.shape[-1], deviation=0.1))

    def layer_norm(self, x):
        scale = self.weight("scale", x.shape[-1], deviation=0.1, mean=1.0)
        shift = self.weight("shift", x.shape[-1], deviation=0.1)
        return self.node("LayerNormalization", [x, scale, shift], x.shape, axis=-1, epsilon=1e-5)

    def group_norm(self, x, groups):
        """Of NCHW; written with InstanceNormalization, as exporters write it before opset 18."""
        batch, channels, height, width = x.shape
        require(channels % groups == 0, f"{groups} groups do not divide {channels} channels")
        rows = self.reshape(x, batch, groups, channels // groups * height * width)
        ones, zeros = (self.constant(numpy.full(groups, value)) for value in (1.0, 0.0))
        rows = self.node("InstanceNormalization", [rows, ones, zeros], rows.shape, epsilon=1e-5)
        x = self.reshape(rows, *x.shape)
        x = self.multiply(x, self.weight("scale", channels, 1, 1, deviation=0.1, mean=1.0))
        return self.add(x, self.weight("shift", channels, 1, 1, deviation=0.1))

    def attend(self, query, key, value, mask=None):
        """All three are batch x heads x tokens x depth."""
        batch, heads, rows, depth = query.shape
        columns = key.shape[2]
        scores = self.node("MatMul", [query, self.transpose(key, 0, 1, 3, 2)],
                           (batch, heads, rows, columns))
        scores = self.multiply(scores, 1 / math.sqrt(depth))
        if mask:
            scores = self.add(scores, mask)
        shares = self.in_f32(scores, lambda x: self.unary("Softmax", x, axis=-1))
        return self.node("MatMul", [shares, value], (batch, heads, rows, value.shape[3]))

    def split_heads(self, x, heads):
        batch, tokens, width = x.shape
        require(width % heads == 0, f"{heads} heads do not divide {width} columns")
        return self.transpose(self.reshape(x, batch, tokens, heads, width // heads), 0, 2, 1, 3)

    def join_heads(self, x):
        batch, heads, tokens, depth = x.shape
        return self.reshape(self.transpose(x, 0, 2, 1, 3), batch, tokens, heads * depth)

    def repeat_heads(self, x, times):
        """Each head of batch x heads x tokens x depth `times` times: grouped-query attention."""
        batch, heads, tokens, depth = x.shape
        if times == 1:
            return x
        x = self.reshape(x, batch, heads, 1, tokens, depth)
        shape = (batch, heads, times, tokens, depth)
        x = self.node("Expand", [x, self.constant(numpy.array(shape, numpy.int64))], shape)
        return self.reshape(x, batch, heads * times, tokens, depth)

    def grouped_linear(self, x, count):
        """`count` linear layers of the same tokens, as one grouped 1x1 convolution."""
        batch, tokens, width = x.shape
        x = self.reshape(self.transpose(x, 0, 2, 1), batch, width, tokens, 1)
        y = self.conv(self.concat([x] * count, 1), count * width, 1, groups=count)
        y = self.transpose(self.reshape(y, batch, count * width, tokens), 0, 2, 1)
        return [self.slice(y, 2, part * width, (part + 1) * width) for part in range(count)]

    # Layers on images (NCHW).

    def image(self, name, batch, channels, size):
        return self.input(name, batch, channels, size, size)

    def conv(self, x, channels, kernel, stride=1, groups=1, gain=1.0, padding=None):
        """Padded, by default so that a stride of 1 keeps the size."""
        batch, depth, height, width = x.shape
        fan_in = depth // groups * kernel * kernel
        weight = self.weight("conv_weight", channels, depth // groups, kernel, kernel,
                             deviation=gain / math.sqrt(fan_in), splat=splat_of(gain, fan_in))
        bias = self.weight("conv_bias", channels, deviation=0.1)
        padding = kernel // 2 if padding is None else padding
        size = [(extent + 2 * padding - kernel) // stride + 1 for extent in (height, width)]
        return self.node("Conv", [x, weight, bias], (batch, channels, *size), group=groups,
                         kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[padding] * 4)

    def max_pool(self, x, kernel, stride):
        size = [-(-extent // stride) for extent in x.shape[2:]]
        return self.node("MaxPool", [x], (*x.shape[:2], *size), kernel_shape=[kernel] * 2,
                         strides=[stride] * 2, pads=[kernel // 2] * 4)

    def mean_of_image(self, x):
        x = self.node("GlobalAveragePool", [x], (*x.shape[:2], 1, 1))
        return self.reshape(x, *x.shape[:2])

    def upsample(self, x):
        """Twice the size, by the nearest element."""
        batch, channels, height, width = x.shape
        scales = Value(self.unique("scales"), (4,))
        self.initializers.append(numpy_helper.from_array(
            numpy.array([1, 1, 2, 2], numpy.float32), scales.name))
        return self.node("Resize", [x, None, scales], (batch, channels, 2 * height, 2 * width),
                         mode="nearest", nearest_mode="floor",
                         coordinate_transformation_mode="asymmetric")

    # The file.

    def model(self):
        graph = helper.make_graph(self.nodes, self.name, self.inputs + self.weight_inputs,
                                  self.outputs, self.initializers)
        return helper.make_model(graph, ir_version=IR_VERSION, producer_name="hone",
                                 opset_imports=[helper.make_opsetid("", OPSET)])

    def write(self, path):
        count = sum(len(tensor.raw_data) for tensor in self.initializers)
        outside = count > MOST_BYTES_INSIDE
        # An existing file of data would be appended to.
        data = path.with_name(path.name + ".data")
        data.unlink(missing_ok=True)
        onnx.save(self.model(), path, save_as_external_data=outside, location=data.name)
