// Will it still be faster inside the program? The spec is put together from what the dispatches
// won, applied by the compiler, and compared with the default and with every flag set on the whole
// program. What is not applied or does not help is left out and named.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tune/dispatch_tuner.h"
#include "tune/variant_choice.h"

namespace hone::tune {

struct LeftOut {
  std::string dispatch;
  std::string reason;
};

struct ProvenProgram {
  std::string spec;                    // text; empty when no entry is worth shipping
  std::vector<RightVariant> variants;  // for choose_variant; none where nothing could be run
  std::vector<store::Id> shipped;      // dispatches with an entry in the spec
  std::vector<LeftOut> left_out;
  std::vector<store::ProgramMeasurement> rows;  // one per variant; not yet in the store
};

// The entries of a spec for these dispatches, one per spec class: of dispatches that one matcher
// cannot tell apart the one that gains most takes part; the others, and what no spec can say, are
// named in `left_out`.
std::vector<const TunedDispatch*> spec_entries(const provider::ProgramProvider& provider,
                                               const std::vector<TunedDispatch>& tuned,
                                               std::vector<LeftOut>& left_out);

// Compiles and times the whole program, `bytes` of the file program.path. The rows of its variants
// have their names with `label` behind them. Without a function that can be called
// (benchmark files of a single dispatch, dynamic shapes) the spec is checked to be applied and its
// entries are kept, and a note says so.
Result<ProvenProgram> prove_program(Context& context, const problem::Program& program,
                                    const std::string& bytes,
                                    const std::vector<TunedDispatch>& tuned,
                                    std::string_view label);

}  // namespace hone::tune
