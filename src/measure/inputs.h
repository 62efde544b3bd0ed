// Data for verifying and measuring candidates: never zeros (a GPU at zeros draws less power and
// runs faster), equal on every machine for an equal seed.
//
// Root inputs are integers, or integers times a power of two. They are so small that every partial
// sum of the reduction, in any order and with any grouping, is exact in the accumulation type. So
// every right kernel gives the same bits. None of them is zero if possible, so that one dropped or
// repeated product always changes the sum. A second set has full significands, which also exposes
// operands that are narrowed on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "problem/dispatch.h"

namespace hone::measure {

// The data of a verified launch. The first set is what kernels are measured on as well.
enum class OperandSet {
  kExact,             // integers where sums are to be exact
  kFullSignificands,  // every binary digit that the operands' types have
  kReals              // of the usual size: to see how far a kernel rounds, not whether it is right
};
inline constexpr int kOperandSets = 2;  // of verified launches: those before kReals

// A dimension of a binding, as the root operation walks it.
struct InputAxis {
  std::int64_t extent = 1;
  bool reduced = false;
  bool splits = false;  // kSparse: even indices for the first factor's digits, odd for the second's

  bool operator==(const InputAxis&) const = default;
};

// Range of a binding's elements. `grid`: all are multiples of 2^grid.
struct ValueRange {
  double low = 0, high = 0, smallest = 0, mean = 0, rms = 0;
  std::optional<int> grid = {};

  bool operator==(const ValueRange&) const = default;
};

struct InputValues {
  enum class Kind {
    kIntegers,  // +-(1 .. magnitude) x 2^exponent, or 0 with probability 1 - density
    kReals,     // +-[0.5, 1.5) x 2^exponent: away from zero so that dividing by one is harmless
    kIndices,   // 0 .. limit - 1
    // Reals for selecting roots. Each row (the indices of `axes` that are not reduced) has one
    // largest and one smallest, of magnitude 2 to 3, at random places.
    kExtremes,
    // A factor of products whose sums have only one nonzero term each. They are exact whatever the
    // digits: see fill_input.
    kSparse,
    kGiven,  // by the user: within `given`
  };
  Kind kind = Kind::kReals;
  int magnitude = 1;
  int exponent = 0;
  double density = 1;
  std::int64_t limit = 1;
  bool positive = false;             // no signs: for logarithms, roots, what is divided by a sum
  int digits = 0;                    // kSparse: of the significand; 0: as many as the type has
  std::vector<InputAxis> axes = {};  // kExtremes, kSparse: row-major
  bool second_factor = false;        // kSparse
  bool alone = false;                // kSparse: the one factor of its terms
  ValueRange given = {};             // kGiven

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
  bool single_products = false;  // each sum of the root has one term that is not zero
};

// Chooses the values of every binding.
// - Roots that add up products or terms (Computation: a polynomial of the root inputs): integers
//   with terms x magnitude^degree <= 2^digits of the accumulation type (the root's output type).
//   magnitude is 127, or 4 for 8-bit floats and for integers with something fused behind them;
//   smaller where the bound asks for it. Where even 1 is too much (bf16 sums of more than 256
//   terms) the first root input gets zeros, until seven standard deviations above the mean number
//   of products fit; exact_contraction then proves the bound on the data.
// - With something fused around the root, floating-point root inputs are scaled by a power of two,
//   so that the typical sum is about 1: a gelu or softmax behind sums of +-100 is saturated and
//   hides errors. Scaling by a power of two keeps sums exact. Sums that are narrowed to f16 stay
//   multiples of its smallest normal number, by a smaller magnitude.
// - Roots that select (a maximum): kExtremes.
// - Other roots (attention, elementwise, unknown), sums that are no polynomials (whose body
// divides,
//   or takes an exponential) and fused inputs: reals of unit size. A query is scaled so that scores
//   have a standard deviation of about two: weights all alike would hide what is dropped.
// - What is out of the domain of an operation that it reaches becomes positive, larger or smaller,
//   as the analysis of rounding.h asks.
// - A fill other than zero below the sums takes part in the bound; one of many binary digits (1.1,
//   say) makes the root inexact, and its inputs small.
// - Indices: below the smallest extent above 1 of any other binding, so in range whatever they
//   index. Programs that index a unit extent must have their indices captured.
// - Read-write outputs: like root inputs, at the scale of the product. Write-only ones: the same,
//   though the runner poisons them (verification.h).
// - kFullSignificands: sums of products of two inputs get kSparse; other sums reals,
//   unless the type is so coarse that they would no longer grow; the rest as in the first set.
// - kReals: reals for sums of products too.
InputPlan plan_inputs(const problem::Dispatch& dispatch, OperandSet set = OperandSet::kExact);

ValueRange range_of(const InputValues& values, problem::ElementType type);

// Fills a buffer of elements of `type`; the stream is a function of the seed and the element's
// index only (counter-based: splitmix64, Steele, Lea and Flood 2014, as published by Vigna). A
// remainder shorter than one element is zero. Give each binding a seed of its own: binding_seed.
//
// kSparse, of factors A and B of a sum over k (several loops at once, of which one that both walk
// is split into even and odd indices): A has +-[1, 2) with full significands at even k, and at one
// odd k of each row +-1 or +-2, zeros elsewhere. B's even columns have +-1 or +-2 at one even k;
// its odd columns full significands at odd k. So each sum is one product: a full significand of A
// in even columns, of B in odd ones. Where no loop splits, A is full and B has one power of two for
// each column.
void fill_input(std::span<std::byte> bytes, problem::ElementType type, const InputValues& values,
                std::uint64_t seed);

// The seed of one binding of one run.
std::uint64_t binding_seed(std::uint64_t run_seed, std::size_t binding);

// The i-th number of the stream `seed`.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index);

}  // namespace hone::measure
