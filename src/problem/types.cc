#include "problem/types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/json.h"

namespace hone::problem {
namespace {

struct ElementTypeRow {
  ElementType type;
  std::string_view name;
  std::int64_t bytes;
  bool is_float;
};

constexpr std::array<ElementTypeRow, 11> kElementTypes{{
    {ElementType::kI1, "i1", 1, false},
    {ElementType::kI8, "i8", 1, false},
    {ElementType::kI16, "i16", 2, false},
    {ElementType::kI32, "i32", 4, false},
    {ElementType::kI64, "i64", 8, false},
    {ElementType::kF8E4M3, "f8E4M3FN", 1, true},
    {ElementType::kF8E5M2, "f8E5M2", 1, true},
    {ElementType::kF16, "f16", 2, true},
    {ElementType::kBF16, "bf16", 2, true},
    {ElementType::kF32, "f32", 4, true},
    {ElementType::kF64, "f64", 8, true},
}};

const ElementTypeRow& row_of(ElementType type) {
  return *std::ranges::find_if(kElementTypes,
                               [type](const ElementTypeRow& row) { return row.type == type; });
}

}  // namespace

std::string_view name_of(ElementType type) {
  return row_of(type).name;
}

std::optional<ElementType> element_type_from(std::string_view name) {
  for (const ElementTypeRow& row : kElementTypes)
    if (row.name == name) return row.type;
  return std::nullopt;
}

void to_json(nlohmann::json& json, ElementType type) {
  json = name_of(type);
}

void from_json(const nlohmann::json& json, ElementType& type) {
  const std::string name = json;
  const auto known = element_type_from(name);
  if (!known) refuse_json("'" + name + "' is no element type");
  type = *known;
}

std::int64_t byte_size(ElementType type) {
  return row_of(type).bytes;
}

bool is_float(ElementType type) {
  return row_of(type).is_float;
}

std::string_view name_of(LoopRole role) {
  return std::ranges::find(kLoopRoles, role, &std::pair<LoopRole, std::string_view>::first)->second;
}

std::string to_string(const TensorType& type) {
  std::string text;
  for (const std::int64_t extent : type.shape)
    text += extent == kDynamic ? "?x" : fmt::format("{}x", extent);
  return text += name_of(type.element);
}

std::optional<TensorType> tensor_type_from(std::string_view text) {
  TensorType type;
  while (!text.empty() && (text.front() == '?' || (text.front() >= '0' && text.front() <= '9'))) {
    const auto x = text.find('x');
    if (x == std::string_view::npos) return std::nullopt;
    std::int64_t extent = kDynamic;
    if (text.substr(0, x) != "?") {
      const auto [end, error] = std::from_chars(text.data(), text.data() + x, extent);
      if (error != std::errc() || end != text.data() + x) return std::nullopt;
    }
    type.shape.push_back(extent);
    text.remove_prefix(x + 1);
  }
  const auto element = element_type_from(text);
  if (!element) return std::nullopt;
  type.element = *element;
  return type;
}

bool is_dynamic(const TensorType& type) {
  return std::ranges::find(type.shape, kDynamic) != type.shape.end();
}

std::int64_t element_count(const TensorType& type) {
  std::int64_t count = 1;
  for (const std::int64_t extent : type.shape) count *= extent;
  return count;
}

std::int64_t byte_size(const TensorType& type) {
  return element_count(type) * byte_size(type.element);
}

}  // namespace hone::problem
