#include "problem/tensor_text.h"

#include <charconv>

namespace hone::problem {

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

}  // namespace hone::problem
