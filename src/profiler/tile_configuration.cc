#include "profiler/tile_configuration.h"

#include <fmt/format.h>

#include "problem/target.h"
#include "profiler/tree.h"

namespace hone::profiler {
namespace {

using problem::ElementType;

// Shape of the one instruction family that the compiler has for NVIDIA's tensor cores,
// mma.sync.m16n8k16.
constexpr std::int64_t kMmaM = 16;
constexpr std::int64_t kMmaN = 8;
constexpr std::int64_t kMmaK = 16;
constexpr std::int64_t kSubgroupThreads = 32;

// m, n, k, stages; subgroups along m and n: the old block (64, 4) is two along n and four along m.
constexpr Tile kF16Tiles[] = {
    {256, 128, 32, 3, 4, 2}, {128, 256, 32, 3, 2, 4}, {128, 128, 64, 4, 2, 2},
    {128, 128, 32, 5, 2, 2}, {128, 64, 32, 5, 2, 2},  {64, 64, 64, 5, 2, 2},
    {64, 64, 32, 10, 2, 2},
};
constexpr Tile kF32Tiles[] = {
    {128, 256, 16, 3, 2, 4}, {256, 128, 16, 3, 4, 2}, {128, 128, 16, 5, 2, 2},
    {128, 128, 32, 3, 2, 2}, {128, 128, 32, 4, 2, 2}, {128, 64, 32, 3, 2, 2},
    {128, 64, 16, 5, 2, 2},  {64, 64, 32, 3, 2, 2},   {64, 64, 16, 10, 2, 2},
};

std::string configuration_name(const Tile& tile) {
  return fmt::format("{}{}_tensorcore_mmasync", kConfigurationPrefix, tile.name());
}

// The instruction that multiplies the operation's inputs; none where the compiler has none.
std::optional<std::string_view> mma_kind(const Operation& operation) {
  const bool sums_in_f32 = operation.result != ElementType::kF16;
  if (operation.lhs == ElementType::kF16)
    return sums_in_f32 ? "NV_MMA_SYNC_F32_16x8x16_F16" : "NV_MMA_SYNC_F16_16x8x16_F16";
  if (operation.lhs == ElementType::kBF16) return "NV_MMA_SYNC_F32_16x8x16_BF16";
  return std::nullopt;
}

// How much of the tile each loop of the root operation has, in the compiler's order of loops, and
// how many instructions of it are one subgroup's.
struct LoopTiles {
  std::vector<std::int64_t> workgroup;
  std::vector<std::int64_t> subgroup;
};

LoopTiles product_loops(const Operation& operation, const Tile& tile) {
  LoopTiles loops{{tile.m, tile.n, 0},
                  {tile.m / kMmaM / tile.subgroups_m, tile.n / kMmaN / tile.subgroups_n, 0}};
  const bool leading = operation.kind == OperationKind::kBatchMatmul ||
                       operation.kind == OperationKind::kSplitKMatmul;
  if (!leading) return loops;
  loops.workgroup.insert(loops.workgroup.begin(), 1);
  loops.subgroup.insert(loops.subgroup.begin(), 0);
  return loops;
}

std::string compilation_info(const Tile& tile, const LoopTiles& loops, std::string_view mma) {
  std::vector<std::int64_t> reduction(loops.workgroup.size(), 0);
  reduction.back() = tile.k / kMmaK;  // this pipeline counts it in instructions
  return fmt::format(
      "#iree_codegen.compilation_info<\n"
      "  lowering_config = #iree_gpu.lowering_config<{{workgroup = [{}], reduction = [{}], "
      "subgroup = [{}],\n"
      "    mma_kind = #iree_gpu.mma_layout<{}>, promote_operands = [0, 1]}}>,\n"
      "  translation_info = #iree_codegen.translation_info<pipeline = "
      "#iree_gpu.pipeline<TileAndFuse>\n"
      "    workgroup_size = [{}, 1, 1] subgroup_size = {}>>",
      fmt::join(loops.workgroup, ", "), fmt::join(reduction, ", "), fmt::join(loops.subgroup, ", "),
      mma, kSubgroupThreads * tile.subgroups_m * tile.subgroups_n, kSubgroupThreads);
}

// Why the tile is not for the operation on that target, in words; none where it is.
std::optional<std::string> objection(const Operation& operation, const Tile& tile,
                                     const GenerationTarget& target) {
  if (!target.is_cuda) return "the old tiles are of CUDA's tensor cores";
  if (operation.lhs == ElementType::kF32)
    return "f32 on tensor cores meant TF32, which this compiler does not have; it is not run in "
           "f32 under that name";
  if (!mma_kind(operation))
    return fmt::format("this compiler has no tensor core instruction of {} for CUDA",
                       type_name(operation.lhs));
  const Operation::Product p = operation.product();
  const std::int64_t k = p.k / operation.split_k_slices;
  if (p.m % tile.m != 0 || p.n % tile.n != 0 || k % tile.k != 0)
    return fmt::format("the tile {}x{}x{} does not divide {}x{}x{}", tile.m, tile.n, tile.k, p.m,
                       p.n, k);
  const std::int64_t bytes = tile.shared_memory_bytes(problem::byte_size(operation.lhs),
                                                      problem::byte_size(operation.rhs));
  if (bytes > target.shared_memory_bytes)
    return fmt::format(
        "it requires {} bytes of shared memory, which is larger than the {} capacity of {} bytes",
        bytes, target.arch, target.shared_memory_bytes);
  return std::nullopt;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> configuration_columns(std::string_view name) {
  std::string tile = "Default", core = "Default", instruction = "Default";
  if (name.starts_with(kConfigurationPrefix) && name != kDefaultConfiguration) {
    // MxN_KxS_CORE_INSTRUCTION, or one word and what tells it from others.
    const std::string_view rest = name.substr(kConfigurationPrefix.size());
    std::vector<std::size_t> at;
    for (std::size_t i = 0; i < rest.size(); ++i)
      if (rest[i] == '_') at.push_back(i);
    tile = rest;
    core = instruction = "N/A";
    if (at.size() == 3) {
      tile = rest.substr(0, at[1]);
      core = rest.substr(at[1] + 1, at[2] - at[1] - 1);
      instruction = rest.substr(at[2] + 1);
    }
  }
  return {{"Tile config", tile}, {"Core class", core}, {"Instruction class", instruction}};
}

std::string Tile::name() const {
  return fmt::format("{}x{}_{}x{}", m, n, k, stages);
}

std::int64_t Tile::shared_memory_bytes(std::int64_t lhs_bytes, std::int64_t rhs_bytes) const {
  return (m * k * lhs_bytes + k * n * rhs_bytes) * stages;
}

std::span<const Tile> f16_tiles() {
  return kF16Tiles;
}

std::span<const Tile> f32_tiles() {
  return kF32Tiles;
}

Result<GenerationTarget> cuda_target(std::string_view arch) {
  HONE_ASSIGN(const problem::GpuTarget target, problem::gpu_target(arch));
  if (target.backend != problem::GpuBackend::kCuda)
    return input_error("--cuda-arch {} is no architecture of CUDA", arch);
  return GenerationTarget{true, target.arch, problem::compilable_workgroup_memory(target)};
}

GenerationTarget cpu_target() {
  return GenerationTarget{false, "", 0};
}

std::vector<Configuration> tile_configurations(const Operation& operation,
                                               const GenerationTarget& target,
                                               std::vector<LeftOut>& left_out) {
  if (operation.kind == OperationKind::kAttention || is_convolution(operation.kind)) return {};
  std::vector<Configuration> configurations;
  const bool wide = operation.lhs == ElementType::kF32;
  for (const Tile& tile : wide ? f32_tiles() : f16_tiles()) {
    const std::string name = configuration_name(tile);
    if (auto reason = objection(operation, tile, target))
      left_out.push_back({operation.name() + "_" + name, std::move(*reason)});
    else
      configurations.push_back(
          {name, compilation_info(tile, product_loops(operation, tile), *mma_kind(operation))});
  }
  return configurations;
}

Configuration default_configuration() {
  return {std::string(kDefaultConfiguration), ""};
}

}  // namespace hone::profiler
