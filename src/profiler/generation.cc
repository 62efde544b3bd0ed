#include "profiler/generation.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <unordered_set>

#include "base/file.h"
#include "profiler/source.h"
#include "profiler/tree.h"

namespace hone::profiler {
namespace {

std::vector<std::string> names_of(const std::vector<PlannedOperation>& operations) {
  std::vector<std::string> names;
  for (const PlannedOperation& planned : operations)
    for (const Configuration& configuration : planned.configurations)
      names.push_back(Dispatch{planned.operation, configuration.name}.name());
  return names;
}

}  // namespace

std::size_t GenerationPlan::dispatch_count() const {
  std::size_t count = 0;
  for (const PlannedOperation& planned : operations) count += planned.configurations.size();
  return count;
}

Result<GenerationPlan> plan_generation(const std::vector<Operation>& operations,
                                       const GenerationChoice& choice) {
  GenerationPlan plan;
  std::vector<PlannedOperation> all;
  std::unordered_set<std::string> seen;
  for (const Operation& operation : operations) {
    if (!seen.insert(operation.name()).second) continue;
    PlannedOperation planned{operation, {}};
    if (choice.tiles)
      planned.configurations = tile_configurations(operation, choice.target, plan.left_out);
    if (choice.further) {
      HONE_ASSIGN(auto further, choice.further(operation));
      std::ranges::move(further, std::back_inserter(planned.configurations));
    }
    if (choice.default_configuration || planned.configurations.empty())
      planned.configurations.push_back(default_configuration());
    all.push_back(std::move(planned));
  }
  HONE_TRY(check_patterns(choice.filter, names_of(all), plan.left_out));
  for (PlannedOperation& planned : all) {
    const auto is_meant = [&](const Configuration& configuration) {
      return choice.filter.matches(Dispatch{planned.operation, configuration.name}.name());
    };
    std::erase_if(planned.configurations, [&](const auto& each) { return !is_meant(each); });
    if (!planned.configurations.empty()) plan.operations.push_back(std::move(planned));
  }
  std::erase_if(plan.left_out,
                [&](const LeftOut& each) { return !choice.filter.matches(each.dispatch); });
  return plan;
}

Result<Written> write_source(const std::filesystem::path& generated_dir,
                             const PlannedOperation& planned) {
  const std::filesystem::path path = OperationFiles(generated_dir, planned.operation).source();
  const std::string text = source_text(planned.operation, planned.configurations);
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  if (exists) {
    const auto before = read_file(path);
    if (before && *before == text) return Written::kUnchanged;
  }
  HONE_TRY(write_file_atomically(path, text));
  return exists ? Written::kChanged : Written::kNew;
}

Status check_patterns(const DispatchFilter& filter, const std::vector<std::string>& names,
                      const std::vector<LeftOut>& left_out) {
  for (const std::string& text : filter.patterns()) {
    HONE_ASSIGN(const DispatchFilter pattern, DispatchFilter::parse(text));
    const auto fits = [&](const std::string& name) { return pattern.matches(name); };
    if (std::ranges::any_of(names, fits)) continue;
    const auto found = std::ranges::find_if(left_out, fits, &LeftOut::dispatch);
    if (found != left_out.end())
      return input_error("--dispatches '{}' means {}, which is not generated: {}", text,
                         found->dispatch, found->reason);
  }
  return filter.check_all_match(names);
}

}  // namespace hone::profiler
