#include "provider/triton/type_names.h"

#include <fmt/format.h>

#include <array>

namespace hone::triton {
namespace {

using problem::ElementType;

constexpr std::array<std::pair<std::string_view, ElementType>, 7> kNames{{
    {"fp16", ElementType::kF16},
    {"bf16", ElementType::kBF16},
    {"fp32", ElementType::kF32},
    {"fp8", ElementType::kF8E4M3},
    {"bf8", ElementType::kF8E5M2},
    {"int8", ElementType::kI8},
    {"int32", ElementType::kI32},
}};

}  // namespace

std::optional<ElementType> type_from_tune_gemm(std::string_view name) {
  for (const auto& [theirs, type] : kNames)
    if (theirs == name || problem::name_of(type) == name) return type;
  return std::nullopt;
}

std::string_view tune_gemm_name_of(ElementType type) {
  for (const auto& [theirs, each] : kNames)
    if (each == type) return theirs;
  return problem::name_of(type);
}

std::string tune_gemm_type_names() {
  std::string names;
  for (const auto& each : kNames) names += (names.empty() ? "" : ", ") + std::string(each.first);
  return names;
}

}  // namespace hone::triton
