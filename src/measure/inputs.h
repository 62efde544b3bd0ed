// The data a candidate is verified and measured on: never zeros (a GPU at zeros draws less power
// and runs faster), equal on every machine for an equal seed.
//
// Root inputs are integers, or integers times a power of two, so small that every partial sum of
// the reduction, in any order and with any grouping, is exact in the accumulation type: every right
// kernel gives the same bits. None of them is zero where that can be had, so that one dropped or
// repeated product always changes the sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "problem/dispatch.h"

namespace hone::measure {

struct InputValues {
  enum class Kind {
    kIntegers,  // +-(1 .. magnitude) x 2^exponent, or 0 with probability 1 - density
    kReals,     // +-[0.5, 1.5): about unit size, away from zero so that dividing by one is harmless
    kIndices,   // 0 .. limit - 1
  };
  Kind kind = Kind::kReals;
  int magnitude = 1;
  int exponent = 0;
  double density = 1;
  std::int64_t limit = 1;

  bool operator==(const InputValues&) const = default;
};

struct InputPlan {
  std::vector<InputValues> bindings;  // one for each binding, in ordinal order
  // Whether the root operation is exact on these inputs, and why or why not, in words.
  bool exact = false;
  std::string basis;
  // Products or terms of one sum, and a bound on the sum of their absolute values (of the scaled
  // values). The standard deviation of one sum.
  std::int64_t terms = 0;
  double absolute_sum = 0;
  double typical_sum = 0;
  double largest_fused_input = 1.5;  // of what the epilogue reads beside the sums
};

// Chooses the values of every binding.
// - Contractions, convolutions, reductions: integers with terms x magnitude^2 <= 2^digits of the
//   accumulation type (the root's output type). magnitude is 127, or 4 for 8-bit floats and for
//   integers with something fused behind them; smaller where the bound asks for it. Where even 1 is
//   too much (bf16 sums of more than 256 terms) the first root input gets zeros, until seven
//   standard deviations above the mean number of products fit; exact_contraction then proves the
//   bound on the data.
// - With something fused around the root, floating-point root inputs are scaled by a power of two,
//   so that the typical sum is about 1: a gelu or softmax behind sums of +-100 is saturated and
//   hides errors. Scaling by a power of two keeps sums exact. Sums that are narrowed to f16 stay
//   multiples of its smallest normal number, by a smaller magnitude.
// - Other roots (attention, elementwise, unknown) and fused inputs: reals of unit size.
// - A fill other than zero below the sums takes part in the bound; one of many binary digits (1.1,
//   say) makes the root inexact, and its inputs small.
// - Indices: below the smallest extent above 1 of any other binding, so in range whatever they
//   index. Programs that index a unit extent must have their indices captured.
// - Read-write outputs: like root inputs, at the scale of the product. Write-only ones: the same,
//   though the runner poisons them (verification.h).
InputPlan plan_inputs(const problem::Dispatch& dispatch);

// Fills a buffer of elements of `type`; the stream is a function of the seed and the element's
// index only (counter-based: splitmix64, Steele, Lea and Flood 2014, as published by Vigna). A
// remainder shorter than one element is zero. Give each binding a seed of its own: binding_seed.
void fill_input(std::span<std::byte> bytes, problem::ElementType type, const InputValues& values,
                std::uint64_t seed);

// The seed of one binding of one run.
std::uint64_t binding_seed(std::uint64_t run_seed, std::size_t binding);

// The i-th number of the stream `seed`.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index);

}  // namespace hone::measure
