#include "profiler/source_functions.h"

#include <algorithm>

namespace hone::profiler {

std::string only_functions(std::string_view source, const std::vector<std::string>& names) {
  constexpr std::string_view kBegin = "func.func @", kEnd = "\n}\n";
  std::string kept;
  while (!source.empty()) {
    std::size_t begin = source.starts_with(kBegin) ? 0 : source.find("\n" + std::string(kBegin));
    if (begin == std::string_view::npos) break;
    if (begin != 0 || !source.starts_with(kBegin)) ++begin;
    const std::size_t close = source.find(kEnd, begin);
    const std::size_t end = close == std::string_view::npos ? source.size() : close + kEnd.size();
    std::string_view name = source.substr(begin + kBegin.size());
    name = name.substr(0, name.find('('));
    const bool keep = std::ranges::find(names, name) != names.end();
    kept += source.substr(0, keep ? end : begin);
    source.remove_prefix(end);
  }
  return kept.append(source);
}

}  // namespace hone::profiler
