"""UNets as diffusion models have them: group norm, SiLU, skips; SDXL's with attention over text."""
import math

import numpy

from builder import require

GROUPS = 32
HEAD_DEPTH = 64


def double_conv(graph, x, channels, groups=8):
    for _ in range(2):
        x = graph.silu(graph.group_norm(graph.conv(x, channels, 3), groups))
    return x


def unet(graph, levels=3, width=32, image=64, batch=1):
    """A UNet: convolutions with group norm and SiLU, down and up again with skips, no attention."""
    require(image % (1 << levels) == 0, f"--image must be a multiple of {1 << levels}, since each of "
            f"{levels} levels halves it")
    x = graph.image("image", batch, 3, image)
    skips = []
    for level in range(levels):
        x = double_conv(graph, x, width << level)
        skips.append(x)
        x = graph.conv(x, width << level, 3, stride=2)
    x = double_conv(graph, x, width << levels)
    for level in reversed(range(levels)):
        x = graph.conv(graph.upsample(x), width << level, 3)
        x = double_conv(graph, graph.concat([skips[level], x], 1), width << level)
    graph.output("image_out", graph.conv(x, 3, 1))


def resnet_block(graph, x, time, channels):
    """Two convolutions; what is known of the time step is added between them."""
    y = graph.conv(graph.silu(graph.group_norm(x, GROUPS)), channels, 3)
    shift = graph.linear(graph.silu(time), channels)
    y = graph.add(y, graph.reshape(shift, *shift.shape, 1, 1))
    y = graph.conv(graph.silu(graph.group_norm(y, GROUPS)), channels, 3)
    if x.shape[1] != channels:
        x = graph.conv(x, channels, 1)
    return graph.add(x, y)


def attention(graph, x, source):
    """Multi-head attention of x over `source`: itself, or the text."""
    width = x.shape[-1]
    heads = width // HEAD_DEPTH
    query, key, value = (graph.split_heads(graph.linear(tokens, width, bias=False), heads)
                         for tokens in (x, source, source))
    return graph.linear(graph.join_heads(graph.attend(query, key, value)), width)


def gated_feed_forward(graph, x):
    """GEGLU: one product makes both the values and their gates."""
    width = x.shape[-1]
    both = graph.linear(x, 8 * width)
    values, gates = (graph.slice(both, 2, part * 4 * width, (part + 1) * 4 * width) for part in (0, 1))
    return graph.linear(graph.multiply(values, graph.gelu(gates)), width)


def transformer(graph, x, text, depth):
    batch, channels, height, width = x.shape
    y = graph.group_norm(x, GROUPS)
    y = graph.transpose(graph.reshape(y, batch, channels, height * width), 0, 2, 1)
    y = graph.linear(y, channels)
    for _ in range(depth):
        normed = graph.layer_norm(y)
        y = graph.add(y, attention(graph, normed, normed))
        y = graph.add(y, attention(graph, graph.layer_norm(y), text))
        y = graph.add(y, gated_feed_forward(graph, graph.layer_norm(y)))
    y = graph.transpose(graph.linear(y, channels), 0, 2, 1)
    return graph.add(x, graph.reshape(y, batch, channels, height, width))


def sdxl_unet_block(graph, channels=1280, image=32, depth=1, batch=2, text=64, text_width=2048):
    """A block of SDXL's UNet at its lowest level: a resnet block, then `--depth` layers of a transformer."""
    require(channels % HEAD_DEPTH == 0, f"--channels must be a multiple of {HEAD_DEPTH}, the depth of a "
            f"head, not {channels}")
    x = graph.input("image", batch, channels, image, image)
    time = graph.input("time", batch, 4 * 320)
    words = graph.input("text", batch, text, text_width)
    x = resnet_block(graph, x, time, channels)
    graph.output("image_out", transformer(graph, x, words, depth))


def embedded_numbers(graph, numbers, width):
    """Sines and cosines of each number at falling frequencies: batch x count to batch x (count * width)."""
    batch, count = numbers.shape
    frequencies = numpy.exp(-math.log(10000) * numpy.arange(width // 2) / (width // 2))
    angles = graph.multiply(graph.reshape(numbers, batch, count, 1), graph.constant(frequencies))
    both = graph.concat([graph.unary("Cos", angles), graph.unary("Sin", angles)], 2)
    return graph.reshape(both, batch, count * width)


def sdxl_unet(graph, channels=320, image=128, depths="0,2,10", batch=2, text=64, text_width=2048):
    """The whole UNet of SDXL: `--depths` are the transformer layers of each level."""
    require(channels % HEAD_DEPTH == 0, f"--channels must be a multiple of {HEAD_DEPTH}, the depth of a "
            f"head, not {channels}")
    require(all(depth.isdecimal() for depth in depths.split(",")),
            f"--depths must be numbers with commas, such as 0,2,10, not '{depths}'")
    depths = [int(depth) for depth in depths.split(",")]
    require(image % (1 << len(depths) - 1) == 0, f"--image must be a multiple of "
            f"{1 << len(depths) - 1}, since each of {len(depths)} levels halves it")
    x = graph.input("image", batch, 4, image, image)
    step = graph.input("step", batch, 1)
    words = graph.input("text", batch, text, text_width)
    pooled = graph.input("pooled_text", batch, 4 * channels)
    sizes = graph.input("sizes", batch, 6)

    def perceptron(x):
        return graph.linear(graph.silu(graph.linear(x, 4 * channels)), 4 * channels)

    extra = graph.concat([pooled, embedded_numbers(graph, sizes, 256)], 1)
    time = graph.add(perceptron(embedded_numbers(graph, step, channels)), perceptron(extra))

    def block(x, level):
        x = resnet_block(graph, x, time, channels << level)
        return transformer(graph, x, words, depths[level]) if depths[level] else x

    x = graph.conv(x, channels, 3)
    skips = [x]
    last = len(depths) - 1
    for level in range(len(depths)):
        for _ in range(2):
            x = block(x, level)
            skips.append(x)
        if level != last:
            x = graph.conv(x, channels << level, 3, stride=2)
            skips.append(x)
    x = resnet_block(graph, block(x, last), time, channels << last)
    for level in reversed(range(len(depths))):
        for _ in range(3):
            x = block(graph.concat([x, skips.pop()], 1), level)
        if level:
            x = graph.conv(graph.upsample(x), channels << level, 3)
    x = graph.silu(graph.group_norm(x, GROUPS))
    graph.output("image_out", graph.conv(x, 4, 3))

