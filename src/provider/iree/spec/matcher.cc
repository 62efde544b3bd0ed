#include <algorithm>
#include <limits>

#include "provider/iree/cpu/loops.h"
#include "provider/iree/spec/tuning_spec.h"

namespace hone::iree {
namespace {

// MLIR's ShapedType::kDynamic. To IREE's matchers -1 is any size, an open one or not.
std::int64_t as_matched(std::int64_t size) {
  return size == problem::kDynamic ? std::numeric_limits<std::int64_t>::min() : size;
}

// Types, maps and extents by role.
std::string contraction_matcher(const problem::Operation& root) {
  std::vector<std::string> dims, maps;
  for (std::size_t i = 0; i < root.loops.size(); ++i) dims.push_back(fmt::format("d{}", i));
  for (const problem::Operand& operand : root.operands) {
    std::vector<std::string> results;
    for (const int loop : operand.loops) results.push_back(fmt::format("d{}", loop));
    maps.push_back(
        fmt::format("affine_map<({}) -> ({})>", fmt::join(dims, ", "), fmt::join(results, ", ")));
  }
  std::string text = fmt::format(
      "    %batch, %m, %n, %k = transform.iree.match.contraction %root,\n"
      "      lhs_type = {}, rhs_type = {}, output_type = {},\n"
      "      indexing_maps = [{}]\n"
      "      : !transform.any_op -> !transform.param<i64>\n",
      name_of(root.operands[0].type.element), name_of(root.operands[1].type.element),
      name_of(root.operands[2].type.element), fmt::join(maps, ", "));
  using enum problem::LoopRole;
  for (const problem::LoopRole role : {kBatch, kM, kN, kK}) {
    std::vector<std::int64_t> sizes;
    for (const int loop : loops_with(root, role))
      sizes.push_back(as_matched(root.loops[static_cast<std::size_t>(loop)].size));
    text += fmt::format("    transform.iree.match.dims_equal %{}, [{}] : !transform.param<i64>\n",
                        name_of(role), fmt::join(sizes, ", "));
  }
  return text;
}

bool is_attention(const problem::Operation& root) {
  return root.kind == problem::OperationKind::kAttention;
}

// Number of operands that tell roots apart. For attention it is query, key and value, since the
// compiler's two forms of it share no others.
std::size_t telling_operands(const problem::Operation& root) {
  return is_attention(root) ? std::min<std::size_t>(3, root.operands.size()) : root.operands.size();
}

std::string names_text(const problem::Operation& root) {
  if (!is_attention(root)) return fmt::format("\"{}\"", root.name);
  return "\"iree_linalg_ext.attention\", \"iree_linalg_ext.online_attention\"";
}

// Whether `transform.match.structured` accepts the operation.
bool is_structured(const problem::Operation& root) {
  return root.name.starts_with("linalg.") && root.kind != problem::OperationKind::kOther;
}

std::string loops_text(const problem::Operation& root) {
  std::string text =
      "    transform.match.structured %root : !transform.any_op {\n"
      "    ^bb0(%nest: !transform.any_op):\n";
  text += fmt::format(
      "      %rank = transform.match.structured.rank %nest : (!transform.any_op) -> "
      "!transform.param<i64>\n"
      "      %wanted_rank = transform.param.constant {} : i64 -> !transform.param<i64>\n"
      "      transform.match.param.cmpi eq %rank, %wanted_rank : !transform.param<i64>\n",
      root.loops.size());
  for (std::size_t i = 0; i < root.loops.size(); ++i)
    text += fmt::format(
        "      %size{0} = transform.match.structured.dim %nest[{0}] : (!transform.any_op) -> "
        "!transform.param<i64>\n"
        "      %wanted{0} = transform.param.constant {1} : i64 -> !transform.param<i64>\n"
        "      transform.match.param.cmpi eq %size{0}, %wanted{0} : !transform.param<i64>\n"
        "      transform.match.structured.dim %nest[{0}] {2} : !transform.any_op\n",
        i, as_matched(root.loops[i].size), root.loops[i].reduction ? "reduction" : "parallel");
  return text + "      transform.match.structured.yield\n    }\n";
}

std::string named_matcher(const problem::Operation& root) {
  std::string text = fmt::format(
      "    transform.match.operation_name %root [{}] : !transform.any_op\n", names_text(root));
  if (is_structured(root)) text += loops_text(root);
  for (std::size_t i = 0; i < telling_operands(root); ++i)
    text += fmt::format(
        "    %operand{0} = transform.get_operand %root[{0}] : (!transform.any_op) -> "
        "!transform.any_value\n"
        "    transform.iree.match.cast_compatible_type %operand{0} = tensor<{1}>\n"
        "      : !transform.any_value\n",
        i, to_string(root.operands[i].type));
  return text;
}

// The operation that matchers see in place of `root`, as matched_root() describes it.
problem::Operation when_specs_apply(const problem::Operation& root) {
  if (root.name != "linalg.softmax" || root.operands.size() != 2) return root;
  problem::Operation sum = root;
  sum.name = "linalg.generic";
  sum.kind = problem::OperationKind::kReduction;
  problem::Operand row{{root.operands.front().type.element, {}}, {}, false};
  for (std::size_t loop = 0; loop < root.loops.size(); ++loop)
    if (!root.loops[loop].reduction) {
      row.type.shape.push_back(root.operands.front().type.shape[loop]);
      row.loops.push_back(static_cast<int>(loop));
    }
  sum.operands = {root.operands.front(), row, row};
  sum.operands.back().output = true;
  return sum;
}

}  // namespace

problem::Operation matched_root(const problem::Operation& root,
                                const std::vector<problem::SurroundingOperation>& surrounding) {
  return surrounding.empty() ? root : when_specs_apply(root);
}

Status can_match(const problem::Operation& root) {
  if (is_contraction(root.kind)) {
    HONE_TRY(contraction_loops(root));
    return {};
  }
  if (is_dynamic(root))
    return input_error("{} has a loop whose size is known only at run time", describe(root));
  if (root.name == "linalg.softmax")
    return input_error(
        "IREE takes {} apart before it applies specs: they find its sum, and hone knows what "
        "is around that only where it configures a CPU",
        root.name);
  if (root.loops.empty() || root.operands.empty())
    return input_error("{} has no loops or operands that a matcher could tell it by",
                       describe(root));
  return {};
}

std::string matcher_text(const problem::Operation& given) {
  const problem::Operation root = as_stated(given);
  return is_contraction(root.kind) ? contraction_matcher(root) : named_matcher(root);
}

bool has_restored_batch(const problem::Operation& root) {
  return root.kind == problem::OperationKind::kConvolution && !root.loops.empty() &&
         !root.loops.front().reduction && root.loops.front().size == 1;
}

std::string batch_restoring_text(std::string_view from, std::string_view to) {
  return fmt::format(
      "    {} = transform.apply_registered_pass \"{}\" to {}\n"
      "      : (!transform.any_op) -> !transform.any_op\n",
      to, kBatchRestoringPass, from);
}

bool same_spec_class(const problem::Operation& left, const problem::Operation& right) {
  const problem::Operation a = as_stated(when_specs_apply(left)),
                           b = as_stated(when_specs_apply(right));
  if (is_contraction(a.kind) != is_contraction(b.kind)) return false;
  if (is_contraction(a.kind)) return a.loops == b.loops && a.operands == b.operands;
  const auto same_loop = [](const problem::Loop& one, const problem::Loop& other) {
    return one.size == other.size && one.reduction == other.reduction;
  };
  if (names_text(a) != names_text(b)) return false;
  if (!std::equal(a.loops.begin(), a.loops.end(), b.loops.begin(), b.loops.end(), same_loop))
    return false;
  const std::size_t operands = telling_operands(a);
  if (telling_operands(b) != operands) return false;
  for (std::size_t i = 0; i < operands; ++i)
    if (a.operands[i].type != b.operands[i].type) return false;
  return true;
}

}  // namespace hone::iree
