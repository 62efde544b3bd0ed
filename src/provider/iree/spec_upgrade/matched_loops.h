// The loops of the operation that a spec's matcher accepts, read from the matcher's text.
#pragma once

#include <optional>
#include <string>

#include "provider/iree/spec_upgrade/spec_file.h"

namespace hone::iree {

// A letter for each loop, in order: B of both operands and the result, M of the first operand and
// the result, N of the second and the result, K of both operands, F of a convolution's window; P
// and R for other parallel and reduction loops.
//
// nullopt: the matcher does not state them. `conflict` is set if two conditions of it contradict.
struct MatchedLoops {
  std::string kinds;
  bool attention = false;  // its loops are not stated by the matcher: `kinds` is empty
};
std::optional<MatchedLoops> matched_loops(const SpecFile& file, const SpecOperation& matcher);

// The loops of the operation at token `operation` of `text`, whose attributes stand before token
// `last`.
std::optional<MatchedLoops> loops_of(const MlirText& text, std::size_t operation, std::size_t last,
                                     const MlirAliases& aliases);

// Whether the loop is one that the result does not have.
bool is_reduction(char kind);

}  // namespace hone::iree
