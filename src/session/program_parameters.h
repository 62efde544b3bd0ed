// The files that a program takes its parameters from: those given, or made up.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "provider/iree/program/program_parameters.h"
#include "session/input_program.h"
#include "session/runtime_options.h"

namespace hone::session {

// Flags for the runtime's tools beyond runtime_flags(), for each scope of the program's parameters
// that those do not give: the program's own, or a file of random numbers in `folder`, where
// `options` ask for that. `given`: its path, for messages. Input error for a scope that is not
// given otherwise, with some of its names; environment error where a file cannot be written.
Result<std::vector<std::string>> parameter_flags(const RuntimeOptions& options,
                                                 const std::string& given,
                                                 const InputProgram& program,
                                                 const std::filesystem::path& folder,
                                                 std::uint64_t seed);

// The bytes of a tensor of random reals of a size that products of matrices keep; integers are
// zero, since they may be indices. The values repeat every few million.
std::string random_content(const problem::TensorType& type, std::uint64_t seed);

// A .safetensors file that holds the parameters, of random_content.
Status write_random_parameters(const std::vector<iree::ProgramParameter>& parameters,
                               const std::filesystem::path& file, std::uint64_t seed);

}  // namespace hone::session
