"""Nets of convolutions for images, over any builder that has conv, relu, add, ... (ONNX, StableHLO)."""
import math

RELU = math.sqrt(2)  # the gain that makes up for the half that a ReLU cuts off


def resnet50(net, batch=1, image=224, width=64, classes=1000):
    """ResNet-50: bottleneck blocks 3, 4, 6, 3; batch norms folded into convolutions."""
    x = net.image("image", batch, 3, image)
    x = net.max_pool(net.relu(net.conv(x, width, 7, stride=2, gain=RELU)), 3, 2)
    for stage, blocks in enumerate([3, 4, 6, 3]):
        inner = width << stage
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            y = net.relu(net.conv(x, inner, 1, gain=RELU))
            y = net.relu(net.conv(y, inner, 3, stride=stride, gain=RELU))
            y = net.conv(y, 4 * inner, 1, gain=0.5)
            if block == 0:
                x = net.conv(x, 4 * inner, 1, stride=stride)
            x = net.relu(net.add(x, y))
    net.output("scores", net.linear(net.mean_of_image(x), classes))


def mobilenet_v2(net, batch=1, image=224, width=1.0, classes=1000):
    """MobileNetV2: inverted residuals with depthwise convolutions and ReLU6."""
    def channels(count):
        return max(8, int(count * width + 4) // 8 * 8)

    x = net.image("image", batch, 3, image)
    x = net.relu6(net.conv(x, channels(32), 3, stride=2, gain=RELU))
    depth = channels(32)
    for expansion, count, blocks, first_stride in [
            (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
            (6, 160, 3, 2), (6, 320, 1, 1)]:
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            y = x
            if expansion != 1:
                y = net.relu6(net.conv(y, depth * expansion, 1, gain=RELU))
            y = net.relu6(net.conv(y, depth * expansion, 3, stride=stride,
                                   groups=depth * expansion, gain=RELU))
            y = net.conv(y, channels(count), 1)
            x = net.add(x, y) if stride == 1 and depth == channels(count) else y
            depth = channels(count)
    x = net.relu6(net.conv(x, max(1280, channels(1280)), 1, gain=RELU))
    net.output("scores", net.linear(net.mean_of_image(x), classes))
