// Flags for a program that does not compile or run as it is.
#pragma once

#include <optional>
#include <string>

#include "tune/program/build.h"
#include "tune/services/context.h"

namespace hone::tune {

// Flags with which a failing default program works.
struct RepairingFlags {
  FlagSet flags;
  std::string not_proved;  // why it is not known whether what it computes is right; empty: it is
};

// Returns the first flag choice with which the program compiles, runs and computes what its
// independent compile does; else the first with which it runs. None if there is none, or no time to
// look further. `given`: sizes to load the program with. Under regions, the likeliest repair, it is
// split meanwhile.
Result<std::optional<RepairingFlags>> find_repair(Context& context, const problem::Program& program,
                                                  const std::string& bytes,
                                                  const problem::Function& function,
                                                  const problem::GivenSizes& given);

}  // namespace hone::tune
