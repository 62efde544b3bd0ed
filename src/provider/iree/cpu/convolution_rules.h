// Rules of the llvm-cpu space of convolutions, one function each; rules.h has the rules shared with
// contractions. All are soft: IREE compiles configurations that break them. "IREE" is the
// compiler's source at 3.13 (compiler/src/iree/compiler/Codegen); "measured" is docs/spaces.md.
#pragma once

#include "provider/iree/cpu/convolution_loops.h"
#include "provider/iree/cpu/rules.h"

namespace hone::iree {

struct ConvolutionContext {
  RuleContext common;  // of convolution.nest
  const ConvolutionLoops& convolution;
  space::Expression decompose = 0;  // 1: ConvTileAndDecomposeExpert, 0: DoubleTilingExpert
};

using ConvolutionRule = void(const ConvolutionContext& context, space::SpaceBuilder& builder);

// Rules for vectorised convolutions only.
ConvolutionRule taken_apart_to_one_dimension, row_fills_registers, sums_in_flight;
// Rules for scalar convolutions only.
ConvolutionRule one_image_row_at_a_time;

}  // namespace hone::iree
