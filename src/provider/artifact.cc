#include "provider/artifact.h"

#include "base/hash.h"
#include "base/text.h"

namespace hone::provider {
namespace {

constexpr std::pair<FailureKind, std::string_view> kFailureKinds[] = {
    {FailureKind::kCompileError, "compile error"},
    {FailureKind::kCompileCrash, "compile crash"},
    {FailureKind::kCompileTimeout, "compile timeout"},
    {FailureKind::kCompileMemory, "compile memory"},
    {FailureKind::kNotApplied, "not applied"},
    {FailureKind::kLoadError, "load error"},
    {FailureKind::kKernelCrash, "kernel crash"},
    {FailureKind::kKernelTimeout, "kernel timeout"},
    {FailureKind::kWrong, "wrong"},
    {FailureKind::kImpossibleTime, "impossible time"},
};

}  // namespace

std::string_view name_of(FailureKind kind) {
  for (const auto& [value, name] : kFailureKinds)
    if (value == kind) return name;
  return "compile error";
}

Result<FailureKind> failure_kind_from(std::string_view name) {
  for (const auto& [value, known] : kFailureKinds)
    if (known == name) return value;
  return input_error("'{}' is no kind of failure", name);
}

}  // namespace hone::provider
