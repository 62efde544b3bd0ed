#include "provider/iree/gpu/stated_additions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

namespace hone::iree {
namespace {

constexpr std::string_view kOptions = "gpu_pipeline_options";
constexpr std::string_view kFunctionAttributes = "llvm_func_attrs";
constexpr std::string_view kDenormals = "iree_codegen.denormal_fp_math_f32";
constexpr std::string_view kFlushed = "#iree_codegen.denormal_fp_math<\"preserve-sign\">";

// The pipeline options of a translation_info with rows of shared memory that are not padded.
MlirAttribute unpadded(const Ir& ir, MlirContext context, MlirAttribute options) {
  const CApi& api = ir.api();
  std::optional<std::int64_t> stages;
  std::optional<bool> igemm;
  MlirAttribute order;
  if (options && api.ireeAttributeIsAGPUPipelineOptionsAttr(options)) {
    stages = ir.integer_value(api.ireeGPUPipelineOptionsAttrGetPrefetchNumStages(options));
    // A boolean is an integer of one bit, which reads as 0 or -1.
    if (const auto value =
            ir.integer_value(api.ireeGPUPipelineOptionsAttrGetUseIgemmConvolution(options)))
      igemm = *value != 0;
    order = api.ireeGPUPipelineOptionsAttrGetReorderWorkgroupsStrategy(options);
  }
  constexpr bool kUnpadded = true;
  return api.ireeGPUPipelineOptionsAttrGet(context, stages ? &*stages : nullptr, &kUnpadded,
                                           igemm ? &*igemm : nullptr, order ? &order : nullptr);
}

}  // namespace

bool is_own_knob(std::string_view name) {
  return name == kWavesKnob || name == kPaddingKnob || name == kDenormalsKnob;
}

void add_own_knobs(const problem::GpuTarget& target, space::SpaceBuilder& builder) {
  if (target.backend != problem::GpuBackend::kRocm) return;
  const space::Expression waves =
      builder.knob(std::string(kWavesKnob),
                   "waves of a SIMD to leave registers for; 0: LLVM's choice", {0, 1, 2, 4});
  const space::Expression padded = builder.knob(
      std::string(kPaddingKnob), "rows of shared memory padded against bank conflicts", {1, 0});
  const space::Expression flushed =
      builder.knob(std::string(kDenormalsKnob), "subnormal f32 become zeros", {0, 1});
  builder.prefer("waves_per_eu == 0", "LLVM chooses by itself how many registers a wave gets",
                 waves == 0);
  builder.prefer("pad_shared_memory == 1", "bank conflicts cost more than the memory of padding",
                 padded == 1);
  builder.prefer("flush_denormals == 0", "the compiler keeps what the program computes",
                 flushed == 0);
}

MlirAttribute with_own_knobs(const Ir& ir, MlirContext context, MlirAttribute translation,
                             const std::map<std::string, std::int64_t>& values) {
  const auto value_of = [&](std::string_view knob, std::int64_t otherwise) {
    const auto found = values.find(std::string(knob));
    return found == values.end() ? otherwise : found->second;
  };
  const std::int64_t waves = value_of(kWavesKnob, 0);
  const bool padded = value_of(kPaddingKnob, 1) != 0;
  const bool flushes = value_of(kDenormalsKnob, 0) != 0;
  if (waves == 0 && padded && !flushes) return translation;

  const CApi& api = ir.api();
  TranslationInfoParameters parts = api.ireeCodegenTranslationInfoAttrGetParameters(translation);
  std::vector<std::string> entries;
  MlirAttribute options;
  const bool has_entries =
      parts.configuration && api.mlirAttributeIsADictionary(parts.configuration);
  const std::intptr_t count =
      has_entries ? api.mlirDictionaryAttrGetNumElements(parts.configuration) : 0;
  for (std::intptr_t i = 0; i < count; ++i) {
    const MlirNamedAttribute entry = api.mlirDictionaryAttrGetElement(parts.configuration, i);
    const std::string_view key = to_view(api.mlirIdentifierStr(entry.name));
    if (key == kOptions) options = entry.attribute;
    if (key == kFunctionAttributes || (key == kOptions && !padded) ||
        (key == kDenormals && flushes))
      continue;
    entries.push_back(fmt::format("{} = {}", key, ir.text(entry.attribute)));
  }
  if (!padded)
    entries.push_back(fmt::format("{} = {}", kOptions, ir.text(unpadded(ir, context, options))));
  if (waves > 0)
    entries.push_back(
        fmt::format("{} = {{\"amdgpu-waves-per-eu\" = \"{}\"}}", kFunctionAttributes, waves));
  if (flushes) entries.push_back(fmt::format("{} = {}", kDenormals, kFlushed));
  parts.configuration =
      ir.parse_attribute(context, fmt::format("{{{}}}", fmt::join(entries, ", ")));
  if (!parts.configuration) return {};
  return api.ireeCodegenTranslationInfoAttrGet(context, parts);
}

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
    const bool alone = std::ranges::any_of(root.operands, [&](const auto& operand) {
      return !operand.output && std::ranges::count(operand.loops, loop) > 0;
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

// Whether `threads` can cover the tile: column by column from the innermost extent. Each column
// takes all threads that are left or divides them.
Expression covers(const std::vector<Expression>& tile, const Expression& threads,
                  std::int64_t bits) {
  constexpr std::int64_t kCopyBits = 128;
  const Expression each = euclidean_div(space::product_of(tile), threads);
  const Expression& row = tile.back();
  const Expression wanted = min(space::constant(kCopyBits / bits), each);
  // Copy one element at a time if neither divides the other.
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

struct MemoryLimit {
  Expression bytes;  // the compiler's own sum
  space::Value limit;
};

std::optional<MemoryLimit> memory_limit(const space::SpaceBuilder& builder) {
  for (const space::Constraint& constraint : builder.definition().constraints) {
    const Expression& stated = constraint.expression;
    if (constraint.name.find("shared memory must fit") == std::string::npos ||
        stated.operation() != space::Operator::kLessEqual ||
        stated.operands()[1].operation() != space::Operator::kConstant)
      continue;
    return MemoryLimit{stated.operands()[0], stated.operands()[1].constant_value()};
  }
  return std::nullopt;
}

void add_device_memory(const problem::GpuTarget& target, const MemoryLimit& memory,
                       space::SpaceBuilder& builder) {
  if (memory.limit <= target.workgroup_memory_bytes) return;
  builder.require(std::string(kDeviceMemoryRule),
                  fmt::format("{{}} bytes are within the {} that {} gives a workgroup",
                              target.workgroup_memory_bytes, target.arch),
                  memory.bytes <= space::constant(target.workgroup_memory_bytes), {memory.bytes});
}

// Whether some extent is rounded up to whole matrix instructions: the extent that a tile has to
// divide is then another one than the loop's.
Expression is_padded(const problem::Operation& root, const space::SpaceBuilder& builder) {
  Expression padded = false;
  for (const space::Constraint& constraint : builder.definition().constraints) {
    constexpr std::string_view kWords = " must be divisible by wg_";
    const auto at = constraint.name.find(kWords);
    if (!constraint.name.starts_with("dim_") || at == std::string::npos ||
        constraint.arguments.empty())
      continue;
    const int loop = std::atoi(constraint.name.c_str() + at + kWords.size());
    if (loop < 0 || loop >= static_cast<int>(root.loops.size())) continue;
    padded = padded || constraint.arguments.front() !=
                           space::constant(root.loops[static_cast<std::size_t>(loop)].size);
  }
  return padded;
}

void add_padded_output(const problem::Operation& root, const MemoryLimit& memory,
                       space::SpaceBuilder& builder) {
  const Expression padded = is_padded(root, builder);
  if (space::variables_of(padded).empty() && space::evaluate(padded, {}).value_or(0) == 0) return;
  std::vector<Expression> tile{
      space::constant(problem::byte_size(root.operands.back().type.element))};
  for (std::size_t loop = 0; loop < root.loops.size(); ++loop)
    if (const auto extent = variable(builder, fmt::format("wg_{}", loop))) tile.push_back(*extent);
  const Expression bytes = memory.bytes + ite(padded, space::product_of(tile), space::constant(0));
  builder.require(
      std::string(kPaddedOutputRule),
      fmt::format("the tiles, and a padded one of the output, take {{}} of {} bytes", memory.limit),
      bytes <= space::constant(memory.limit), {bytes});
}

// Whether the statement is of the implicit form of a convolution.
bool is_implicit_gemm(const StatedSet& set) {
  return std::ranges::any_of(set.assertions, [](const auto& assertion) {
    return assertion.message.find("use_igemm_idx == 1") != std::string::npos;
  });
}

void add_scores(space::SpaceBuilder& builder) {
  const auto step = variable(builder, "red_k2");
  if (!step) return;
  for (const space::Constraint& constraint : builder.definition().constraints) {
    if (constraint.name != "qk_mma_n == pv_mma_n" ||
        constraint.expression.operation() != space::Operator::kEqual)
      continue;
    const Expression columns = constraint.expression.operands()[0];
    builder.require(std::string(kScoresRule), "{} columns of scores are whole instructions of {}",
                    euclidean_mod(*step, columns) == 0, {*step, columns});
    return;
  }
}

// The loop of a convolution's output channels, which the filter has too; -1: none.
int channel_loop(const problem::Operation& root) {
  if (root.operands.size() < 3) return -1;
  const auto& filter = root.operands[1].loops;
  for (const int loop : root.operands.back().loops)
    if (std::ranges::count(filter, loop) > 0) return loop;
  return -1;
}

bool is_channels_first_on_cuda(const problem::Operation& root, const problem::GpuTarget& target) {
  const int channels = channel_loop(root);
  return root.kind == problem::OperationKind::kConvolution && channels >= 0 &&
         root.operands.back().loops.back() != channels &&
         target.backend == problem::GpuBackend::kCuda;
}

void add_channels_first_form(space::SpaceBuilder& builder) {
  builder.require(std::string(kChannelsFirstFormRule),
                  "the direct form gives wrong results: the implicit one is taken", false);
}

void add_channels_first(const problem::Operation& root, const std::optional<MemoryLimit>& memory,
                        const problem::GpuTarget& target, space::SpaceBuilder& builder) {
  const int channels = channel_loop(root);
  const auto columns = variable(builder, fmt::format("wg_{}", channels));
  const auto threads = variable(builder, "wg_size_x");
  if (!columns || !threads) return;
  constexpr space::Value kColumns = 16;
  builder.require(std::string(kChannelsFirstColumnsRule),
                  "{} columns of a workgroup are a multiple of {}",
                  euclidean_mod(*columns, kColumns) == 0, {*columns, space::constant(kColumns)});
  builder.require(std::string(kChannelsFirstThreadsRule), "{} threads are a power of two",
                  euclidean_mod(space::constant(target.max_threads), *threads) == 0, {*threads});
  const auto of_subgroup = variable(builder, fmt::format("sg_{}", channels));
  if (!memory || !of_subgroup) return;
  constexpr space::Value kInstructionColumns = 8;
  Expression outputs = space::constant(problem::byte_size(root.operands.back().type.element));
  for (const int loop : root.operands.back().loops)
    if (const auto extent = variable(builder, fmt::format("wg_{}", loop)))
      outputs = outputs * *extent;
  const Expression bytes = memory->bytes + outputs;
  builder.require(
      std::string(kChannelsFirstMemoryRule),
      fmt::format("a subgroup has all {{}} columns, and the tiles and that of the result take {{}} "
                  "of {} bytes",
                  memory->limit),
      *columns > *of_subgroup * kInstructionColumns || bytes <= space::constant(memory->limit),
      {*columns, bytes});
}

// The sum with the larger side of every choice in it.
Expression at_most(const Expression& bytes) {
  if (bytes.operation() == space::Operator::kIfThenElse)
    return max(bytes.operands()[1], bytes.operands()[2]);
  if (bytes.operation() != space::Operator::kAdd) return bytes;
  Expression sum = space::constant(0);
  for (const Expression& operand : bytes.operands()) sum = sum + at_most(operand);
  return sum;
}

void add_attention_memory(const MemoryLimit& memory, space::SpaceBuilder& builder) {
  const Expression bytes = at_most(memory.bytes);
  builder.require(
      std::string(kAttentionMemoryRule),
      fmt::format("tiles of Q, K, V and the scores take {{}} of {} bytes", memory.limit),
      bytes <= space::constant(memory.limit), {bytes});
}

void add_registers(const problem::Operation& root, const problem::GpuTarget& target,
                   const std::optional<MemoryLimit>& memory, space::SpaceBuilder& builder) {
  constexpr space::Value kRegisterBytes = 4;
  const auto threads = variable(builder, "wg_size_x");
  if (!threads) return;
  std::vector<Expression> tile{
      space::constant(problem::byte_size(root.operands.back().type.element))};
  for (std::size_t loop = 0; loop < root.loops.size(); ++loop)
    if (const auto extent = variable(builder, fmt::format("wg_{}", loop))) tile.push_back(*extent);
  const Expression sums = space::product_of(tile);
  const Expression operands = memory ? memory->bytes : space::constant(0);
  builder.prefer(std::string(kRegisterRule),
                 fmt::format("{{}} bytes of sums and {{}} of a step's operands are within the {} "
                             "registers a thread may have, of {{}} threads",
                             target.registers_per_thread),
                 sums + operands <= *threads * (kRegisterBytes * target.registers_per_thread),
                 {sums, operands, *threads});
}

}  // namespace

void add_own_rules(const StatedSet& set, const problem::Operation& root,
                   const problem::GpuTarget& target, space::SpaceBuilder& builder) {
  const bool attention = root.kind == problem::OperationKind::kAttention;
  if (set.pipeline == "VectorDistribute" && !attention) add_copy_layout(root, builder);
  if (attention) add_scores(builder);
  if (is_implicit_gemm(set))
    builder.require(std::string(kImplicitGemmRule),
                    "every extent is whole matrix instructions of the implicit form",
                    !is_padded(root, builder));
  const auto memory = memory_limit(builder);
  if (is_channels_first_on_cuda(root, target)) {
    if (is_implicit_gemm(set))
      add_channels_first(root, memory, target, builder);
    else
      add_channels_first_form(builder);
  }
  if (!attention) add_registers(root, target, memory, builder);
  if (!memory) return;
  add_device_memory(target, *memory, builder);
  if (attention) add_attention_memory(*memory, builder);
  if (set.pipeline == "TileAndFuse") add_padded_output(root, *memory, builder);
}

}  // namespace hone::iree
