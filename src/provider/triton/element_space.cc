#include "provider/triton/element_space.h"

#include <algorithm>
#include <bit>
#include <set>

namespace hone::triton {
namespace {

using problem::ElementType;
using problem::LoopRole;
using problem::ScalarKind;
using space::Expression;
using space::Value;

// Elements of a row that a program keeps in registers: 64 for each of 512 threads.
constexpr std::int64_t kMostKept = 32768;
constexpr std::int64_t kFewestOfWalk = 4096;  // elements of a step along a longer row
constexpr std::int64_t kWidest = 1024;        // columns of a block
constexpr std::int64_t kFewestOfTile = 512;

std::int64_t padded(std::int64_t size) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(size)));
}

// Powers of two from `least` on, `count` of them, and none beyond `most`, which is one itself.
std::vector<Value> powers(std::int64_t least, int count, std::int64_t most) {
  std::set<Value> values;
  for (int i = 0; i < count; ++i) values.insert(std::min(least << i, most));
  return {values.begin(), values.end()};
}

bool is_known(ElementType type) {
  return type != ElementType::kF64 && type != ElementType::kF8E4M3 && type != ElementType::kF8E5M2;
}

}  // namespace

Result<ElementShape> elements_of(const problem::Statement& stated) {
  ElementShape shape;
  shape.reduces = stated.reduces();
  shape.rows = stated.steps(LoopRole::kM);
  const LoopRole along = shape.reduces ? LoopRole::kK : LoopRole::kN;
  shape.columns = stated.steps(along);
  // A use of rows alone is contiguous along them too, which costs little.
  const auto look_at = [&](const problem::StatedUse& use) {
    bool rows = false, columns = false;
    for (std::size_t l = 0; l < stated.loops.size(); ++l) {
      const problem::StatedLoop& loop = stated.loops[l];
      rows |= loop.role == LoopRole::kM && loop.size > 1 && use.strides[l] == 1;
      columns |= loop.role == along && loop.size > 1 && use.strides[l] != 0;
    }
    shape.dense_rows |= rows && columns;
  };
  for (const problem::StatedValue& value : stated.values) {
    if (value.operation.is(ScalarKind::kOther))
      return input_error("Triton's kernels for dispatches have no {}", value.operation.name());
    if (!is_known(value.type))
      return input_error("Triton's kernels for dispatches do not compute in {}",
                         problem::name_of(value.type));
    if (value.operation.is(ScalarKind::kLoad)) look_at(value.use);
  }
  for (const problem::StatedStore& store : stated.stores) look_at(store.use);
  return shape;
}

space::SpaceBuilder element_space_builder(const ElementShape& shape, const GemmDevice& device) {
  space::SpaceBuilder builder;
  const std::int64_t rows = padded(shape.rows), columns = padded(shape.columns);
  std::vector<Value> heights, widths;
  if (shape.dense_rows) {
    heights = powers(32, 2, rows);
    widths = powers(32, 2, columns);
  } else if (shape.reduces && columns <= kMostKept) {
    heights = powers(1, 3, rows);
    widths = {columns};
  } else if (shape.reduces) {
    heights = {1};
    widths = powers(kFewestOfWalk, 3, columns);
  } else {
    widths = powers(std::min(columns, kWidest), 2, columns);
    heights = powers(std::max<std::int64_t>(kFewestOfTile / widths.front(), 1), 3, rows);
  }
  const Expression block_m = builder.knob("BLOCK_M", "rows of a program", std::move(heights));
  const Expression block_n = builder.knob(
      "BLOCK_N", shape.reduces ? "columns of a step along a row" : "columns of a program",
      std::move(widths));
  const Expression tile = block_m * block_n;
  if (shape.reduces)
    builder.require("kept", "a program keeps {} elements; there may be {}", tile <= kMostKept,
                    {tile, kMostKept});
  const std::vector<Value> warp_counts =
      shape.reduces ? std::vector<Value>{1, 2, 4, 8, 16} : std::vector<Value>{2, 4, 8};
  const Expression warps = builder.knob("num_warps", "warps of a program", warp_counts);
  const Expression threads = warps * device.warp;
  const std::int64_t most = shape.reduces && !shape.dense_rows ? 32 : 16;
  builder.require("elements_of_thread", "a thread has at least 4 of {} elements",
                  tile >= threads * 4 || warps == warp_counts.front(), {tile});
  builder.require("registers", "a thread has at most " + std::to_string(most) + " of {} elements",
                  tile <= threads * most || warps == warp_counts.back(), {tile});
  return builder;
}

}  // namespace hone::triton
