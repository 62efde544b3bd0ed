// Reading the small files of /proc and /sys, where a missing file is an answer too.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace hone::device::cpu {

// The file's text without trailing white space; nullopt if it cannot be read.
std::optional<std::string> system_text(const std::filesystem::path& path);
// Its first number.
std::optional<double> system_number(const std::filesystem::path& path);
// The value of the first line "key : value" or "key: value"; empty when there is none.
std::string value_of(std::string_view text, std::string_view key);

}  // namespace hone::device::cpu
