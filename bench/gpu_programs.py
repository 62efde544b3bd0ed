"""The programs that bench/gpu_dispatches.py tunes, as MLIR text. Sizes are M x N x K."""


def contraction(kind, lhs, rhs, out, element_out="f32", attributes=""):
    """f16 operands added up in f32; a result of f16 is narrowed behind it, in the same dispatch."""
    text = f"""func.func @main(%a: tensor<{lhs}xf16>, %b: tensor<{rhs}xf16>) -> tensor<{out}x{element_out}> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{out}xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<{out}xf32>) -> tensor<{out}xf32>
  %product = {kind} {attributes} ins(%a, %b : tensor<{lhs}xf16>, tensor<{rhs}xf16>)
      outs(%filled : tensor<{out}xf32>) -> tensor<{out}xf32>
"""
    if element_out == "f32":
        return text + f"  return %product : tensor<{out}xf32>\n}}\n"
    dims = ", ".join(f"d{i}" for i in range(out.count("x") + 1))
    parallel = ", ".join(['"parallel"'] * (out.count("x") + 1))
    return f"#id = affine_map<({dims}) -> ({dims})>\n" + text + f"""  %narrow_empty = tensor.empty() : tensor<{out}xf16>
  %narrow = linalg.generic {{indexing_maps = [#id, #id], iterator_types = [{parallel}]}}
      ins(%product : tensor<{out}xf32>) outs(%narrow_empty : tensor<{out}xf16>) {{
  ^bb0(%value: f32, %unused: f16):
    %rounded = arith.truncf %value : f32 to f16
    linalg.yield %rounded : f16
  }} -> tensor<{out}xf16>
  return %narrow : tensor<{out}xf16>
}}
"""


def matmul(m, n, k, element_out="f32"):
    return contraction("linalg.matmul", f"{m}x{k}", f"{k}x{n}", f"{m}x{n}", element_out)


def batch_matmul(b, m, n, k):
    return contraction("linalg.batch_matmul", f"{b}x{m}x{k}", f"{b}x{k}x{n}", f"{b}x{m}x{n}")


def conv_nhwc(n, h, w, c, kh, kw, f):
    return contraction("linalg.conv_2d_nhwc_hwcf", f"{n}x{h}x{w}x{c}", f"{kh}x{kw}x{c}x{f}",
                       f"{n}x{h - kh + 1}x{w - kw + 1}x{f}",
                       attributes="{dilations = dense<1> : tensor<2xi64>, "
                                  "strides = dense<1> : tensor<2xi64>}")


def matmul_bias_gelu(m, n, k):
    return f"""#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
func.func @main(%a: tensor<{m}x{k}xf16>, %b: tensor<{k}x{n}xf16>, %bias: tensor<{n}xf32>) -> tensor<{m}x{n}xf16> {{
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %rsqrt2 = arith.constant 0.70710678 : f32
  %empty = tensor.empty() : tensor<{m}x{n}xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %product = linalg.matmul ins(%a, %b : tensor<{m}x{k}xf16>, tensor<{k}x{n}xf16>)
      outs(%filled : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %narrow_empty = tensor.empty() : tensor<{m}x{n}xf16>
  %gelu = linalg.generic {{indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%product, %bias : tensor<{m}x{n}xf32>, tensor<{n}xf32>) outs(%narrow_empty : tensor<{m}x{n}xf16>) {{
  ^bb0(%value: f32, %offset: f32, %unused: f16):
    %sum = arith.addf %value, %offset : f32
    %scaled = arith.mulf %sum, %rsqrt2 : f32
    %erf = math.erf %scaled : f32
    %shifted = arith.addf %erf, %one : f32
    %gated = arith.mulf %sum, %shifted : f32
    %activated = arith.mulf %gated, %half : f32
    %rounded = arith.truncf %activated : f32 to f16
    linalg.yield %rounded : f16
  }} -> tensor<{m}x{n}xf16>
  return %gelu : tensor<{m}x{n}xf16>
}}
"""


def attention(heads, length, depth):
    shape = f"{heads}x{length}x{depth}xf16"
    return f"""#q = affine_map<(b, m, n, k1, k2) -> (b, m, k1)>
#k = affine_map<(b, m, n, k1, k2) -> (b, k2, k1)>
#v = affine_map<(b, m, n, k1, k2) -> (b, k2, n)>
#s = affine_map<(b, m, n, k1, k2) -> ()>
#o = affine_map<(b, m, n, k1, k2) -> (b, m, n)>
func.func @main(%q: tensor<{shape}>, %k: tensor<{shape}>, %v: tensor<{shape}>) -> tensor<{shape}> {{
  %scale = arith.constant {depth ** -0.5} : f16
  %empty = tensor.empty() : tensor<{shape}>
  %out = iree_linalg_ext.attention <{{indexing_maps = [#q, #k, #v, #s, #o]}}>
      ins(%q, %k, %v, %scale : tensor<{shape}>, tensor<{shape}>, tensor<{shape}>, f16)
      outs(%empty : tensor<{shape}>) {{
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  }} -> tensor<{shape}>
  return %out : tensor<{shape}>
}}
"""


def row_sum(m, n):
    return f"""#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%a: tensor<{m}x{n}xf32>) -> tensor<{m}xf32> {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{m}xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<{m}xf32>) -> tensor<{m}xf32>
  %sum = linalg.generic {{indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}}
      ins(%a : tensor<{m}x{n}xf32>) outs(%filled : tensor<{m}xf32>) {{
  ^bb0(%value: f32, %total: f32):
    %next = arith.addf %total, %value : f32
    linalg.yield %next : f32
  }} -> tensor<{m}xf32>
  return %sum : tensor<{m}xf32>
}}
"""


def softmax(m, n):
    return f"""func.func @main(%a: tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32> {{
  %empty = tensor.empty() : tensor<{m}x{n}xf32>
  %out = linalg.softmax dimension(1) ins(%a : tensor<{m}x{n}xf32>) outs(%empty : tensor<{m}x{n}xf32>)
      -> tensor<{m}x{n}xf32>
  return %out : tensor<{m}x{n}xf32>
}}
"""


def row_max(m, n):
    return row_sum(m, n).replace("arith.constant 0.0", "arith.constant 0xFF800000").replace(
        "arith.addf", "arith.maximumf")


PROGRAMS = {
    "matmul_2048x10240x1280": matmul(2048, 10240, 1280),
    "matmul_4096": matmul(4096, 4096, 4096),
    "matmul_3456x1024x2048": matmul(3456, 1024, 2048),
    "matmul_2048x1280x5120": matmul(2048, 1280, 5120),
    "matmul_3456x1024x2048_f16": matmul(3456, 1024, 2048, "f16"),
    "batch_matmul_16x512": batch_matmul(16, 512, 512, 512),
    "conv_3x3_1280": conv_nhwc(2, 34, 34, 1280, 3, 3, 1280),
    "matmul_bias_gelu": matmul_bias_gelu(2048, 5120, 1280),
    "attention_20x4096x64": attention(20, 4096, 64),
    "row_sum_4096": row_sum(4096, 4096),
    "row_max_4096": row_max(4096, 4096),
    "softmax_4096": softmax(4096, 4096),
}
