#include "provider/iree/extern_spec.h"

#include <algorithm>
#include <array>

#include "provider/iree/compiler/weights_in_blocks.h"

namespace hone::iree {
namespace {

// "f16" of "tensor<2x32x32x1280xf16>".
std::string element_of(const std::string& type) {
  const std::size_t begin = type.rfind('x') + 1;
  return type.substr(begin, type.rfind('>') - begin);
}

std::string zero_of(const std::string& element) {
  return element.starts_with("i") ? "0 : " + element : "0.0 : " + element;
}

// Operands of the call in the order of the launch: constants, then tensors. A result that stands
// between operands, or that must hold something before, is an operand too, to which it is tied.
class Call {
 public:
  explicit Call(const ExternDispatch& dispatch) : dispatch_(dispatch) {}

  std::string text(std::size_t number, std::string_view target) const {
    const auto& types = dispatch_.operation.types;
    const problem::Launch& launch = dispatch_.launch;
    std::vector<std::string> lines, names, operand_types, bindings;
    for (const std::uint32_t constant : launch.constants) {
      names.push_back(fmt::format("%constant_{}", names.size()));
      operand_types.emplace_back("i32");
      lines.push_back(fmt::format("{} = arith.constant {} : i32", names.back(),
                                  static_cast<std::int32_t>(constant)));
    }
    const bool tied = dispatch_.zeroed || dispatch_.bindings.back() != kResult;
    std::string tie;
    if (tied) add_result(types.at(kResult), lines);
    for (const int binding : dispatch_.bindings) {
      const bool result = binding == kResult;
      bindings.emplace_back(result ? "#hal.pipeline.binding<storage_buffer>"
                                   : "#hal.pipeline.binding<storage_buffer, ReadOnly>");
      if (result && !tied) continue;
      if (result) tie = fmt::format(", tied_operands = [{} : index]", names.size());
      constexpr std::array kNames = {"%lhs", "%rhs", "%result"};
      names.emplace_back(kNames.at(static_cast<std::size_t>(binding)));
      operand_types.push_back(types.at(static_cast<std::size_t>(binding)));
    }
    // The attributes that say how it is launched have no place in the short form.
    return fmt::format(
        R"mlir(  // {comment}
  util.func private @kernel_{number}(%lhs: {lhs}, %rhs: {rhs}) -> {result} {{
    {lines}
    %called = "hal.dispatch.extern"({names}) <{{
      export_name = "{function}",
      layout = #hal.pipeline.layout<constants = {count}, bindings = [{bindings}]>,
      targets = [{target}], target_ordinals = [0 : index],
      target_objects = [[#hal.executable.object<{{path = "{object}"}}>]],
      workgroup_size = [{bx} : index, {by} : index, {bz} : index], subgroup_size = {subgroup} : index,
      workgroup_local_memory = {shared} : index{tie},
      operandSegmentSizes = array<i32: 0, {operands}, 0, 0>}}> ({{
    ^bb0(%device: !hal.device):
      %x = arith.constant {gx} : index
      %y = arith.constant {gy} : index
      %z = arith.constant {gz} : index
      hal.return %x, %y, %z : index, index, index
    }}, {{}}) : ({types}) -> {result}
    util.return %called : {result}
  }}
)mlir",
        fmt::arg("comment", dispatch_.comment), fmt::arg("number", number),
        fmt::arg("lhs", types.at(0)), fmt::arg("rhs", types.at(1)),
        fmt::arg("result", types.at(kResult)), fmt::arg("lines", fmt::join(lines, "\n    ")),
        fmt::arg("names", fmt::join(names, ", ")), fmt::arg("function", dispatch_.function),
        fmt::arg("count", launch.constants.size()), fmt::arg("bindings", fmt::join(bindings, ", ")),
        fmt::arg("target", target), fmt::arg("object", dispatch_.object),
        fmt::arg("bx", launch.block[0]), fmt::arg("by", launch.block[1]),
        fmt::arg("bz", launch.block[2]), fmt::arg("subgroup", dispatch_.subgroup_size),
        fmt::arg("shared", launch.shared_bytes), fmt::arg("tie", tie),
        fmt::arg("operands", names.size()), fmt::arg("gx", launch.grid[0]),
        fmt::arg("gy", launch.grid[1]), fmt::arg("gz", launch.grid[2]),
        fmt::arg("types", fmt::join(operand_types, ", ")));
  }

 private:
  static constexpr int kResult = 2;

  void add_result(const std::string& type, std::vector<std::string>& lines) const {
    if (!dispatch_.zeroed) {
      lines.push_back(fmt::format("%result = tensor.empty() : {}", type));
      return;
    }
    const std::string element = element_of(type);
    lines.push_back(fmt::format("%zero = arith.constant {}", zero_of(element)));
    lines.push_back(fmt::format("%empty = tensor.empty() : {}", type));
    lines.push_back(fmt::format("%result = linalg.fill ins(%zero : {0}) outs(%empty : {1}) -> {1}",
                                element, type));
  }

  const ExternDispatch& dispatch_;
};

std::string matcher_text(const ExternDispatch& dispatch, std::size_t number) {
  return fmt::format(
      R"mlir(  transform.named_sequence @match_{0}(%root: !transform.any_op {{transform.readonly}})
      -> (!transform.any_value, !transform.any_value) {{
    %ins, %outs = transform.iree.match.cast_compatible_dag_from_root %root {{
    ^bb0(%arg0: {1}, %arg1: {2}):
{3}    }} : (!transform.any_op) -> (!transform.any_value, !transform.any_value)
    transform.yield %ins, %outs : !transform.any_value, !transform.any_value
  }}
  transform.named_sequence @call_{0}(%ins: !transform.any_value {{transform.readonly}},
                                     %out: !transform.any_value {{transform.readonly}}) {{
    %root = transform.get_defining_op %out : (!transform.any_value) -> !transform.any_op
    %module = transform.util.get_nearest_symbol_table %root : (!transform.any_op) -> !transform.any_op
    %kernel = transform.util.import_symbol @kernel_{0} into %module if undefined
        : (!transform.any_op) -> !transform.any_op
    transform.util.cast_and_call %kernel(%ins) -> %out after %root {{
      transform.type_conversion.tensor.cast_shape_dynamic_dims
    }} : (!transform.any_op, !transform.any_value, !transform.any_value, !transform.any_op)
        -> !transform.any_op
    transform.yield
  }}
)mlir",
      number, dispatch.operation.types.at(0), dispatch.operation.types.at(1),
      dispatch.operation.dag);
}

}  // namespace

std::string extern_spec_text(const std::vector<ExternDispatch>& dispatches,
                             problem::GpuBackend backend) {
  const bool rocm = backend == problem::GpuBackend::kRocm;
  const std::string_view target = rocm ? R"(#hal.executable.target<"rocm", "rocm-hsaco-fb">)"
                                       : R"(#hal.executable.target<"cuda", "cuda-nvptx-fb">)";
  std::string text = "module attributes {transform.with_named_sequence} {\n";
  std::vector<std::string> pairs;
  for (std::size_t i = 0; i < dispatches.size(); ++i) {
    text += Call(dispatches[i]).text(i, target) + matcher_text(dispatches[i], i);
    pairs.push_back(fmt::format("@match_{0} -> @call_{0}", i));
  }
  return text +
         fmt::format(
             R"mlir(  transform.named_sequence @__transform_main(%module: !transform.any_op) {{
    %functions = transform.structured.match ops{{["util.func"]}} in %module
        : (!transform.any_op) -> !transform.any_op
    transform.foreach %functions : !transform.any_op {{
    ^bb0(%function: !transform.any_op):
      transform.foreach_match in %function
          {} : (!transform.any_op) -> (!transform.any_op)
    }}
    // A call would have its operands copied before each launch.
    %inlined = transform.apply_registered_pass "inline" to %module
        : (!transform.any_op) -> !transform.any_op
    transform.yield
  }}
}}
)mlir",
             fmt::join(pairs, ",\n          "));
}

std::vector<std::string> extern_spec_flags(const std::string& spec, const std::string& folder) {
  return {std::string(kTransformSpecFlag) + spec,
          "--iree-hal-executable-object-search-path=" + folder};
}

}  // namespace hone::iree
