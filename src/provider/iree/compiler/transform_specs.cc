#include "provider/iree/compiler/transform_specs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/ranges.h"

namespace hone::iree {
namespace {

constexpr int kFloatBits = 32;
constexpr int kLeastRows = 16;

// A form in which programs have products: its loops are (batch,) rows, columns and the sum.
struct ProductForm {
  std::string_view name, maps;
  bool batch;       // of one
  bool transposed;  // the weights lie columns first
};

constexpr std::array kForms = {
    ProductForm{"product",
                "affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, "
                "affine_map<(d0, d1, d2) -> (d0, d1)>",
                false, false},
    ProductForm{"transposed",
                "affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, "
                "affine_map<(d0, d1, d2) -> (d0, d1)>",
                false, true},
    ProductForm{
        "batch",
        "affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, "
        "d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>",
        true, false},
    ProductForm{
        "transposed_batch",
        "affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, "
        "d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>",
        true, true},
};

std::string matcher(const ProductForm& form, bool behind, int columns) {
  const int first = form.batch ? 1 : 0;
  // The operation between product and weights must be one that the compiler evaluates at compile
  // time. It reads only the weights, so its second operand is its output.
  const std::string_view between = R"mlir(
    %between = transform.get_producer_of_operand %root[1] : (!transform.any_op) -> !transform.any_op
    transform.match.operation_name %between ["linalg.generic", "linalg.transpose", "linalg.broadcast"] : !transform.any_op
    %written = transform.get_producer_of_operand %between[1] : (!transform.any_op) -> !transform.any_op
    transform.match.operation_name %written ["tensor.empty"] : !transform.any_op
    %weights = transform.get_producer_of_operand %between[0] : (!transform.any_op) -> !transform.any_op)mlir";
  const std::string_view directly = R"mlir(
    %weights = transform.get_producer_of_operand %root[1] : (!transform.any_op) -> !transform.any_op)mlir";
  return fmt::format(
      R"mlir(
  transform.named_sequence @{name}{suffix}(%root: !transform.any_op {{transform.readonly}}) -> !transform.any_op {{
    %batch, %m, %n, %k = transform.iree.match.contraction %root,
      lhs_type = f32, rhs_type = f32, output_type = f32,
      indexing_maps = [{maps}]
      : !transform.any_op -> !transform.param<i64>
    transform.iree.match.dims_equal %batch, [{one}] : !transform.param<i64>
    %lhs = transform.get_operand %root[0] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.dim_bounds %lhs[{first}], umin = {rows}, none : !transform.any_value
    %rhs = transform.get_operand %root[1] : (!transform.any_op) -> !transform.any_value
    transform.iree.match.dim_is_multiple_of %rhs[{dimension}], {columns} : !transform.any_value{weights}
    transform.match.operation_name %weights ["arith.constant", "util.global.load", "flow.tensor.constant"] : !transform.any_op
    transform.yield %root : !transform.any_op
  }})mlir",
      fmt::arg("name", form.name), fmt::arg("suffix", behind ? "_behind" : ""),
      fmt::arg("maps", form.maps), fmt::arg("one", form.batch ? "1" : ""), fmt::arg("first", first),
      fmt::arg("rows", kLeastRows), fmt::arg("dimension", form.transposed ? first : first + 1),
      fmt::arg("columns", columns), fmt::arg("weights", behind ? between : directly));
}

// The loops end up as (batch,) blocks, rows, columns of a block, the sum: all rows use a block
// before the next one is read.
std::string change(const ProductForm& form, int columns) {
  const std::string batch = form.batch ? "0, " : "";
  const int rows = form.batch ? 1 : 0;
  const std::string reordered = fmt::format(
      R"mlir(
    %pack = transform.get_producer_of_operand %packed[1] : (!transform.op<"linalg.generic">) -> !transform.op<"linalg.pack">
    %product, %blocks, %none = transform.structured.pack_transpose %pack with_compute_op(%packed) outer_perm = [{}{}, {}]
      : (!transform.op<"linalg.pack">, !transform.op<"linalg.generic">)
      -> (!transform.op<"linalg.generic">, !transform.op<"linalg.pack">, !transform.any_op))mlir",
      batch, rows + 1, rows);
  return fmt::format(
      R"mlir(
  transform.named_sequence @block_{name}(%root: !transform.any_op {{transform.consumed}}) {{
    %packed = transform.structured.pack %root packed_sizes = [{batch}0, {columns}, 0]
      : (!transform.any_op) -> !transform.op<"linalg.generic">{reordered}
    %ordered = transform.structured.interchange %{product} iterator_interchange = [{batch}{blocks}, {rows}, {inner}, {sum}]
      : (!transform.op<"linalg.generic">) -> !transform.op<"linalg.generic">
    transform.yield
  }})mlir",
      fmt::arg("name", form.name), fmt::arg("batch", batch), fmt::arg("columns", columns),
      fmt::arg("reordered", form.transposed ? std::string() : reordered),
      fmt::arg("product", form.transposed ? "packed" : "product"), fmt::arg("rows", rows),
      fmt::arg("blocks", rows + 1), fmt::arg("sum", rows + 2), fmt::arg("inner", rows + 3));
}

}  // namespace

std::string calling_text(std::string_view function) {
  return fmt::format(
      R"mlir(    %module = transform.util.get_nearest_symbol_table %root : (!transform.any_op) -> !transform.any_op
    %function = transform.util.import_symbol @{} into %module if undefined
        : (!transform.any_op) -> !transform.any_op
    transform.util.cast_and_call %function(%ins) -> %out after %root {{
      transform.type_conversion.tensor.cast_shape_dynamic_dims
    }} : (!transform.any_op, !transform.any_value, !transform.any_value, !transform.any_op)
        -> !transform.any_op
    transform.yield
  }}
)mlir",
      function);
}

std::string calling_entry_point(const std::vector<std::string>& pairs, std::string_view before,
                                std::string_view note) {
  return fmt::format(
      R"mlir(  transform.named_sequence @__transform_main(%module: !transform.any_op) {{
{}    %functions = transform.structured.match ops{{["util.func"]}} in %module
        : (!transform.any_op) -> !transform.any_op
    transform.foreach %functions : !transform.any_op {{
    ^bb0(%function: !transform.any_op):
      transform.foreach_match in %function
          {} : (!transform.any_op) -> (!transform.any_op)
    }}
{}    %inlined = transform.apply_registered_pass "inline" to %module
        : (!transform.any_op) -> !transform.any_op
    transform.yield
  }}
)mlir",
      before, fmt::join(pairs, ",\n          "), note);
}

int columns_of_a_block(int vector_bits) {
  return 2 * vector_bits / kFloatBits;
}

std::string weights_in_blocks(int columns) {
  std::string sequences;
  std::vector<std::string> pairs;
  for (const ProductForm& form : kForms) {
    for (const bool behind : {false, true}) {
      sequences += matcher(form, behind, columns);
      pairs.push_back(
          fmt::format("@{}{} -> @block_{}", form.name, behind ? "_behind" : "", form.name));
    }
    sequences += change(form, columns);
  }
  // Packing leaves an unpack of the result, which is only a reshape. The last pass turns it into
  // one; otherwise a dispatch of its own would copy the result.
  return fmt::format(
      R"mlir(// Weights of products in blocks of {} columns, made by hone for IREE 3.13.
// Use: iree-compile {}THIS_FILE
module attributes {{transform.with_named_sequence}} {{{}
  transform.named_sequence @__transform_main(%module: !transform.any_op) {{
    %functions = transform.structured.match ops{{["util.func"]}} in %module : (!transform.any_op) -> !transform.any_op
    transform.foreach %functions : !transform.any_op {{
    ^bb0(%function: !transform.any_op):
      %changed = transform.foreach_match restrict_root in %function
        {}
        : (!transform.any_op) -> !transform.any_op
      transform.apply_registered_pass "iree-global-opt-simplify-pack-unpack" to %changed : (!transform.any_op) -> !transform.any_op
    }}
    transform.yield
  }}
}}
)mlir",
      columns, kTransformSpecFlag, sequences, fmt::join(pairs, ",\n        "));
}

namespace {

struct WideForm {
  std::string_view name;
  int rank;                // of both operands and the result
  std::string_view loops;  // d0, d1, ...: rank parallel ones, then those of the sum
  int sums;                // loops of the sum
  std::string_view lhs, rhs, result;
};

// Loops of convolutions: image, height, width and channel of the result (NCHW: channel, height,
// width); height, width and channel of the filter (NCHW: channel, height, width).
constexpr std::array kWideForms = {
    WideForm{"product", 2, "d0, d1, d2", 1, "d0, d2", "d2, d1", "d0, d1"},
    WideForm{"transposed", 2, "d0, d1, d2", 1, "d0, d2", "d1, d2", "d0, d1"},
    WideForm{"transposed_lhs", 2, "d0, d1, d2", 1, "d2, d0", "d2, d1", "d0, d1"},
    WideForm{"batch", 3, "d0, d1, d2, d3", 1, "d0, d1, d3", "d0, d3, d2", "d0, d1, d2"},
    WideForm{"transposed_batch", 3, "d0, d1, d2, d3", 1, "d0, d1, d3", "d0, d2, d3", "d0, d1, d2"},
    WideForm{"nhwc", 4, "d0, d1, d2, d3, d4, d5, d6", 3, "d0, d1 + d4, d2 + d5, d6",
             "d4, d5, d6, d3", "d0, d1, d2, d3"},
    WideForm{"nhwc_stride_2", 4, "d0, d1, d2, d3, d4, d5, d6", 3,
             "d0, d1 * 2 + d4, d2 * 2 + d5, d6", "d4, d5, d6, d3", "d0, d1, d2, d3"},
    WideForm{"nchw", 4, "d0, d1, d2, d3, d4, d5, d6", 3, "d0, d4, d2 + d5, d3 + d6",
             "d1, d4, d5, d6", "d0, d1, d2, d3"},
    WideForm{"nchw_stride_2", 4, "d0, d1, d2, d3, d4, d5, d6", 3,
             "d0, d4, d2 * 2 + d5, d3 * 2 + d6", "d1, d4, d5, d6", "d0, d1, d2, d3"},
};

std::string maps_of(const WideForm& form) {
  std::vector<std::string> maps;
  for (const std::string_view indices : {form.lhs, form.rhs, form.result})
    maps.push_back(fmt::format("affine_map<({}) -> ({})>", form.loops, indices));
  return fmt::format("{}", fmt::join(maps, ", "));
}

std::string tensor_type(int rank, std::string_view element) {
  std::string type = "tensor<";
  for (int i = 0; i < rank; ++i) type += "?x";
  return fmt::format("{}{}>", type, element);
}

// ", "-separated "d0", "d1", ... with `prefix` in the place of "d".
std::string listed(int rank, std::string_view prefix) {
  std::vector<std::string> names;
  for (int i = 0; i < rank; ++i) names.push_back(fmt::format("{}{}", prefix, i));
  return fmt::format("{}", fmt::join(names, ", "));
}

// Each element of `from` converted by `operation` into a new tensor `to`.
std::string converted(int rank, std::string_view from, std::string_view from_element,
                      std::string_view to, std::string_view to_element,
                      std::string_view operation) {
  const std::string map = fmt::format("affine_map<({0}) -> ({0})>", listed(rank, "d"));
  std::vector<std::string> parallel(to_index(rank), "\"parallel\"");
  return fmt::format(
      R"mlir(    %empty_{to} = tensor.empty({sizes}) : {to_type}
    %{to} = linalg.generic {{indexing_maps = [{map}, {map}], iterator_types = [{parallel}]}}
        ins(%{from} : {from_type}) outs(%empty_{to} : {to_type}) {{
    ^bb0(%x: {from_element}, %y: {to_element}):
      %z = arith.{operation} %x : {from_element} to {to_element}
      linalg.yield %z : {to_element}
    }} -> {to_type}
)mlir",
      fmt::arg("to", to), fmt::arg("sizes", listed(rank, "%size")),
      fmt::arg("to_type", tensor_type(rank, to_element)), fmt::arg("map", map),
      fmt::arg("parallel", fmt::join(parallel, ", ")), fmt::arg("from", from),
      fmt::arg("from_type", tensor_type(rank, from_element)),
      fmt::arg("from_element", from_element), fmt::arg("to_element", to_element),
      fmt::arg("operation", operation));
}

// The operation with f32 sums, of %lhs and %rhs into %wide_sums.
std::string operation_text(const WideForm& form) {
  std::vector<std::string> loops(to_index(form.rank), "\"parallel\"");
  loops.insert(loops.end(), to_index(form.sums), "\"reduction\"");
  return fmt::format(
      R"mlir(    %wide = linalg.generic {{indexing_maps = [{0}], iterator_types = [{1}]}}
        ins(%lhs, %rhs : {2}, {2}) outs(%wide_sums : {3}) {{
    ^bb0(%a: f16, %b: f16, %sum: f32):
      %wide_a = arith.extf %a : f16 to f32
      %wide_b = arith.extf %b : f16 to f32
      %product = arith.mulf %wide_a, %wide_b : f32
      %more = arith.addf %sum, %product : f32
      linalg.yield %more : f32
    }} -> {3}
)mlir",
      maps_of(form), fmt::join(loops, ", "), tensor_type(form.rank, "f16"),
      tensor_type(form.rank, "f32"));
}

std::string function(const WideForm& form) {
  const std::string narrow = tensor_type(form.rank, "f16");
  std::string text =
      fmt::format("  util.func private @wide_{0}(%lhs: {1}, %rhs: {1}, %sums: {1}) -> {1} {{\n",
                  form.name, narrow);
  for (int i = 0; i < form.rank; ++i)
    text += fmt::format(
        "    %at{0} = arith.constant {0} : index\n    %size{0} = tensor.dim %sums, %at{0} : {1}\n",
        i, narrow);
  return text + converted(form.rank, "sums", "f16", "wide_sums", "f32", "extf") +
         operation_text(form) + converted(form.rank, "wide", "f32", "result", "f16", "truncf") +
         fmt::format("    util.return %result : {}\n  }}\n", narrow);
}

std::string wide_matcher(const WideForm& form) {
  const bool is_product = form.sums == 1;
  return fmt::format(
      R"mlir(  transform.named_sequence @match_{0}(%root: !transform.any_op {{transform.readonly}})
      -> !transform.any_op {{
    {1} = transform.iree.match.{2} %root,
      lhs_type = f16, rhs_type = f16, output_type = f16, indexing_maps = [{3}]
      : !transform.any_op -> !transform.param<i64>
    transform.yield %root : !transform.any_op
  }}
)mlir",
      form.name,
      is_product ? "%batch, %m, %n, %k"
                 : "%batch, %image, %channel, %filter, %inner, %depth, %strides, %dilations",
      is_product ? "contraction" : "convolution", maps_of(form));
}

std::string action(const WideForm& form) {
  return fmt::format(
      R"mlir(  transform.named_sequence @widen_{0}(%root: !transform.any_op {{transform.readonly}}) {{
    %ins = transform.get_operand %root[all] : (!transform.any_op) -> !transform.any_value
    %out = transform.get_result %root[all] : (!transform.any_op) -> !transform.any_value
{1})mlir",
      form.name, calling_text(fmt::format("wide_{}", form.name)));
}

}  // namespace

bool has_narrow_sums(const problem::Program& program) {
  return std::ranges::any_of(program.dispatches, [](const problem::Dispatch& dispatch) {
    const problem::Operation& root = dispatch.root;
    return (problem::is_contraction(root.kind) ||
            root.kind == problem::OperationKind::kConvolution) &&
           !root.operands.empty() &&
           std::ranges::all_of(root.operands, [](const problem::Operand& operand) {
             return operand.type.element == problem::ElementType::kF16;
           });
  });
}

std::string wide_sums_spec() {
  std::string sequences;
  std::vector<std::string> pairs;
  for (const WideForm& form : kWideForms) {
    sequences += function(form) + wide_matcher(form) + action(form);
    pairs.push_back(fmt::format("@match_{0} -> @widen_{0}", form.name));
  }
  return fmt::format(
      R"mlir(// Sums of f16 products and convolutions in f32, made by hone for IREE 3.13.
// Use: iree-compile {}THIS_FILE
module attributes {{transform.with_named_sequence}} {{
{}{}}}
)mlir",
      kTransformSpecFlag, sequences, calling_entry_point(pairs));
}

}  // namespace hone::iree
