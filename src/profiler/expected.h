// What a dispatch of the profiler must compute. It follows from the operation's name alone: neither
// the file's text nor any compiler has a say in it, so that a file which computes something else is
// found out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/result.h"
#include "measure/verification.h"
#include "problem/npy.h"
#include "profiler/operation.h"

namespace hone::profiler {

struct Expected {
  std::vector<problem::Array> inputs;  // in the order of Operation::inputs()
  problem::Array output;
  // Exact for all but what goes through erf or exp: there as far as a right implementation in the
  // result's type may be off.
  measure::Tolerance tolerance;
};

// Inputs are small random integers, as the old tool's: up to 3 in f16 and bf16, 7 in f32, 2 in s8.
// When sums of these would not be exact in the type that they add up in they are smaller, and then
// fewer of the lhs are not zero, so that every right kernel gives the same bits in any order (f16
// adds up exactly to 2048).
std::vector<problem::Array> inputs_of(const Operation& operation, std::uint64_t seed);

// Products, and attention, on up to `threads` threads; 2048x1280x1280 takes about half a second on
// one. An input error for tensors that do not fit into memory.
Result<Expected> expected_of(const Operation& operation, std::uint64_t seed, int threads);

// Returns what expected_of() does, and keeps the output in `folder` when computing it takes long.
// What lies there counts only while it is whole, and was made for this operation and seed: else it
// is made anew.
Result<Expected> cached_expected(const Operation& operation, std::uint64_t seed, int threads,
                                 const std::filesystem::path& folder);

}  // namespace hone::profiler
