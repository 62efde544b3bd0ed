// Options for the call of a whole program, which tune, verify and compare share: its functions, its
// arguments, and the files that it takes parameters from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "provider/iree/program/program_functions.h"
#include "session/input_program.h"
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

// Returns runtime_flags(), and flags for the parameter scopes that those do not give. These name
// the program's own parameters, or a file of random numbers in `folder` if `options` ask for that.
// `given`: the program's path, for messages. An input error names a scope that is not given and
// some of its parameters; an environment error: a file cannot be written.
Result<std::vector<std::string>> flags_with_parameters(const RuntimeOptions& options,
                                                       const std::string& given,
                                                       const InputProgram& program,
                                                       const std::filesystem::path& folder,
                                                       std::uint64_t seed);

// Returns the bytes of a tensor of random reals, small enough that products of matrices keep their
// size. Integers are zero, since they may be indices. The values repeat every few million.
std::string random_content(const problem::TensorType& type, std::uint64_t seed);

// Writes a .safetensors file with the parameters, filled by random_content().
Status write_random_parameters(const std::vector<iree::ProgramParameter>& parameters,
                               const std::filesystem::path& file, std::uint64_t seed);

}  // namespace hone::session
