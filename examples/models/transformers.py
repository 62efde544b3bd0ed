"""Transformers: encoders of text and of images, and a decoder."""
import math

import numpy
from onnx import TensorProto

from builder import require


def embedded(graph, batch, sequence, width, vocabulary):
    """The first activations: an input, or looked up for tokens where there is a vocabulary."""
    if not vocabulary:
        return graph.input("hidden", batch, sequence, width)
    tokens = graph.input("tokens", batch, sequence, element=TensorProto.INT64)
    table = graph.weight("embedding", vocabulary, width, deviation=1.0)
    return graph.node("Gather", [table, tokens], (batch, sequence, width), axis=0)


def bert(graph, layers=12, width=768, heads=12, sequence=128, batch=1, vocabulary=0):
    """BERT's encoder: post-norm, GELU; the defaults are BERT-base without its embedding."""
    x = embedded(graph, batch, sequence, width, vocabulary)
    if vocabulary:
        x = graph.layer_norm(graph.add(x, graph.weight("position", sequence, width, deviation=1.0)))
    for _ in range(layers):
        query, key, value = (graph.split_heads(graph.linear(x, width), heads) for _ in range(3))
        attended = graph.linear(graph.join_heads(graph.attend(query, key, value)), width)
        x = graph.layer_norm(graph.add(x, attended))
        inner = graph.gelu(graph.linear(x, 4 * width))
        x = graph.layer_norm(graph.add(x, graph.linear(inner, width)))
    graph.output("encoded", x)


def mobilebert(graph, layers=24, width=512, bottleneck=128, heads=4, feed_forwards=4,
               sequence=128, batch=1, vocabulary=0):
    """MobileBERT's encoder: narrow layers between bottlenecks, stacked feed-forwards, no real norms."""
    def add_and_norm(x, y):
        # "NoNorm" only scales and shifts; 0.7 undoes what adding two values of variance 1 does.
        return graph.scale_and_shift(graph.add(x, y), mean=math.sqrt(0.5))

    x = embedded(graph, batch, sequence, width, vocabulary)
    for _ in range(layers):
        narrow = graph.scale_and_shift(graph.linear(x, bottleneck))
        shared = graph.scale_and_shift(graph.linear(x, bottleneck))
        query, key, value = (graph.split_heads(graph.linear(source, bottleneck), heads)
                             for source in (shared, shared, x))
        attended = graph.linear(graph.join_heads(graph.attend(query, key, value)), bottleneck)
        y = add_and_norm(narrow, attended)
        for _ in range(feed_forwards):
            inner = graph.relu(graph.linear(y, 4 * bottleneck, gain=math.sqrt(2)))
            y = add_and_norm(y, graph.linear(inner, bottleneck))
        x = add_and_norm(x, graph.linear(y, width))
    graph.output("encoded", x)


def rms_norm(graph, x):
    def normalized(x):
        one = graph.node("Constant", [], (), value_float=1e-5)
        two = graph.node("Constant", [], (), value_float=2.0)
        squares = graph.binary("Pow", x, two)
        mean = graph.node("ReduceMean", [squares], (*x.shape[:-1], 1), axes=[-1], keepdims=1)
        return graph.binary("Div", x, graph.unary("Sqrt", graph.add(mean, one)))

    scale = graph.weight("scale", x.shape[-1], deviation=0.1, mean=1.0)
    return graph.multiply(graph.in_f32(x, normalized), scale)


def rotated(graph, x, first_position):
    """Rotary position embedding of batch x heads x tokens x depth."""
    tokens, depth = x.shape[2:]
    frequencies = 10000.0 ** (-numpy.arange(0, depth, 2) / depth)
    angles = numpy.outer(numpy.arange(first_position, first_position + tokens), frequencies)
    angles = numpy.concatenate([angles, angles], axis=1)
    left = graph.slice(x, 3, 0, depth // 2)
    right = graph.slice(x, 3, depth // 2, depth)
    turned = graph.concat([graph.unary("Neg", right), left], 3)
    return graph.add(graph.multiply(x, graph.constant(numpy.cos(angles))),
                     graph.multiply(turned, graph.constant(numpy.sin(angles))))


def llama(graph, layers=4, width=2048, heads=32, key_heads=8, inner=8192, sequence=128, past=0,
          batch=1, vocabulary=0):
    """A decoder like Llama's: prefill, or decode over a cache of `--past` tokens."""
    depth = width // heads
    x = embedded(graph, batch, sequence, width, vocabulary)
    mask = None
    if sequence > 1:
        allowed = numpy.tri(sequence, past + sequence, past)
        # Finite in f16, and exp of it is 0 all the same.
        mask = graph.constant(numpy.where(allowed, 0.0, -1e4))
    for layer in range(layers):
        y = rms_norm(graph, x)
        query = graph.split_heads(graph.linear(y, width, bias=False), heads)
        key, value = (graph.split_heads(graph.linear(y, key_heads * depth, bias=False), key_heads)
                      for _ in range(2))
        query, key = rotated(graph, query, past), rotated(graph, key, past)
        if past:
            shape = (batch, key_heads, past, depth)
            key = graph.concat([graph.input(f"past_key_{layer}", *shape), key], 2)
            value = graph.concat([graph.input(f"past_value_{layer}", *shape), value], 2)
        graph.output(f"key_{layer}", key)
        graph.output(f"value_{layer}", value)
        attended = graph.attend(query, graph.repeat_heads(key, heads // key_heads),
                                graph.repeat_heads(value, heads // key_heads), mask)
        x = graph.add(x, graph.linear(graph.join_heads(attended), width, bias=False))
        y = rms_norm(graph, x)
        gate = graph.silu(graph.linear(y, inner, bias=False))
        y = graph.multiply(gate, graph.linear(y, inner, bias=False))
        x = graph.add(x, graph.linear(y, width, bias=False))
    x = rms_norm(graph, x)
    graph.output("logits" if vocabulary else "decoded",
                 graph.linear(x, vocabulary, bias=False) if vocabulary else x)


def vit(graph, layers=24, width=1024, heads=16, image=224, patch=14, batch=1):
    """A vision transformer; the defaults are ViT-L/14: 257 tokens. One grouped 1x1 convolution projects q, k and v."""
    require(image % patch == 0, f"--image must be a multiple of --patch, {patch}, not {image}")
    x = graph.conv(graph.image("image", batch, 3, image), width, patch, stride=patch, padding=0)
    patches = (image // patch) ** 2
    x = graph.transpose(graph.reshape(x, batch, width, patches), 0, 2, 1)
    token = graph.weight("class_token", 1, 1, width, deviation=1.0)
    x = graph.concat([token if batch == 1 else graph.concat([token] * batch, 0), x], 1)
    x = graph.add(x, graph.weight("position", patches + 1, width, deviation=1.0))
    for _ in range(layers):
        query, key, value = (graph.split_heads(part, heads) for part in graph.grouped_linear(graph.layer_norm(x), 3))
        x = graph.add(x, graph.linear(graph.join_heads(graph.attend(query, key, value)), width))
        inner = graph.gelu(graph.linear(graph.layer_norm(x), 4 * width))
        x = graph.add(x, graph.linear(inner, width))
    graph.output("encoded", graph.layer_norm(x))
