"""The models of examples/models in plain PyTorch, with the same weights, in a process for bench/gpu_models.py.

usage: torch_networks.py SETTINGS

SETTINGS is JSON: "model" with "sizes", "element", "weights" and "seed" as examples/models/make.py has them; "inputs",
files of NumPy; "device", cpu or cuda:0; "mode": a mode of torch.compile, "eager", or "f32", which computes with the
same rounded numbers in f32. Lines of JSON travel over standard input and output: one from here when the network is
compiled, then an answer for each request, {"time": SECONDS} or {"outputs": FOLDER}.

The network is the one that the model's function describes, layer by layer, as a user of PyTorch would write each layer
(F.linear, F.scaled_dot_product_attention, F.group_norm, channels last), recorded as straight code (torch.fx).
"""
import json
import math
import operator
import os
import pathlib
import sys
import time

import numpy
import torch
from torch import fx
from torch.nn import functional as F

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "examples/models"))
from builder import Graph, Value, splat_of
from imported import Splats
from make import MODELS

# Same as of IREE's side (src/provider/iree/compiler/python/resident_programs.py).
WARM_UP_SECONDS = 0.02
OPERATORS = {
    "Add": operator.add, "Mul": operator.mul, "Div": operator.truediv, "Pow": operator.pow, "Sqrt": torch.sqrt,
    "Neg": operator.neg, "Cos": torch.cos, "Sin": torch.sin, "Sigmoid": torch.sigmoid, "Relu": F.relu,
    "ReduceMean": lambda x, axes, keepdims: x.mean(axes, keepdim=bool(keepdims)),
    "Constant": lambda value_float: value_float,
    "Transpose": lambda x, perm: x.permute(perm),
    "Concat": lambda *values, axis: torch.cat(values, axis),
    "Conv": lambda x, weight, bias, group, kernel_shape, strides, pads:
        F.conv2d(x, weight, bias, strides, pads[:2], 1, group),
    "MaxPool": lambda x, kernel_shape, strides, pads: F.max_pool2d(x, kernel_shape, strides, pads[:2]),
    "GlobalAveragePool": lambda x: F.adaptive_avg_pool2d(x, 1),
}


class Network(Graph):
    """Records a model as code of PyTorch; draws the weights that its ONNX or its splats have, in their order."""

    def __init__(self, element, seed, weights, device, dtype):
        super().__init__("torch", element, seed, weights == "random")
        self.numbers = Splats(self.element)
        self.device, self.dtype = device, dtype
        self.root, self.code, self.results = torch.nn.Module(), fx.Graph(), []
        self.tracer = fx.proxy.GraphAppendingTracer(self.code)

    def module(self):
        self.code.output(tuple(self.results))
        return fx.GraphModule(self.root, self.code).eval().to(memory_format=torch.channels_last)

    def input(self, name, *shape, element=None):
        return Value(fx.Proxy(self.code.placeholder(name), self.tracer), shape)

    def output(self, name, value):
        self.results.append(value.name.node)

    def keep(self, name, tensor, shape):
        self.root.register_parameter(name, torch.nn.Parameter(tensor, requires_grad=False))
        return Value(fx.Proxy(self.code.get_attr(name), self.tracer), shape)

    def weight(self, role, *shape, deviation, mean=0.0, splat=None, form=lambda tensor: tensor):
        """`form` is how PyTorch stores it."""
        if self.has_weights:
            data = self.random_weight(shape, deviation, mean)
        else:
            data = self.numbers.draw(shape, splat or mean or deviation**2)
        if data.ndim == 0:  # a splat, which fills its memory all the same
            tensor = torch.full(shape, float(data), device=self.device, dtype=self.dtype)
        else:
            tensor = torch.from_numpy(data).reshape(shape).to(self.device, self.dtype)
        return self.keep(self.unique(role), form(tensor), shape)

    def constant(self, array):
        array = numpy.asarray(array).astype(self.numbers.dtype)
        name = self.unique("constant")
        self.constants[name] = array
        return self.keep(name, torch.from_numpy(array).to(self.device, self.dtype), array.shape)

    def node(self, operator, inputs, shape, output=None, **attributes):
        return Value(OPERATORS[operator](*(value.name for value in inputs), **attributes), tuple(shape))

    def binary(self, operator, a, b):
        b = b if isinstance(b, Value) else Value(float(b), ())
        return self.node(operator, [a, b], numpy.broadcast_shapes(a.shape, b.shape))

    def silu(self, x):
        return Value(F.silu(x.name), x.shape)

    def gelu(self, x):
        return Value(F.gelu(x.name), x.shape)

    def reshape(self, x, *shape):
        return Value(x.name.reshape(shape), shape)

    def slice(self, x, axis, begin, end):
        return Value(x.name.narrow(axis, begin, end - begin), (*x.shape[:axis], end - begin, *x.shape[axis + 1:]))

    def in_f32(self, x, function):
        return Value(function(Value(x.name.float(), x.shape)).name.to(self.dtype), x.shape)

    def linear(self, x, width, gain=1.0, bias=True):
        depth = x.shape[-1]
        weight = self.weight("linear_weight", depth, width, deviation=gain / math.sqrt(depth),
                             splat=splat_of(gain, depth),
                             form=lambda tensor: tensor.T.contiguous())
        shift = self.weight("linear_bias", width, deviation=0.1).name if bias else None
        return Value(F.linear(x.name, weight.name, shift), (*x.shape[:-1], width))

    def grouped_linear(self, x, count):
        batch, tokens, width = x.shape
        weight = self.weight("conv_weight", count * width, width, 1, 1, deviation=1 / math.sqrt(width),
                             form=lambda tensor: tensor.reshape(count * width, width))
        shift = self.weight("conv_bias", count * width, deviation=0.1)
        y = Value(F.linear(x.name, weight.name, shift.name), (batch, tokens, count * width))
        return [self.slice(y, 2, part * width, (part + 1) * width) for part in range(count)]

    def layer_norm(self, x):
        scale = self.weight("scale", x.shape[-1], deviation=0.1, mean=1.0)
        shift = self.weight("shift", x.shape[-1], deviation=0.1)
        return Value(F.layer_norm(x.name, (x.shape[-1],), scale.name, shift.name, 1e-5), x.shape)

    def group_norm(self, x, groups):
        channels = x.shape[1]
        scale = self.weight("scale", channels, 1, 1, deviation=0.1, mean=1.0, form=torch.flatten)
        shift = self.weight("shift", channels, 1, 1, deviation=0.1, form=torch.flatten)
        return Value(F.group_norm(x.name, groups, scale.name, shift.name, 1e-5), x.shape)

    def repeat_heads(self, x, times):
        return x  # attend lets heads share keys and values

    def attend(self, query, key, value, mask=None):
        table = mask and self.constants[mask.name.node.target]
        causal = mask is not None and table.shape[0] == table.shape[1] and (
            (table == 0) == numpy.tri(*table.shape, dtype=bool)).all()
        attended = F.scaled_dot_product_attention(
            query.name, key.name, value.name, attn_mask=mask.name if mask and not causal else None,
            is_causal=bool(causal), enable_gqa=query.shape[1] != key.shape[1])
        return Value(attended, query.shape)

    def upsample(self, x):
        y = F.interpolate(x.name, scale_factor=2.0, mode="nearest")
        return Value(y, (*x.shape[:2], 2 * x.shape[2], 2 * x.shape[3]))


class Program:
    """A network of `settings` on a device with its inputs."""

    def __init__(self, settings):
        self.device, mode = torch.device(settings["device"]), settings["mode"]
        # Without this, cuDNN and cuBLAS would round products of f32 to TF32.
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        dtype = torch.float32 if mode == "f32" or settings["element"] == "f32" else torch.float16
        network = Network(settings["element"], settings["seed"], settings["weights"], self.device, dtype)
        MODELS[settings["model"]][0](network, **settings["sizes"])
        self.call_network = network.module()
        self.inputs = []
        for file in settings["inputs"]:
            tensor = torch.from_numpy(numpy.load(file)).to(self.device, dtype)
            if pathlib.Path(file).stem.endswith("image"):
                tensor = tensor.to(memory_format=torch.channels_last)
            self.inputs.append(tensor)
        if mode in ("f32", "eager"):
            return
        for tensor in self.inputs:
            # As IREE's do, inputs stay where they are: a CUDA graph reads them without a copy.
            torch._dynamo.mark_static_address(tensor)
        if self.device.type == "cpu":
            mode = "default"
        self.call_network = torch.compile(self.call_network, mode=mode)

    def call(self):
        with torch.no_grad():
            results = self.call_network(*self.inputs)
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        return results

    def call_for(self, seconds):
        calls, begin = 0, time.perf_counter()
        while True:
            self.call()
            calls += 1
            took = time.perf_counter() - begin
            if took >= seconds:
                return {"seconds": took / calls, "calls": calls}

    def answer(self, request):
        if "time" in request:
            self.call_for(WARM_UP_SECONDS)
            return self.call_for(request["time"])
        folder = pathlib.Path(request["outputs"])
        folder.mkdir(parents=True, exist_ok=True)
        for number, result in enumerate(self.call()):
            numpy.save(folder / f"output{number}.npy", result.detach().cpu().contiguous().numpy())
        return {}


def main():
    # What PyTorch prints goes to standard error.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def answer(work):
        try:
            what = work()
        except Exception as error:  # pylint: disable=broad-except
            lines = str(error).strip().splitlines() or [""]
            what = {"error": f"{type(error).__name__}: {lines[0][:300]}"}
        answers.write(json.dumps(what) + "\n")
        answers.flush()
        return what

    begin, programs = time.monotonic(), []

    def start():
        programs.append(Program(json.loads(sys.argv[1])))
        made = time.monotonic()
        for _ in range(3):  # compiles, records the CUDA graph, replays it
            programs[0].call()
        return {"version": torch.__version__, "build": made - begin, "compile": time.monotonic() - made}

    if "error" in answer(start):
        return
    for line in sys.stdin:
        answer(lambda line=line: programs[0].answer(json.loads(line)))


if __name__ == "__main__":
    main()
