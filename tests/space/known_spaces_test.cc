#include "tests/space/known_spaces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace hone::space {
namespace {

// The same space by nested loops over the tiles, with the subgroup counts divided out.
std::uint64_t tile_and_fuse_by_loops(known::Matmul size) {
  std::uint64_t count = 0;
  for (const auto& [edge, depth_unit] : {std::pair<Value, Value>{16, 16}, {32, 8}}) {
    const auto aligned = [](Value extent, Value unit) { return (extent + unit - 1) / unit * unit; };
    const Value m = aligned(size.m, edge);
    const Value n = aligned(size.n, edge);
    const Value k = aligned(size.k, depth_unit);
    for (Value wg_0 = edge; wg_0 <= std::min<Value>(512, m); wg_0 += edge) {
      for (Value wg_1 = edge; wg_1 <= std::min<Value>(512, n); wg_1 += edge) {
        if (m % wg_0 != 0 || n % wg_1 != 0) continue;
        for (Value sg_0 = 1; sg_0 * edge <= wg_0; ++sg_0) {
          for (Value sg_1 = 1; sg_1 * edge <= wg_1; ++sg_1) {
            if (wg_0 % (sg_0 * edge) != 0 || wg_1 % (sg_1 * edge) != 0) continue;
            const Value subgroups = wg_0 / (sg_0 * edge) * (wg_1 / (sg_1 * edge));
            if (subgroups > 10) continue;  // so neither count exceeds 32, nor threads 1024
            for (Value depth = depth_unit; depth <= std::min<Value>(512, k); depth += depth_unit) {
              count += k % depth == 0 && 2 * (wg_0 + wg_1) * depth <= 65536;
            }
          }
        }
      }
    }
  }
  return count;
}

TEST(TileAndFuse, HasAsManyConfigurationsAsNestedLoopsFind) {
  for (const known::Matmul size :
       {known::Matmul{2048, 1280, 1280}, {4096, 4096, 4096}, {2048, 10240, 1280}, {17, 100, 33}}) {
    const auto space = known::tile_and_fuse(size).build();
    ASSERT_TRUE(space) << space.error().message;
    EXPECT_TRUE(space->count().exact);
    EXPECT_EQ(space->count().value, tile_and_fuse_by_loops(size));
  }
}

}  // namespace
}  // namespace hone::space
