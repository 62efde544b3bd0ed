#include "provider/iree/gpu/stated_knobs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <vector>

namespace hone::iree {
namespace {

constexpr std::string_view kOptions = "gpu_pipeline_options";
constexpr std::string_view kFunctionAttributes = "llvm_func_attrs";

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
  return name == kWavesKnob || name == kPaddingKnob;
}

void add_own_knobs(const problem::GpuTarget& target, space::SpaceBuilder& builder) {
  if (target.backend != problem::GpuBackend::kRocm) return;
  const space::Expression waves =
      builder.knob(std::string(kWavesKnob),
                   "waves of a SIMD to leave registers for; 0: LLVM's choice", {0, 1, 2, 4});
  const space::Expression padded = builder.knob(
      std::string(kPaddingKnob), "rows of shared memory padded against bank conflicts", {1, 0});
  builder.prefer("waves_per_eu == 0", "LLVM chooses by itself how many registers a wave gets",
                 waves == 0);
  builder.prefer("pad_shared_memory == 1", "bank conflicts cost more than the memory of padding",
                 padded == 1);
}

MlirAttribute with_own_knobs(const Ir& ir, MlirContext context, MlirAttribute translation,
                             const std::map<std::string, std::int64_t>& values) {
  const auto value_of = [&](std::string_view knob, std::int64_t otherwise) {
    const auto found = values.find(std::string(knob));
    return found == values.end() ? otherwise : found->second;
  };
  const std::int64_t waves = value_of(kWavesKnob, 0);
  const bool padded = value_of(kPaddingKnob, 1) != 0;
  if (waves == 0 && padded) return translation;

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
    if (key == kFunctionAttributes || (key == kOptions && !padded)) continue;
    entries.push_back(fmt::format("{} = {}", key, ir.text(entry.attribute)));
  }
  if (!padded)
    entries.push_back(fmt::format("{} = {}", kOptions, ir.text(unpadded(ir, context, options))));
  if (waves > 0)
    entries.push_back(
        fmt::format("{} = {{\"amdgpu-waves-per-eu\" = \"{}\"}}", kFunctionAttributes, waves));
  parts.configuration =
      ir.parse_attribute(context, fmt::format("{{{}}}", fmt::join(entries, ", ")));
  if (!parts.configuration) return {};
  return api.ireeCodegenTranslationInfoAttrGet(context, parts);
}

}  // namespace hone::iree
