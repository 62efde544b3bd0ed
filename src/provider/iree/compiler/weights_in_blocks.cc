#include "provider/iree/compiler/weights_in_blocks.h"

#include <fmt/ranges.h>

#include <array>
#include <vector>

namespace hone::iree {
namespace {

constexpr int kFloatBits = 32;
constexpr int kLeastRows = 16;

// A form in which programs have products: its loops are (batch,) rows, columns and the sum.
struct Form {
  std::string_view name, maps;
  bool batch;       // of one
  bool transposed;  // the weights lie columns first
};

constexpr std::array kForms = {
    Form{"product",
         "affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, "
         "affine_map<(d0, d1, d2) -> (d0, d1)>",
         false, false},
    Form{"transposed",
         "affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, "
         "affine_map<(d0, d1, d2) -> (d0, d1)>",
         false, true},
    Form{"batch",
         "affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, "
         "d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>",
         true, false},
    Form{"transposed_batch",
         "affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d2, "
         "d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>",
         true, true},
};

std::string matcher(const Form& form, bool behind, int columns) {
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
std::string change(const Form& form, int columns) {
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

int columns_of_a_block(int vector_bits) {
  return 2 * vector_bits / kFloatBits;
}

std::string weights_in_blocks(int columns) {
  std::string sequences;
  std::vector<std::string> pairs;
  for (const Form& form : kForms) {
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

}  // namespace hone::iree
