// One function for each kind of root operation and element type, small and of odd sizes.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace hone::measure {

struct RootKind {
  std::string name;
  std::string function;  // of MLIR; its name is `name`
};

class RootKinds {
 public:
  // `type`: "f32", "f16", or "i32", which contractions take as sums of i8.
  static std::vector<RootKind> of_type(const std::string& type) {
    RootKinds made(type);
    made.contractions();
    made.reductions();
    if (type != "i32") made.rows();
    made.elements();
    return made.kinds_;
  }

 private:
  explicit RootKinds(const std::string& type)
      : t_(type), in_(type == "i32" ? "i8" : type), is_float_(type != "i32") {}

  std::string constant(double value) const {
    return is_float_ ? fmt::format("{:e}", value) : fmt::format("{:.0f}", value);
  }

  void add(const std::string& name, const std::string& arguments, const std::string& result,
           const std::string& body) {
    const std::string full = name + "_" + t_;
    kinds_.push_back({full, fmt::format("func.func @{}({}) -> {} {{\n{}  return %r : {}\n}}\n",
                                        full, arguments, result, body, result)});
  }

  std::string tensor(const std::string& shape, const std::string& type) const {
    return fmt::format("tensor<{}x{}>", shape, type);
  }

  std::string filled(const std::string& result, double value) const {
    return fmt::format(
        "  %z = arith.constant {0} : {1}\n  %e = tensor.empty() : {2}\n"
        "  %f = linalg.fill ins(%z : {1}) outs(%e : {2}) -> {2}\n",
        constant(value), t_, result);
  }

  // A named operation of two inputs.
  void two(const std::string& name, const std::string& operation, const std::string& a,
           const std::string& b, const std::string& c, const std::string& attributes = "") {
    const std::string left = tensor(a, in_), right = tensor(b, in_), out = tensor(c, t_);
    add(name, fmt::format("%a: {}, %b: {}", left, right), out,
        filled(out, 0) + fmt::format("  %r = {} {} ins(%a, %b : {}, {}) outs(%f : {}) -> {}\n",
                                     operation, attributes, left, right, out, out));
  }

  void contractions() {
    const std::string unit =
        "{dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}";
    two("matmul", "linalg.matmul", "37x96", "96x50", "37x50");
    two("batch_matmul", "linalg.batch_matmul", "3x17x64", "3x64x20", "3x17x20");
    two("conv", "linalg.conv_2d_nhwc_hwcf", "2x10x10x16", "3x3x16x24", "2x8x8x24", unit);
    two("depthwise", "linalg.depthwise_conv_2d_nhwc_hwc", "2x10x10x16", "3x3x16", "2x8x8x16", unit);
    const std::string in = tensor("2x12x12x16", t_), out = tensor("2x10x10x16", t_);
    add("pooling", fmt::format("%a: {}", in), out,
        filled(out, lowest()) +
            fmt::format("  %w = tensor.empty() : {}\n"
                        "  %r = linalg.pooling_nhwc_max {} ins(%a, %w : {}, {}) "
                        "outs(%f : {}) -> {}\n",
                        tensor("3x3", t_), unit, in, tensor("3x3", t_), out, out));
  }

  double lowest() const {
    return t_ == "f32" ? -3.40282346e38 : t_ == "f16" ? -65504 : -2147483648.0;
  }

  void reduction(const std::string& name, double start, const std::string& body, int terms = 200) {
    const std::string in = tensor(fmt::format("33x{}", terms), t_), out = tensor("33", t_);
    add(name, fmt::format("%a: {}", in), out,
        filled(out, start) +
            fmt::format(
                "  %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, "
                "affine_map<(i, j) -> (i)>], iterator_types = [\"parallel\", \"reduction\"]}} "
                "ins(%a : {0}) outs(%f : {1}) {{\n  ^bb0(%x: {2}, %o: {2}):\n{3}"
                "    linalg.yield %s : {2}\n  }} -> {1}\n",
                in, out, t_, body));
  }

  std::string operation(const std::string& result, const std::string& name,
                        const std::string& operands) const {
    return fmt::format("    %{} = {} {} : {}\n", result, name, operands, t_);
  }

  void reductions() {
    const std::string plus = is_float_ ? "arith.addf" : "arith.addi";
    reduction("sum", 0, operation("s", plus, "%x, %o"));
    reduction("max", lowest(),
              operation("s", is_float_ ? "arith.maximumf" : "arith.maxsi", "%x, %o"));
    reduction("min", -lowest() - (is_float_ ? 0 : 1),
              operation("s", is_float_ ? "arith.minimumf" : "arith.minsi", "%x, %o"));
    if (!is_float_) return;
    reduction("squares", 0, operation("p", "arith.mulf", "%x, %x") + operation("s", plus, "%p, %o"),
              4096);
    reduction("mean", 0,
              operation("c", "arith.constant", "4.9e+01") + operation("p", "arith.divf", "%x, %c") +
                  operation("s", plus, "%p, %o"),
              49);
  }

  void rows() {
    const std::string in = tensor("33x512", t_);
    // IREE 3.13 does not link a softmax of f16 on a CPU (it calls fmaxf).
    if (t_ == "f32")
      add("softmax", fmt::format("%a: {}", in), in,
          fmt::format("  %e = tensor.empty() : {0}\n  %r = linalg.softmax dimension(1) "
                      "ins(%a : {0}) outs(%e : {0}) -> {0}\n",
                      in));
    const std::string head = tensor("4x128x64", t_);
    add("attention", fmt::format("%q: {0}, %k: {0}, %v: {0}", head), head,
        fmt::format(
            "  %s = arith.constant 1.25e-01 : {0}\n  %e = tensor.empty() : {1}\n"
            "  %r = iree_linalg_ext.attention <{{indexing_maps = ["
            "affine_map<(b, m, n, k1, k2) -> (b, m, k1)>, affine_map<(b, m, n, k1, k2) -> (b, k2, "
            "k1)>,"
            "affine_map<(b, m, n, k1, k2) -> (b, k2, n)>, affine_map<(b, m, n, k1, k2) -> ()>,"
            "affine_map<(b, m, n, k1, k2) -> (b, m, n)>]}}> ins(%q, %k, %v, %s : {1}, {1}, {1}, "
            "{0}) "
            "outs(%e : {1}) {{\n  ^bb0(%x: f32):\n    iree_linalg_ext.yield %x : f32\n  }} -> "
            "{1}\n",
            t_, head));
    layer_norm();
  }

  // As models have it: sums in f32, whatever the type of the rows.
  void layer_norm() {
    const std::string in = tensor("33x768", t_), row = "tensor<768xf32>", one = "tensor<33xf32>";
    const bool wide = t_ == "f32";
    const std::string x = wide ? "%x: f32" : "%x0: " + t_;
    const std::string widened = wide ? "" : "    %x = arith.extf %x0 : " + t_ + " to f32\n";
    const auto f32 = [](const std::string& result, const std::string& name,
                        const std::string& operands) {
      return fmt::format("    %{} = {} {} : f32\n", result, name, operands);
    };
    const std::string centred =
        widened + f32("c", "arith.divf", "%y, %n") + f32("d", "arith.subf", "%x, %c");
    std::string body = fmt::format(
        "  %z = arith.constant 0.0 : f32\n  %n = arith.constant 7.68e+02 : f32\n"
        "  %eps = arith.constant 1.0e-05 : f32\n  %e = tensor.empty() : {0}\n"
        "  %f = linalg.fill ins(%z : f32) outs(%e : {0}) -> {0}\n",
        one);
    const auto reduce = [&](const std::string& result, const std::string& inputs,
                            const std::string& maps, const std::string& arguments,
                            const std::string& operations) {
      body += fmt::format(
          "  %{0} = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, {2}"
          "affine_map<(i, j) -> (i)>], iterator_types = [\"parallel\", \"reduction\"]}} ins({1}) "
          "outs(%f : {5}) {{\n  ^bb0({3}, %o: f32):\n{4}    linalg.yield %s : f32\n  }} -> {5}\n",
          result, inputs, maps, arguments, operations, one);
    };
    reduce("m", "%a : " + in, "", x, widened + f32("s", "arith.addf", "%x, %o"));
    reduce("q", fmt::format("%a, %m : {}, {}", in, one), "affine_map<(i, j) -> (i)>, ",
           x + ", %y: f32",
           centred + f32("p", "arith.mulf", "%d, %d") + f32("s", "arith.addf", "%p, %o"));
    const std::string normed =
        centred + f32("u", "arith.divf", "%v, %n") + f32("t", "arith.addf", "%u, %eps") +
        f32("k", "math.rsqrt", "%t") + f32("p", "arith.mulf", "%d, %k") +
        f32("p1", "arith.mulf", "%p, %h") + f32(wide ? "s" : "s0", "arith.addf", "%p1, %l") +
        (wide ? "" : "    %s = arith.truncf %s0 : f32 to " + t_ + "\n");
    body += fmt::format(
        "  %w = tensor.empty() : {0}\n  %r = linalg.generic {{indexing_maps = ["
        "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>, "
        "affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], "
        "iterator_types = [\"parallel\", \"parallel\"]}} ins(%a, %m, %q, %g, %b : {0}, {1}, {1}, "
        "{2}, {2}) outs(%w : {0}) {{\n  ^bb0({5}, %y: f32, %v: f32, %h: f32, %l: f32, %o: {3}):\n"
        "{4}    linalg.yield %s : {3}\n  }} -> {0}\n",
        in, one, row, t_, normed, x);
    add("layer_norm", fmt::format("%a: {0}, %g: {1}, %b: {1}", in, row), in, body);
  }

  void element(const std::string& name, const std::string& body) {
    const std::string in = tensor("33x70", t_);
    add(name, fmt::format("%a: {}", in), in,
        fmt::format("  %e = tensor.empty() : {0}\n  %r = linalg.generic {{indexing_maps = ["
                    "affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = "
                    "[\"parallel\", \"parallel\"]}} ins(%a : {0}) outs(%e : {0}) {{\n"
                    "  ^bb0(%x: {1}, %o: {1}):\n{2}    linalg.yield %s : {1}\n  }} -> {0}\n",
                    in, t_, body));
  }

  void elements() {
    const std::string in = tensor("48x83", t_), out = tensor("83x48", t_);
    add("transpose", fmt::format("%a: {}", in), out,
        fmt::format("  %e = tensor.empty() : {1}\n  %r = linalg.transpose ins(%a : {0}) "
                    "outs(%e : {1}) permutation = [1, 0]\n",
                    in, out));
    if (!is_float_) {
      element("scaled", operation("c", "arith.constant", "3") +
                            operation("y", "arith.muli", "%x, %c") +
                            operation("s", "arith.addi", "%y, %c"));
      return;
    }
    for (const std::string name : {"exp", "log", "rsqrt", "tanh"})
      element(name, operation("s", "math." + name, "%x"));
    element("gelu", operation("h", "arith.constant", "5.0e-01") +
                        operation("one", "arith.constant", "1.0e+00") +
                        operation("c", "arith.constant", "7.0710678e-01") +
                        operation("y", "arith.mulf", "%x, %c") + operation("t", "math.erf", "%y") +
                        operation("q", "arith.addf", "%t, %one") +
                        operation("p", "arith.mulf", "%x, %q") +
                        operation("s", "arith.mulf", "%p, %h"));
  }

  std::string t_, in_;
  bool is_float_;
  std::vector<RootKind> kinds_;
};

}  // namespace hone::measure
