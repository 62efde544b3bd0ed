"""Programs whose spaces on NVIDIA are hone's own (provider/iree/gpu/space.h), as MLIR text.

Run as a program it writes them as NAME.mlir into a folder: bench/gpu_own_programs.py FOLDER.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import gpu_programs  # noqa: E402


def sums(shape, order, kept):
    """f32 sums over every dimension of `shape` but `kept`; `order` lists the loops' dimensions."""
    loops = [f"d{i}" for i in range(len(shape))]
    walked = ["d0"] * len(shape)
    for loop, dimension in enumerate(order):
        walked[dimension] = loops[loop]
    kinds = ", ".join(['"parallel"'] + ['"reduction"'] * (len(shape) - 1))
    tensor = "x".join(map(str, shape)) + "xf32"
    out = f"{shape[kept]}xf32"
    return f"""#in = affine_map<({", ".join(loops)}) -> ({", ".join(walked)})>
#out = affine_map<({", ".join(loops)}) -> (d0)>
func.func @main(%a: tensor<{tensor}>) -> tensor<{out}> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{out}>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<{out}>) -> tensor<{out}>
  %sum = linalg.generic {{indexing_maps = [#in, #out], iterator_types = [{kinds}]}}
      ins(%a : tensor<{tensor}>) outs(%filled : tensor<{out}>) {{
  ^bb0(%value: f32, %total: f32):
    %next = arith.addf %total, %value : f32
    linalg.yield %next : f32
  }} -> tensor<{out}>
  return %sum : tensor<{out}>
}}
"""


def transpose(m, n):
    return f"""func.func @main(%a: tensor<{m}x{n}xf32>) -> tensor<{n}x{m}xf32> {{
  %empty = tensor.empty() : tensor<{n}x{m}xf32>
  %out = linalg.transpose ins(%a : tensor<{m}x{n}xf32>) outs(%empty : tensor<{n}x{m}xf32>)
      permutation = [1, 0]
  return %out : tensor<{n}x{m}xf32>
}}
"""


def bias_erf(m, n):
    return f"""#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
func.func @main(%a: tensor<{m}x{n}xf32>, %b: tensor<{n}xf32>) -> tensor<{m}x{n}xf16> {{
  %empty = tensor.empty() : tensor<{m}x{n}xf16>
  %out = linalg.generic {{indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%a, %b : tensor<{m}x{n}xf32>, tensor<{n}xf32>) outs(%empty : tensor<{m}x{n}xf16>) {{
  ^bb0(%x: f32, %y: f32, %unused: f16):
    %sum = arith.addf %x, %y : f32
    %erf = math.erf %sum : f32
    %rounded = arith.truncf %erf : f32 to f16
    linalg.yield %rounded : f16
  }} -> tensor<{m}x{n}xf16>
  return %out : tensor<{m}x{n}xf16>
}}
"""


def conv_nchw(n, h, w, c, kh, kw, f):
    return gpu_programs.contraction(
        "linalg.conv_2d_nchw_fchw", f"{n}x{c}x{h}x{w}", f"{f}x{c}x{kh}x{kw}",
        f"{n}x{f}x{h - kh + 1}x{w - kw + 1}",
        attributes="{dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}")


PROGRAMS = {
    "attention_20x4096x64": gpu_programs.attention(20, 4096, 64),
    "softmax_4096": gpu_programs.softmax(4096, 4096),
    "softmax_77": gpu_programs.softmax(32768, 77),
    "row_sum_4096": gpu_programs.row_sum(4096, 4096),
    "column_sum_4096": sums((4096, 4096), (1, 0), 1),
    "channel_sum_16x1280x1024": sums((16, 1280, 1024), (1, 0, 2), 1),
    "transpose_4096x2048": transpose(4096, 2048),
    "bias_erf_4096x5120": bias_erf(4096, 5120),
}

if __name__ == "__main__":
    for name, text in PROGRAMS.items():
        (pathlib.Path(sys.argv[1]) / f"{name}.mlir").write_text(text)
