#include "provider/iree/spec_upgrade/translation.h"

#include <fmt/format.h>

namespace hone::iree {
namespace {

Translation translation_of(const std::string& text) {
  Translation translation;
  const auto read = MlirText::read(text, "");
  const std::size_t open = read ? read->find("<", 0, read->size()) : 0;
  if (!read || open == read->size()) {
    translation.problem = fmt::format("'{}' is no translation_info", text);
    return translation;
  }
  const std::size_t close = (*read)[open].partner;
  std::size_t i = open + 1;
  if (read->at(i) == "pipeline" && read->at(i + 1) == "=") i += 2;
  const std::size_t end = read->at(i + 1) == "<" ? read->behind(i + 1) : i + 1;
  translation.pipeline = read->between(i, end);
  for (i = end; i < close;) {
    if (read->at(i) == "{") {
      translation.options = MlirFields(*read, i + 1, (*read)[i].partner);
      i = read->behind(i);
    } else if (read->at(i + 1) == "=") {
      const std::size_t behind = read->behind(i + 2);
      const std::string value = read->between(i + 2, behind);
      if (read->at(i) == "codegen_spec") translation.codegen_spec = value;
      if (read->at(i) == "workgroup_size") translation.workgroup_size = value;
      if (read->at(i) == "subgroup_size") translation.subgroup_size = value;
      i = behind;
    } else {
      ++i;
    }
  }
  return translation;
}

void upgrade_pipeline(Translation& translation) {
  if (translation.pipeline.starts_with('#')) return;
  // The same pipeline, which padded tiles at the edges. It masks them today.
  if (translation.pipeline == "LLVMGPUPadAndVectorDistribute") {
    translation.pipeline = kVectorDistribute;
    translation.changes.insert(UpgradeRule::kPaddedPipeline);
    return;
  }
  const std::string attribute = pipeline_attribute(translation.pipeline);
  if (attribute.empty()) {
    const std::string reason = lost(translation.pipeline);
    translation.problem = !reason.empty() ? "pipeline " + reason
                                          : fmt::format("pipeline {} is not one that hone knows",
                                                        translation.pipeline);
    return;
  }
  translation.pipeline = attribute;
  translation.changes.insert(UpgradeRule::kPipelineAttribute);
}

// Options of the pipeline: gpu_pipeline_options since 2024-09-10, keys of the dictionary before.
void upgrade_options(Translation& translation) {
  static constexpr char kOptions[] = "gpu_pipeline_options";
  MlirFields& fields = translation.options;
  MlirFields options;
  const auto change = [&](UpgradeRule rule) { translation.changes.insert(rule); };
  if (fields.has(kOptions) && !fields.value(kOptions).starts_with("#iree_gpu.pipeline_options<")) {
    translation.problem =
        fmt::format("{} '{}' is of no compiler's syntax", kOptions, fields.value(kOptions));
    return;
  }
  const MlirFields stated = fields.has(kOptions) ? MlirFields::of(fields.value(kOptions)) : fields;
  for (const auto& [key, value] : stated.all()) {
    if (key == "prefetch_shared_memory") {
      options.set("prefetch_num_stages", value == "false" ? "0" : "2");
      change(UpgradeRule::kPrefetchStages);
    } else if (key == "reorder_workgroups_strategy" && !value.starts_with('<')) {
      options.set(key, "<" + value + ">");
      change(UpgradeRule::kReorderingInBrackets);
    } else if (key == "prefetch_num_stages" && value.find(" : ") != std::string::npos) {
      options.set(key, value.substr(0, value.find(" : ")));
      change(UpgradeRule::kPrefetchStages);
    } else if (fields.has(kOptions)) {
      options.set(key, value);
    }
  }
  if (const std::string order = fields.value("workgroup_reorder"); !order.empty()) {
    if (MlirFields::of(order).value("reorder_option") != "\"transpose\"") {
      translation.problem = fmt::format("workgroup_reorder '{}'", order);
      return;
    }
    options.set("reorder_workgroups_strategy", "<Transpose>");
    fields.remove("workgroup_reorder");
    change(UpgradeRule::kReorderingOfABranch);
  }
  if (!fields.has(kOptions)) {
    if (fields.has("no_reduce_shared_memory_bank_conflicts"))
      options.set("no_reduce_shared_memory_bank_conflicts", "true");
    if (fields.has("no_reorder_workgroups")) {
      options.set("reorder_workgroups_strategy", "<None>");
      change(UpgradeRule::kNoReordering);
    }
    if (const std::string order = fields.value("reorder_workgroups"); !order.empty()) {
      const std::string strategy = order == "\"transpose\"" ? "<Transpose>"
                                   : order == "\"swizzle\"" ? "<Swizzle>"
                                                            : "<None>";
      options.set("reorder_workgroups_strategy", strategy);
      change(UpgradeRule::kReorderingByName);
    }
    if (options.all().empty()) return;
    change(UpgradeRule::kPipelineOptions);
    for (const char* const key : {"prefetch_shared_memory", "no_reorder_workgroups",
                                  "reorder_workgroups", "no_reduce_shared_memory_bank_conflicts"})
      fields.remove(key);
  }
  fields.set(kOptions, "#iree_gpu.pipeline_options<" + options.to_text() + ">");
}

void upgrade_function_attributes(Translation& translation) {
  static constexpr char kWaves[] = "amdgpu-waves-per-eu";
  const std::string waves = translation.options.value(kWaves);
  if (waves.empty()) return;
  const auto number = integer_of(waves);
  MlirFields attributes = MlirFields::of(translation.options.value("llvm_func_attrs"));
  attributes.set(kWaves, number ? fmt::format("\"{}\"", *number) : waves);
  translation.options.remove(kWaves);
  translation.options.set("llvm_func_attrs", "{" + attributes.to_text() + "}");
  translation.changes.insert(UpgradeRule::kFunctionAttributes);
}

}  // namespace

std::string Translation::to_text() const {
  std::string text = "#iree_codegen.translation_info<pipeline = " + pipeline;
  if (!codegen_spec.empty()) text += " codegen_spec = " + codegen_spec;
  if (!workgroup_size.empty()) text += " workgroup_size = " + workgroup_size;
  if (!subgroup_size.empty()) text += " subgroup_size = " + subgroup_size;
  if (!options.all().empty()) text += ", {" + options.to_text() + "}";
  return text + ">";
}

Translation todays_translation(const std::string& text) {
  Translation translation = translation_of(text);
  if (translation.problem.empty()) {
    upgrade_pipeline(translation);
    upgrade_options(translation);
    upgrade_function_attributes(translation);
  }
  return translation;
}

}  // namespace hone::iree
