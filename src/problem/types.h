// Element types, tensors and the loops of an operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::problem {

enum class ElementType { kI1, kI8, kI16, kI32, kI64, kF8E4M3, kF8E5M2, kF16, kBF16, kF32, kF64 };

// MLIR's spelling: "f32", "bf16", "i8", "f8E4M3FN".
std::string_view name_of(ElementType type);
std::optional<ElementType> element_type_from(std::string_view name);
// In JSON a type is its name. from_json throws nlohmann's exceptions for anything else.
void to_json(nlohmann::json& json, ElementType type);
void from_json(const nlohmann::json& json, ElementType& type);

// Bytes one element takes in memory (i1 is stored in a byte, as IREE does).
std::int64_t byte_size(ElementType type);
inline std::size_t element_bytes(ElementType type) {
  return static_cast<std::size_t>(byte_size(type));
}

bool is_float(ElementType type);

// Role of a loop in a contraction (linalg::inferContractionDims): kBatch, kM, kN, kK. In attention
// kK1 sums along heads and kK2 along keys. kOther everywhere else.
enum class LoopRole { kBatch, kM, kN, kK, kK1, kK2, kOther };
// Their names in JSON and messages, in the order in which extents are written.
inline constexpr std::pair<LoopRole, std::string_view> kLoopRoles[] = {
    {LoopRole::kBatch, "batch"}, {LoopRole::kM, "m"},   {LoopRole::kN, "n"},
    {LoopRole::kK, "k"},         {LoopRole::kK1, "k1"}, {LoopRole::kK2, "k2"},
    {LoopRole::kOther, "other"},
};
std::string_view name_of(LoopRole role);

// The extent of a dimension that is known only at run time.
inline constexpr std::int64_t kDynamic = -1;

struct TensorType {
  ElementType element = ElementType::kF32;
  std::vector<std::int64_t> shape;  // elements; kDynamic where unknown; empty for a scalar

  bool operator==(const TensorType&) const = default;
};

// "128x768xf32"; a dynamic extent prints as '?'.
std::string to_string(const TensorType& type);
// Reads "4x?xf32" or "f32", as to_string writes it. Nothing for other text, and for element types
// that hone does not know.
std::optional<TensorType> tensor_type_from(std::string_view text);
bool is_dynamic(const TensorType& type);
// Elements of a static tensor, and bytes of all of them.
std::int64_t element_count(const TensorType& type);
std::int64_t byte_size(const TensorType& type);

}  // namespace hone::problem
