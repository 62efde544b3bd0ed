// Files that a program takes its parameters from, given by the user or made up.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "provider/iree/program/program_parameters.h"
#include "session/input_program.h"
#include "session/runtime_options.h"

namespace hone::session {

// Returns runtime flags beyond runtime_flags(), for the parameter scopes that those do not give.
// The flags name the program's own parameters, or a file of random numbers in `folder` if `options`
// ask for that. `given`: the program's path, for messages. An input error names a scope that is not
// given and some of its parameters; an environment error: a file cannot be written.
Result<std::vector<std::string>> parameter_flags(const RuntimeOptions& options,
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
