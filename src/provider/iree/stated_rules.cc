#include "provider/iree/stated_rules.h"

#include <algorithm>
#include <optional>

namespace hone::iree {
namespace {

using space::Expression;

std::optional<Expression> variable(const space::SpaceBuilder& builder, const std::string& name) {
  for (const space::Variable& each : builder.definition().variables)
    if (each.name == name) return each.expression;
  return std::nullopt;
}

// The loops that walk the dimensions of an image whose index is a sum (h + kh): the parallel loops
// that no input has for itself, in order.
std::vector<int> spatial_loops(const problem::Operation& root) {
  std::vector<int> spatial;
  for (int loop = 0; loop < static_cast<int>(root.loops.size()); ++loop) {
    const bool alone =
        std::any_of(root.operands.begin(), root.operands.end(), [&](const auto& operand) {
          return !operand.output &&
                 std::find(operand.loops.begin(), operand.loops.end(), loop) != operand.loops.end();
        });
    if (!root.loops[static_cast<std::size_t>(loop)].reduction && !alone) spatial.push_back(loop);
  }
  return spatial;
}

// The extents of an input's tile, outermost first, without those that are always 1.
std::vector<Expression> tile_of(const problem::Operation& root, const problem::Operand& operand,
                                const space::SpaceBuilder& builder) {
  std::vector<Expression> tile;
  std::vector<int> spatial = spatial_loops(root);
  for (int loop : operand.loops) {
    if (loop < 0 && !spatial.empty()) {
      loop = spatial.front();
      spatial.erase(spatial.begin());
    }
    if (loop < 0) continue;
    const bool reduction = root.loops[static_cast<std::size_t>(loop)].reduction;
    if (auto extent = variable(builder, fmt::format("{}_{}", reduction ? "red" : "wg", loop)))
      tile.push_back(*extent);
  }
  return tile;
}

// Whether `threads` can be laid over the tile: column by column from the innermost extent, each of
// which takes all that are left or divides them.
Expression covers(const std::vector<Expression>& tile, const Expression& threads,
                  std::int64_t bits) {
  constexpr std::int64_t kCopyBits = 128;
  const Expression each = euclidean_div(space::product_of(tile), threads);
  const Expression& row = tile.back();
  const Expression wanted = min(space::constant(kCopyBits / bits), each);
  // One element at a time where neither divides the other.
  const Expression vector = ite(euclidean_mod(row, wanted) == 0 || euclidean_mod(wanted, row) == 0,
                                min(row, wanted), space::constant(1));
  Expression kept = true;
  Expression left = threads;
  for (std::size_t i = tile.size(); i-- > 0;) {
    const Expression extent = i + 1 == tile.size() ? euclidean_div(row, vector) : tile[i];
    const Expression divides = euclidean_mod(left, extent) == 0;
    kept = kept && (divides || euclidean_mod(extent, left) == 0);
    left = ite(divides, euclidean_div(left, extent), space::constant(1));
  }
  return kept;
}

void add_copy_layout(const problem::Operation& root, space::SpaceBuilder& builder) {
  const auto threads = variable(builder, "wg_size_x");
  if (!threads) return;
  for (std::size_t i = 0; i < root.operands.size(); ++i) {
    const problem::Operand& operand = root.operands[i];
    if (operand.output) continue;
    const std::vector<Expression> tile = tile_of(root, operand, builder);
    if (tile.empty()) continue;
    std::vector<Expression> arguments{space::constant(static_cast<space::Value>(i)), *threads};
    std::string extents;
    for (const Expression& extent : tile) {
      arguments.push_back(extent);
      extents += extents.empty() ? "{}" : "x{}";
    }
    builder.require(std::string(kCopyLayoutRule),
                    "input {}: {} threads must cover its tile of " + extents +
                        " without a rest, 128 bits each along the rows",
                    covers(tile, *threads, 8 * problem::byte_size(operand.type.element)),
                    arguments);
  }
}

// The compiler's own sum of what is in shared memory, held against the device's limit.
void add_device_memory(const problem::GpuTarget& target, space::SpaceBuilder& builder) {
  constexpr std::string_view kStated = "shared memory must fit";
  for (const space::Constraint& constraint : builder.definition().constraints) {
    const Expression& stated = constraint.expression;
    if (!constraint.name.starts_with(kStated) ||
        stated.operation() != space::Operation::kLessEqual ||
        stated.operands()[1].operation() != space::Operation::kConstant ||
        stated.operands()[1].constant_value() <= target.workgroup_memory_bytes)
      continue;
    const Expression bytes = stated.operands()[0];
    builder.require(std::string(kDeviceMemoryRule),
                    fmt::format("{{}} bytes are within the {} that {} gives a workgroup",
                                target.workgroup_memory_bytes, target.arch),
                    bytes <= space::constant(target.workgroup_memory_bytes), {bytes});
    return;
  }
}

}  // namespace

void add_own_rules(const StatedSet& set, const problem::Operation& root,
                   const problem::GpuTarget& target, space::SpaceBuilder& builder) {
  const bool attention = root.kind == problem::OperationKind::kAttention;
  if (set.pipeline == "VectorDistribute" && !attention) add_copy_layout(root, builder);
  add_device_memory(target, builder);
}

}  // namespace hone::iree
