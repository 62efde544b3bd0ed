#include "provider/triton/gemm_space.h"

#include "provider/triton/gemm_rules.h"
#include "space/configuration.h"

namespace hone::triton {
namespace {

using space::Expression;
using space::SpaceBuilder;
using space::Value;

GemmKnobs add_knobs(SpaceBuilder& builder, const Gemm& gemm, const GemmDevice& device) {
  const auto on_cuda = [&](std::vector<Value> values) {
    return device.is_cuda() ? std::move(values) : std::vector<Value>{0};
  };
  GemmKnobs knobs{
      builder.knob("STRUCTURE",
                   "kernel: 0 blocked, 1 split-K by atomics, 2 split-K in two passes, 3 stream-K; "
                   "with tensor descriptors 4 persistent, 5 tiles or split-K, 6 stream-K, 7 wide "
                   "tiles, 8 warp-specialised",
                   {kBlocked, kSplitKAtomic, kSplitKTwoPasses, kStreamK, kPersistent, kTilesTma,
                    kStreamKTma, kWideTma, kWarpSpecialised}),
      builder.knob("BLOCK_M", "rows of a tile", {16, 32, 64, 128, 256}),
      builder.knob("BLOCK_N", "columns of a tile", {16, 32, 64, 128, 256}),
      builder.knob("BLOCK_K", "depth of a step", {16, 32, 64, 128, 256}),
      builder.knob("GROUP_M", "rows of tiles that are walked together", {1, 4, 8}),
      builder.knob("SPLIT_K", "parts of k", {1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 24}),
      builder.knob("PER_UNIT", "programs of a multiprocessor", {1, 2}),
      builder.knob("SPLIT_STORE", "C is written in one piece, two or four: 0, 1 or 2",
                   on_cuda({0, 1, 2})),
      builder.knob("MORE_N", "columns of a tile beyond BLOCK_N", on_cuda({0, 32, 64})),
      builder.knob("SWAP", "whether C^T = B^T A^T is computed", on_cuda({0, 1})),
      builder.knob("num_warps", "warps of a program", {1, 2, 4, 8}),
      builder.knob(
          "num_stages", "stages of the pipeline along k",
          device.is_cuda() ? std::vector<Value>{2, 3, 4, 5, 6, 8} : std::vector<Value>{1, 2, 3}),
      0,
      0};
  if (device.is_cuda()) return knobs;
  knobs.waves = builder.knob("waves_per_eu",
                             "wavefronts per SIMD asked for; 0: the compiler chooses", {0, 2});
  // RDNA's only matrix instruction is 16 x 16 x 16.
  knobs.nonkdim =
      builder.knob("matrix_instr_nonkdim", "rows and columns of the MFMA instruction",
                   device.is_cdna() ? std::vector<Value>{16, 32} : std::vector<Value>{16});
  // gfx950's instructions are twice as deep: Triton ignores kpack there. For operands of 32 bits it
  // changes nothing.
  const bool packs = device.arch == "gfx942" && problem::byte_size(gemm.a) < 4;
  builder.knob("kpack", "MFMA depths loaded at once",
               packs ? std::vector<Value>{1, 2} : std::vector<Value>{1});
  return knobs;
}

}  // namespace

SpaceBuilder gemm_space_builder(const Gemm& gemm, const GemmDevice& device) {
  SpaceBuilder builder;
  const GemmKnobs knobs = add_knobs(builder, gemm, device);
  const GemmRules rules{gemm, device, knobs};
  rules.add_hard(builder);
  rules.add_soft(builder);
  return builder;
}

Result<space::Space> gemm_space(const Gemm& gemm, const GemmDevice& device) {
  HONE_TRY(check(gemm, device));
  return gemm_space_builder(gemm, device).build();
}

std::map<std::string, std::int64_t> worker_knobs(const Gemm& gemm, const space::Space& space,
                                                 const space::Configuration& configuration) {
  std::map<std::string, std::int64_t> knobs = space::values_by_name(space, configuration);
  if (!knobs.contains("STRUCTURE")) {
    const auto split_k = knobs.find("SPLIT_K");
    knobs["STRUCTURE"] = plain_structure(gemm, split_k == knobs.end() ? 1 : split_k->second);
  }
  return knobs;
}

}  // namespace hone::triton
