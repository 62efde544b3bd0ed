#include "profiler/tile_configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "problem/target.h"
#include "profiler/tree.h"

namespace hone::profiler {
namespace {

using problem::ElementType;

// Shape of mma.sync.m16n8k16, the only instruction family that the compiler has for NVIDIA's tensor
// cores.
constexpr std::int64_t kMmaM = 16;
constexpr std::int64_t kMmaN = 8;
constexpr std::int64_t kMmaK = 16;
constexpr std::int64_t kSubgroupThreads = 32;

// m, n, k, stages, subgroups along m and n. The old block (64, 4) is two subgroups along n and four
// along m.
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

// Returns the instruction that multiplies the operation's inputs; none if the compiler has none.
std::optional<std::string_view> mma_kind(const NamedOperation& operation) {
  const bool sums_in_f32 = operation.result != kF16;
  if (operation.lhs == kF16)
    return sums_in_f32 ? "NV_MMA_SYNC_F32_16x8x16_F16" : "NV_MMA_SYNC_F16_16x8x16_F16";
  if (operation.lhs == kBF16) return "NV_MMA_SYNC_F32_16x8x16_BF16";
  return std::nullopt;
}

// Tile sizes of the root operation's loops, in the compiler's order, for a workgroup; and numbers
// of instructions in each for a subgroup.
struct LoopTiles {
  std::vector<std::int64_t> workgroup;
  std::vector<std::int64_t> subgroup;
};

LoopTiles product_loops(const NamedOperation& operation, const Tile& tile) {
  LoopTiles loops{{tile.m, tile.n, 0},
                  {tile.m / kMmaM / tile.subgroups_m, tile.n / kMmaN / tile.subgroups_n, 0}};
  const bool leading = operation.kind == kBatchMatmul || operation.kind == kSplitKMatmul;
  if (!leading) return loops;
  loops.workgroup.insert(loops.workgroup.begin(), 1);
  loops.subgroup.insert(loops.subgroup.begin(), 0);
  return loops;
}

// Returns loops for a rectangle of tile.m output pixels that tiles the image, as wide as possible,
// by the filters; none if there is none. The compiler turns the convolution into a product. Its
// last pixels of a row are rows (nhwc) or columns (nchw) of the instruction.
std::optional<LoopTiles> conv_loops(const NamedOperation& operation, const Tile& tile) {
  const ConvDims& c = operation.conv;
  const bool nhwc = c.layout == kNhwc;
  const std::int64_t pixel_step = nhwc ? kMmaM : kMmaN;
  const std::int64_t filter_step = nhwc ? kMmaN : kMmaM;
  for (std::int64_t width = tile.m; width >= pixel_step; width /= 2) {
    const std::int64_t height = tile.m / width;
    const std::int64_t down = std::gcd(height, tile.subgroups_m);  // subgroups along the height
    const std::int64_t across = tile.subgroups_m / down;
    if (c.output_width() % width != 0 || c.output_height() % height != 0 ||
        width % (pixel_step * across) != 0)
      continue;
    const std::int64_t filters = tile.n / filter_step / tile.subgroups_n;
    const std::int64_t rows = height / down, columns = width / pixel_step / across;
    if (nhwc) return LoopTiles{{1, height, width, tile.n, 0}, {0, rows, columns, filters, 0}};
    return LoopTiles{{1, tile.n, height, width, 0}, {0, filters, rows, columns, 0}};
  }
  return std::nullopt;
}

std::optional<LoopTiles> loops_of(const NamedOperation& operation, const Tile& tile) {
  return is_convolution(operation.kind) ? conv_loops(operation, tile)
                                        : product_loops(operation, tile);
}

std::string compilation_info(const Tile& tile, const LoopTiles& loops, std::string_view mma,
                             bool as_product) {
  std::vector<std::int64_t> reduction(loops.workgroup.size(), 0);
  reduction.back() = tile.k / kMmaK;  // this pipeline counts it in instructions
  return fmt::format(
      "#iree_codegen.compilation_info<\n"
      "  lowering_config = #iree_gpu.lowering_config<{{workgroup = [{}], reduction = [{}], "
      "subgroup = [{}],\n"
      "    mma_kind = #iree_gpu.mma_layout<{}>, promote_operands = [0, 1]}}>,\n"
      "  translation_info = #iree_codegen.translation_info<pipeline = "
      "#iree_gpu.pipeline<TileAndFuse>\n"
      "    workgroup_size = [{}, 1, 1] subgroup_size = {}{}>>",
      fmt::join(loops.workgroup, ", "), fmt::join(reduction, ", "), fmt::join(loops.subgroup, ", "),
      mma, kSubgroupThreads * tile.subgroups_m * tile.subgroups_n, kSubgroupThreads,
      as_product ? ", {gpu_pipeline_options = "
                   "#iree_gpu.pipeline_options<use_igemm_convolution = true>}"
                 : "");
}

// Returns whether the root has a loop of one iteration that the compiler folds before it reads
// configurations (seen with 3.13; not for a batch of one matrix product).
bool has_unit_loop(const NamedOperation& operation) {
  if (operation.kind == kSplitKMatmul) return operation.split_k_slices == 1;
  const ConvDims& c = operation.conv;
  return is_convolution(operation.kind) &&
         std::min({c.images, c.channels, c.filter_height, c.filter_width, c.output_height(),
                   c.output_width()}) == 1;
}

// Returns why the tile does not fit the operation on that target; none if it fits.
std::optional<std::string> objection(const NamedOperation& operation, const Tile& tile,
                                     const GenerationTarget& target) {
  if (!target.is_cuda) return "the old tiles are of CUDA's tensor cores";
  if (operation.lhs == kF32)
    return "f32 on tensor cores meant TF32, which this compiler does not have; it is not run in "
           "f32 under that name";
  if (!mma_kind(operation))
    return fmt::format("this compiler has no tensor core instruction of {} for CUDA",
                       type_name(operation.lhs));
  const NamedOperation::Product p = operation.product();
  const std::int64_t k = p.k / operation.split_k_slices;
  if (p.m % tile.m != 0 || p.n % tile.n != 0 || k % tile.k != 0)
    return fmt::format("the tile {}x{}x{} does not divide {}x{}x{}", tile.m, tile.n, tile.k, p.m,
                       p.n, k);
  if (has_unit_loop(operation))
    return "the compiler folds loops of one iteration of a convolution or of slices (one image, a "
           "1x1 filter), and drops the configuration with them";
  if (is_convolution(operation.kind) && !conv_loops(operation, tile))
    return fmt::format("no rectangle of {} pixels tiles the output of {}x{}", tile.m,
                       operation.conv.output_height(), operation.conv.output_width());
  const std::int64_t bytes = tile.shared_memory_bytes(problem::byte_size(operation.lhs),
                                                      problem::byte_size(operation.rhs));
  if (bytes > target.shared_memory_bytes)
    return fmt::format(
        "it requires {} bytes of shared memory, which is larger than the {} capacity of {} bytes",
        bytes, target.arch, target.shared_memory_bytes);
  return std::nullopt;
}

Result<GenerationTarget> target_of(problem::GpuBackend backend,
                                   fmt::format_string<std::string_view&> is_not,
                                   std::string_view arch) {
  HONE_ASSIGN(const problem::GpuTarget target, problem::gpu_target(arch));
  if (target.backend != backend) return input_error(is_not, arch);
  return GenerationTarget{backend == problem::GpuBackend::kCuda, target.arch,
                          problem::compilable_workgroup_memory(target)};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> configuration_columns(std::string_view name) {
  std::string tile = "Default", core = "Default", instruction = "Default";
  if (name.starts_with(kConfigurationPrefix) && name != kDefaultConfiguration) {
    // The rest is MxN_KxS_CORE_INSTRUCTION, or a word and a part that tells it from others.
    const std::string_view rest = name.substr(kConfigurationPrefix.size());
    const std::vector<std::string_view> parts = split(rest, '_');
    tile = rest;
    core = instruction = "N/A";
    if (parts.size() == 4) {
      tile = fmt::format("{}_{}", parts[0], parts[1]);
      core = parts[2];
      instruction = parts[3];
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

Result<GenerationTarget> cuda_target(std::string_view arch) {
  return target_of(problem::GpuBackend::kCuda, "--cuda-arch {} is no architecture of CUDA", arch);
}

Result<GenerationTarget> rocm_target(std::string_view arch) {
  return target_of(problem::GpuBackend::kRocm, "--rocm-arch {} is no architecture of ROCm", arch);
}

GenerationTarget cpu_target() {
  return GenerationTarget{false, "", 0};
}

std::vector<TileConfiguration> tile_configurations(const NamedOperation& operation,
                                                   const GenerationTarget& target,
                                                   std::vector<SkippedDispatch>& left_out) {
  const bool grouped = is_convolution(operation.kind) && operation.conv.groups > 1;
  if (operation.kind == kAttention || grouped) return {};
  std::vector<TileConfiguration> configurations;
  const std::span<const Tile> tiles =
      operation.lhs == kF32 ? std::span<const Tile>(kF32Tiles) : std::span<const Tile>(kF16Tiles);
  for (const Tile& tile : tiles) {
    const std::string name = configuration_name(tile);
    if (auto reason = objection(operation, tile, target))
      left_out.push_back({operation.name() + "_" + name, std::move(*reason)});
    else
      configurations.push_back({name, compilation_info(tile, *loops_of(operation, tile),
                                                       mma_kind(operation).value_or(""),
                                                       is_convolution(operation.kind))});
  }
  return configurations;
}

TileConfiguration default_configuration() {
  return {std::string(kDefaultConfiguration), ""};
}

}  // namespace hone::profiler
