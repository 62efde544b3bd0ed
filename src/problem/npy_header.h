// The header of a .npy file: a Python dictionary as text (numpy.lib.format).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::problem {

struct NpyHeader {
  std::string descr;  // "<f4"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Input error, naming the place, for anything but a dictionary with just these three keys, each
// once: a string, True or False, and a tuple of integers that are not negative.
Result<NpyHeader> parse_npy_header(std::string_view text);

}  // namespace hone::problem
