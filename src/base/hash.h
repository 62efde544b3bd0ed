// Content hashes (xxHash's XXH3, 128 bits). They name things; they do not protect against forgery.
#pragma once

#include <string>
#include <string_view>

namespace hone {

// 32 lower-case hex digits of XXH3-128 over `bytes`.
std::string content_hash(std::string_view bytes);

}  // namespace hone
