// A transform spec that widens f16 sums of products and convolutions to f32, before the compiler
// forms dispatches (IREE 3.13). AMD's matrix units (MFMA, WMMA) take f16 and add up in f32: sums in
// f16 have no instruction there, and their dispatches do not compile for gfx942 and gfx950 ("failed
// to distribute"). Here operands stay f16, sums are f32, and the result is truncated in the same
// dispatch. Arguments and results keep their types, and sums are rounded once instead of at each
// step. --iree-input-promote-f16-to-f32 changes the types of arguments and results.
#pragma once

#include <string>
#include <string_view>

#include "problem/dispatch.h"

namespace hone::iree {

// Whether a dispatch of `program` is rooted in a product or convolution whose sums are f16.
bool has_narrow_sums(const problem::Program& program);

// The text of the spec, for all sizes: products, also batched or with one operand transposed, and
// 2-D convolutions (NHWC and NCHW, strides 1 and 2, no dilation).
std::string wide_sums_spec();

}  // namespace hone::iree
