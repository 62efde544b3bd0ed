#pragma once

#include <string_view>

namespace hone::session {

// hone's own version: "0.1.0".
std::string_view version();

}  // namespace hone::session
