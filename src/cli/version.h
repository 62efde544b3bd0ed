#pragma once

#include <string_view>

namespace hone::cli {

inline constexpr std::string_view kVersion = HONE_VERSION;

}  // namespace hone::cli
