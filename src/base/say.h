// Prints messages on standard error.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace hone {

// Formats like fmt::print. A message that cannot be written (the disk behind standard error is
// full) is dropped, where fmt::print would throw.
template <class... T>
void say(fmt::format_string<T...> text, T&&... arguments) {
  std::fputs(fmt::format(text, std::forward<T>(arguments)...).c_str(), stderr);
}

}  // namespace hone
