"""Programs of one operation each (a norm is two dispatches), for CPUs, as MLIR text, by kind.

Run as a program it writes them as NAME.mlir into a folder: bench/cpu_programs.py FOLDER. One launch takes 0.1 to
10 ms on one core.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cpu_matmuls import matmul  # noqa: E402
from gpu_own_programs import bias_erf, sums, transpose  # noqa: E402
from gpu_programs import row_max, row_sum, softmax  # noqa: E402


def product(kind, lhs, rhs, out, attributes=""):
    """Of two f32 operands."""
    return f"""func.func @main(%a: tensor<{lhs}xf32>, %b: tensor<{rhs}xf32>) -> tensor<{out}xf32> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{out}xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<{out}xf32>) -> tensor<{out}xf32>
  %product = {kind} {attributes} ins(%a, %b : tensor<{lhs}xf32>, tensor<{rhs}xf32>)
      outs(%filled : tensor<{out}xf32>) -> tensor<{out}xf32>
  return %product : tensor<{out}xf32>
}}
"""


def integer_matmul(m, n, k):
    """i8 operands added up in i32."""
    text = matmul(m, n, k, "i8", "i32")
    return text.replace("arith.constant 0.0 : i32", "arith.constant 0 : i32")


def batch_matmul(b, m, n, k):
    return product("linalg.batch_matmul", f"{b}x{m}x{k}", f"{b}x{k}x{n}", f"{b}x{m}x{n}")


def convolution(kind, images, size, channels, filters, kernel=3, stride=1):
    """`images` square images; padding is left to the caller."""
    out = (size - kernel) // stride + 1
    operands = {
        "nhwc_hwcf": (f"{size}x{size}x{channels}", f"{kernel}x{kernel}x{channels}x{filters}",
                      f"{out}x{out}x{filters}"),
        "nchw_fchw": (f"{channels}x{size}x{size}", f"{filters}x{channels}x{kernel}x{kernel}",
                      f"{filters}x{out}x{out}"),
    }
    image, weights, result = operands[kind]
    return product(f"linalg.conv_2d_{kind}", f"{images}x{image}", weights, f"{images}x{result}",
                   f"{{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}}")


def depthwise(images, size, channels, stride=1):
    out = (size - 3) // stride + 1
    return product("linalg.depthwise_conv_2d_nhwc_hwc", f"{images}x{size}x{size}x{channels}", f"3x3x{channels}",
                   f"{images}x{out}x{out}x{channels}",
                   f"{{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}}")


def layer_norm(m, n):
    """Without scale and shift."""
    x, row = f"tensor<{m}x{n}xf32>", f"tensor<{m}xf32>"
    return f"""#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%x: {x}) -> {x} {{
  %zero = arith.constant 0.0 : f32
  %width = arith.constant {n}.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %e_row = tensor.empty() : {row}
  %e_x = tensor.empty() : {x}
  %zeros = linalg.fill ins(%zero : f32) outs(%e_row : {row}) -> {row}
  %sum = linalg.generic {{indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%x : {x}) outs(%zeros : {row}) {{
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  }} -> {row}
  %squares = linalg.generic {{indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%x, %sum : {x}, {row}) outs(%zeros : {row}) {{
  ^bb0(%in: f32, %s: f32, %out: f32):
    %mean = arith.divf %s, %width : f32
    %0 = arith.subf %in, %mean : f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %1, %out : f32
    linalg.yield %2 : f32
  }} -> {row}
  %normal = linalg.generic {{indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%x, %sum, %squares : {x}, {row}, {row}) outs(%e_x : {x}) {{
  ^bb0(%in: f32, %s: f32, %q: f32, %out: f32):
    %mean = arith.divf %s, %width : f32
    %variance = arith.divf %q, %width : f32
    %safe = arith.addf %variance, %epsilon : f32
    %factor = math.rsqrt %safe : f32
    %0 = arith.subf %in, %mean : f32
    %1 = arith.mulf %0, %factor : f32
    linalg.yield %1 : f32
  }} -> {x}
  return %normal : {x}
}}
"""


def rows_swapped(a, b, c):
    """The two outer of three dimensions."""
    return f"""func.func @main(%a: tensor<{a}x{b}x{c}xf32>) -> tensor<{b}x{a}x{c}xf32> {{
  %empty = tensor.empty() : tensor<{b}x{a}x{c}xf32>
  %out = linalg.transpose ins(%a : tensor<{a}x{b}x{c}xf32>) outs(%empty : tensor<{b}x{a}x{c}xf32>)
      permutation = [1, 0, 2]
  return %out : tensor<{b}x{a}x{c}xf32>
}}
"""


def gelu(m, n):
    return f"""#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%a: tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %rsqrt2 = arith.constant 0.70710678 : f32
  %empty = tensor.empty() : tensor<{m}x{n}xf32>
  %out = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%a : tensor<{m}x{n}xf32>) outs(%empty : tensor<{m}x{n}xf32>) {{
  ^bb0(%x: f32, %unused: f32):
    %t = arith.mulf %x, %rsqrt2 : f32
    %e = math.erf %t : f32
    %p = arith.addf %e, %one : f32
    %q = arith.mulf %x, %p : f32
    %r = arith.mulf %q, %half : f32
    linalg.yield %r : f32
  }} -> tensor<{m}x{n}xf32>
  return %out : tensor<{m}x{n}xf32>
}}
"""


def attention(heads, length, depth):
    shape = f"{heads}x{length}x{depth}xf32"
    return f"""#q = affine_map<(b, m, n, k1, k2) -> (b, m, k1)>
#k = affine_map<(b, m, n, k1, k2) -> (b, k2, k1)>
#v = affine_map<(b, m, n, k1, k2) -> (b, k2, n)>
#s = affine_map<(b, m, n, k1, k2) -> ()>
#o = affine_map<(b, m, n, k1, k2) -> (b, m, n)>
func.func @main(%q: tensor<{shape}>, %k: tensor<{shape}>, %v: tensor<{shape}>) -> tensor<{shape}> {{
  %scale = arith.constant {depth ** -0.5} : f32
  %empty = tensor.empty() : tensor<{shape}>
  %out = iree_linalg_ext.attention <{{indexing_maps = [#q, #k, #v, #s, #o]}}>
      ins(%q, %k, %v, %scale : tensor<{shape}>, tensor<{shape}>, tensor<{shape}>, f32)
      outs(%empty : tensor<{shape}>) {{
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  }} -> tensor<{shape}>
  return %out : tensor<{shape}>
}}
"""


KINDS = {
    "matmul": {
        "matmul_512": matmul(512, 512, 512, "f32", "f32"),
        "matmul_384x512x1536": matmul(384, 512, 1536, "f32", "f32"),
        "matmul_250x333x509": matmul(250, 333, 509, "f32", "f32"),
        "matmul_bf16_256x1024x512": matmul(256, 1024, 512, "bf16", "f32"),
        "matmul_i8_384": integer_matmul(384, 384, 384),
    },
    "batch matmul": {
        "batch_matmul_8x128x128x64": batch_matmul(8, 128, 128, 64),
        "batch_matmul_12x197x64x197": batch_matmul(12, 197, 64, 197),
    },
    "matrix times vector": {
        "matvec_2048x1024": product("linalg.matvec", "2048x1024", "1024", "2048"),
        "vecmat_1024x2048": product("linalg.vecmat", "1024", "1024x2048", "2048"),
    },
    "convolution": {
        "conv_nhwc_2x30x64x64": convolution("nhwc_hwcf", 2, 30, 64, 64),
        "conv_nhwc_stride2_2x57x32x64": convolution("nhwc_hwcf", 2, 57, 32, 64, stride=2),
        "conv_nhwc_1x30x64x64": convolution("nhwc_hwcf", 1, 30, 64, 64),
        "conv_nchw_2x30x64x64": convolution("nchw_fchw", 2, 30, 64, 64),
    },
    "depthwise convolution": {
        "depthwise_2x58x64": depthwise(2, 58, 64),
        "depthwise_stride2_2x57x128": depthwise(2, 57, 128, stride=2),
    },
    "reduction": {
        "row_sum_1024x2048": row_sum(1024, 2048),
        "row_max_1024x2048": row_max(1024, 2048),
        "column_sum_1024x2048": sums((1024, 2048), (1, 0), 1),
        "channel_sum_16x64x1024": sums((16, 64, 1024), (1, 0, 2), 1),
    },
    "softmax": {
        "softmax_512x512": softmax(512, 512),
        "softmax_4096x77": softmax(4096, 77),
    },
    "layer norm": {"layer_norm_512x768": layer_norm(512, 768)},
    "elementwise": {
        "gelu_256x3072": gelu(256, 3072),
        "bias_erf_512x1024_f16": bias_erf(512, 1024),
    },
    "transpose": {
        "transpose_1024x768": transpose(1024, 768),
        "rows_swapped_197x12x64": rows_swapped(197, 12, 64),
    },
    "attention": {"attention_4x128x64": attention(4, 128, 64)},
}
PROGRAMS = {name: text for programs in KINDS.values() for name, text in programs.items()}


if __name__ == "__main__":
    for name, text in PROGRAMS.items():
        pathlib.Path(sys.argv[1], f"{name}.mlir").write_text(text)
