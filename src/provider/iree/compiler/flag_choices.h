// What iree-compile can be told about a whole program that makes it faster or slower: each flag
// with what it does and which programs it can do something for (IREE 3.13, iree-compile
// --help-hidden). None is best for all: on convolutional networks they were worth 2.5 to 7.5x, and
// the best set of one model was the worst of another (docs/flags.md).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "provider/program_provider.h"

namespace hone::iree {

// For a CPU with vectors of so many bits, or a GPU (0), what has helped most programs first. Left
// out is what `flags`, the user's own, say already; what the program has no use for says why not.
// `folder`: of the files that flags name.
std::vector<provider::FlagChoice> flag_choices(const problem::Program& program,
                                               const std::vector<std::string>& flags,
                                               int vector_bits,
                                               const std::filesystem::path& folder);

// Those among a CPU's that everybody knows, data tiling, the same with micro-kernels and O3: they
// compete with a spec where flags are not searched. Left out is what `flags` say already.
std::vector<provider::FlagChoice> known_choices(const std::vector<std::string>& flags);

// The one by which a CPU's floating-point sums may be reordered, under which programs with such
// sums are tuned: IREE keeps their order below its optimisation level O2. None where `flags` say
// what to do about them, or name a level.
std::optional<provider::FlagChoice> reordered_sums(const std::vector<std::string>& flags);

// Whether `name` ("--x" of "--x=1") is that of a flag among them whose value is no text that names
// passes, which might read files.
bool is_plain_choice(std::string_view name);

}  // namespace hone::iree
