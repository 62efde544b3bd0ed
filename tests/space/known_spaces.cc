#include "tests/space/known_spaces.h"

namespace hone::space::known {

namespace {

// What both pipelines' constraint operations begin with.
struct Common {
  Expression mma, mma_m, mma_n, mma_k;
  Expression threads_x, threads_y, threads_z, subgroup_size, stages;
};

constexpr Value kLooseUpper = Value{1} << 31;

Expression loose(SpaceBuilder& builder, std::string name) {
  return builder.knob_range(std::move(name), "", 0, kLooseUpper);
}

Common add_common(SpaceBuilder& builder) {
  const Expression mma = loose(builder, "mma_idx");
  Common common{mma,
                lookup(mma, {0, 1}, {16, 32}),
                lookup(mma, {0, 1}, {16, 32}),
                lookup(mma, {0, 1}, {16, 8}),
                loose(builder, "wg_size_x"),
                loose(builder, "wg_size_y"),
                loose(builder, "wg_size_z"),
                loose(builder, "sg_size"),
                loose(builder, "prefetch_num_stages")};
  builder.require("mma_idx >= 0", "mma_idx >= 0", mma >= 0);
  builder.require("mma_idx <= 1", "mma_idx <= 1", mma <= 1);
  builder.require("sg_size", "sg_size == preferred_subgroup_size", common.subgroup_size == 64);
  builder.require("wg_size_y", "wg_size_y == 1", common.threads_y == 1);
  builder.require("wg_size_z", "wg_size_z == 1", common.threads_z == 1);
  builder.prefer("prefetch_num_stages", "prefetch_num_stages == 2", common.stages == 2);
  return common;
}

void require_multiple(SpaceBuilder& builder, std::string name, const Expression& a,
                      const Expression& b) {
  builder.require(name, name + " ({} % {} == 0)", euclidean_mod(a, b) == 0, {a, b});
}

Expression aligned(Value extent, const Expression& unit) {
  return euclidean_div(extent + (unit - 1), unit) * unit;
}

}  // namespace

SpaceBuilder tile_and_fuse(Matmul size) {
  SpaceBuilder builder;
  const Expression wg_0 = loose(builder, "wg_0");
  const Expression wg_1 = loose(builder, "wg_1");
  const Expression sg_0 = loose(builder, "sg_0");
  const Expression sg_1 = loose(builder, "sg_1");
  const Expression red_2 = loose(builder, "red_2");
  const Common common = add_common(builder);
  const Expression& mma_m = common.mma_m;
  const Expression& mma_n = common.mma_n;
  const Expression& mma_k = common.mma_k;
  const Expression sg_m_cnt = builder.auxiliary("sg_m_cnt");
  const Expression sg_n_cnt = builder.auxiliary("sg_n_cnt");
  const Expression subgroups = sg_m_cnt * sg_n_cnt;
  const Expression threads = subgroups * common.subgroup_size;
  const Expression depth = red_2 * mma_k;
  const Expression dim_0 = aligned(size.m, mma_m);
  const Expression dim_1 = aligned(size.n, mma_n);
  const Expression dim_2 = aligned(size.k, mma_k);

  require_multiple(builder, "dim_0 must be divisible by wg_0", dim_0, wg_0);
  builder.require("wg_0 >= 1", "wg_0 >= 1", wg_0 >= 1);
  builder.require("wg_0 <= dim_0", "wg_0 <= dim_0", wg_0 <= dim_0);
  require_multiple(builder, "wg_0 must be divisible by sg_0", wg_0, sg_0);
  require_multiple(builder, "dim_1 must be divisible by wg_1", dim_1, wg_1);
  builder.require("wg_1 >= 1", "wg_1 >= 1", wg_1 >= 1);
  builder.require("wg_1 <= dim_1", "wg_1 <= dim_1", wg_1 <= dim_1);
  require_multiple(builder, "wg_1 must be divisible by sg_1", wg_1, sg_1);
  builder.require("wg_0 >= mma_m", "wg_0 >= mma_m", wg_0 >= mma_m);
  builder.require("wg_1 >= mma_n", "wg_1 >= mma_n", wg_1 >= mma_n);
  require_multiple(builder, "wg_0 must be divisible by mma_m", wg_0, mma_m);
  require_multiple(builder, "wg_1 must be divisible by mma_n", wg_1, mma_n);
  require_multiple(builder, "wg_0 must be divisible by sg_0 * mma_m", wg_0, sg_0 * mma_m);
  require_multiple(builder, "wg_1 must be divisible by sg_1 * mma_n", wg_1, sg_1 * mma_n);
  builder.prefer("prod(wg_m) <= 512", "prod(wg_m) <= 512 (max_vgprs)", wg_0 <= 512);
  builder.prefer("prod(wg_n) <= 512", "prod(wg_n) <= 512 (max_vgprs)", wg_1 <= 512);
  builder.require("sg_m", "prod(wg_m) == prod(sg_m) * sg_m_cnt * mma_m",
                  wg_0 == sg_0 * sg_m_cnt * mma_m);
  builder.require("sg_n", "prod(wg_n) == prod(sg_n) * sg_n_cnt * mma_n",
                  wg_1 == sg_1 * sg_n_cnt * mma_n);
  builder.require("red_2 >= 1", "red_2 >= 1", red_2 >= 1);
  require_multiple(builder, "aligned inner k dim dim_2 must be divisible by red_2 * mma_k", dim_2,
                   depth);
  builder.prefer("red_2 * mma_k <= 512", "red_2 * mma_k <= 512 (max_vgprs)", depth <= 512);
  builder.require("red_2 * mma_k <= k", "red_2 * mma_k <= aligned k dim", depth <= dim_2);
  builder.require("sg_0 >= 1", "sg_0 >= 1", sg_0 >= 1);
  builder.require("sg_1 >= 1", "sg_1 >= 1", sg_1 >= 1);
  builder.require("sg_m_cnt >= 1", "sg_m_cnt >= 1", sg_m_cnt >= 1);
  builder.require("sg_m_cnt <= 32", "sg_m_cnt <= 32", sg_m_cnt <= 32);
  builder.require("sg_n_cnt >= 1", "sg_n_cnt >= 1", sg_n_cnt >= 1);
  builder.require("sg_n_cnt <= 32", "sg_n_cnt <= 32", sg_n_cnt <= 32);
  builder.require("sg_num >= 1", "sg_num >= 1", subgroups >= 1);
  builder.prefer("sg_num <= 10", "sg_num <= 10", subgroups <= 10);
  builder.require("total_threads", "total_threads <= max_threads", threads <= 1024);
  builder.require("shared_memory", "shared memory must fit in workgroup memory",
                  2 * wg_0 * depth + 2 * wg_1 * depth <= 65536);
  builder.require("wg_size_x", "wg_size_x == total_threads", common.threads_x == threads);
  return builder;
}

SpaceBuilder vector_distribute(Matmul size) {
  SpaceBuilder builder;
  const Expression wg_0 = loose(builder, "wg_0");
  const Expression wg_1 = loose(builder, "wg_1");
  const Expression red_2 = loose(builder, "red_2");
  const Expression sg_m_cnt = loose(builder, "sg_m_cnt");
  const Expression sg_n_cnt = loose(builder, "sg_n_cnt");
  const Common common = add_common(builder);
  const Expression& mma_m = common.mma_m;
  const Expression& mma_n = common.mma_n;
  const Expression& mma_k = common.mma_k;
  const Expression subgroups = sg_m_cnt * sg_n_cnt;
  const Expression threads = subgroups * common.subgroup_size;
  const Expression sg_m = euclidean_div(wg_0, sg_m_cnt * mma_m);
  const Expression sg_n = euclidean_div(wg_1, sg_n_cnt * mma_n);
  const Expression sg_k = euclidean_div(red_2, mma_k);

  require_multiple(builder, "dim_0 must be divisible by wg_0", size.m, wg_0);
  require_multiple(builder, "dim_1 must be divisible by wg_1", size.n, wg_1);
  require_multiple(builder, "dim_2 must be divisible by red_2", size.k, red_2);
  builder.require("wg_0 >= mma_m", "wg_0 >= mma_m", wg_0 >= mma_m);
  builder.require("wg_0 <= dim_0", "wg_0 <= dim_0", wg_0 <= size.m);
  builder.require("wg_1 >= mma_n", "wg_1 >= mma_n", wg_1 >= mma_n);
  builder.require("wg_1 <= dim_1", "wg_1 <= dim_1", wg_1 <= size.n);
  builder.require("red_2 >= mma_k", "red_2 >= mma_k", red_2 >= mma_k);
  builder.require("red_2 <= dim_2", "red_2 <= dim_2", red_2 <= size.k);
  builder.prefer("wg_0 <= 512", "wg_0 <= 512 (max VGPRs)", wg_0 <= 512);
  builder.prefer("wg_1 <= 512", "wg_1 <= 512 (max VGPRs)", wg_1 <= 512);
  builder.prefer("red_2 <= 512", "red_2 <= 512 (max VGPRs)", red_2 <= 512);
  require_multiple(builder, "wg_0 must be divisible by mma_m", wg_0, mma_m);
  require_multiple(builder, "wg_1 must be divisible by mma_n", wg_1, mma_n);
  require_multiple(builder, "red_2 must be divisible by mma_k", red_2, mma_k);
  require_multiple(builder, "wg_0 must be divisible by (sg_m_cnt * mma_m * sg_m)", wg_0,
                   sg_m_cnt * mma_m * sg_m);
  require_multiple(builder, "wg_1 must be divisible by (sg_n_cnt * mma_n * sg_n)", wg_1,
                   sg_n_cnt * mma_n * sg_n);
  require_multiple(builder, "red_2 must be divisible by (mma_k * sg_k)", red_2, mma_k * sg_k);
  for (const auto& [name, count] :
       {std::pair{"sg_m_cnt", sg_m_cnt}, std::pair{"sg_n_cnt", sg_n_cnt}, std::pair{"sg_m", sg_m},
        std::pair{"sg_n", sg_n}, std::pair{"sg_k", sg_k}}) {
    builder.require(std::string(name) + " >= 1", std::string(name) + " >= 1", count >= 1);
    builder.require(std::string(name) + " <= 32", std::string(name) + " <= 32", count <= 32);
  }
  builder.require("sg_num >= 1", "sg_num >= 1", subgroups >= 1);
  builder.prefer("sg_num <= 10", "sg_num <= 10", subgroups <= 10);
  builder.require("total_threads", "total_threads <= max_threads", threads <= 1024);
  require_multiple(builder, "lhs_tile_elements must be divisible by thread_count", red_2 * wg_0,
                   threads);
  require_multiple(builder, "rhs_tile_elements must be divisible by thread_count", red_2 * wg_1,
                   threads);
  builder.require("shared_memory", "shared memory must fit in workgroup memory",
                  2 * wg_0 * red_2 + 2 * wg_1 * red_2 <= 65536);
  builder.require("wg_size_x", "wg_size_x == total_threads", common.threads_x == threads);
  builder.require("wg_size_x <= wg", "wg_size_x <= wg_m OR wg_size_x <= wg_n",
                  common.threads_x <= wg_0 || common.threads_x <= wg_1);
  require_multiple(builder, "red_2 must be divisible by mma_m", red_2, mma_m);
  return builder;
}

}  // namespace hone::space::known
