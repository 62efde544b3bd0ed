#include "device/cpu/system_files.h"

#include <algorithm>
#include <cstdlib>

#include "base/file.h"

namespace hone::device::cpu {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(kSpace);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kSpace) - from + 1);
}

}  // namespace

std::optional<std::string> system_text(const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path);
  if (!text) return std::nullopt;
  return text->substr(0, text->find_last_not_of(kSpace) + 1);
}

std::optional<double> system_number(const std::filesystem::path& path) {
  const auto text = system_text(path);
  if (!text) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text->c_str(), &end);
  if (end == text->c_str()) return std::nullopt;
  return value;
}

std::string value_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == key)
      return std::string(trimmed(line.substr(colon + 1)));
  }
  return {};
}

}  // namespace hone::device::cpu
