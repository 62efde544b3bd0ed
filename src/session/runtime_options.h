// Options for the call of a whole program, which tune, verify and compare share.
#pragma once

#include <string>
#include <vector>

#include "tune/services/given_arguments.h"

namespace hone::session {

struct RuntimeOptions {
  std::string function;                 // empty: chosen by the command
  std::vector<std::string> inputs;      // "1x3x224x224xf32", "=0.5", "@a.npy"
  std::vector<std::string> flags;       // of IREE's runtime tools
  std::string flags_file;               // with further ones, one in each line
  std::vector<std::string> parameters;  // "model=w.irpa"
  bool random_parameters = false;       // where they are not given
};

// Returns all flags for IREE's runtime tools. Input errors: a file that cannot be read, parameters
// in a format that IREE's runtime does not know.
Result<std::vector<std::string>> runtime_flags(const RuntimeOptions& options);
// Input errors of tune::given_argument.
Result<std::vector<tune::GivenArgument>> given_arguments(const RuntimeOptions& options);

}  // namespace hone::session
