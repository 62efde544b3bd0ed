// iree-compile flags that make a whole program faster or slower: the effect of each flag and the
// programs that it can affect (IREE 3.13, iree-compile --help-hidden). No flag set is best for all
// programs. On convolutional networks they were worth 2.5 to 7.5x, and the best set of one model
// was the worst of another (docs/flags.md).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "provider/program_provider.h"

namespace hone::iree {

// Lists the choices for a CPU with vectors of `vector_bits`, or a GPU (0). The flags that have
// helped most programs come first. Choices that `flags`, the user's own, already make are omitted.
// A choice that cannot affect the program says why not. `folder`: where the files that flags name
// lie.
std::vector<provider::FlagChoice> flag_choices(const problem::Program& program,
                                               const std::vector<std::string>& flags,
                                               int vector_bits,
                                               const std::filesystem::path& folder);

// The best-known choices for a CPU: data tiling, data tiling with micro-kernels, and O3. They
// compete with a spec if hone does not search flags. Choices that `flags` already make are omitted.
std::vector<provider::FlagChoice> known_choices(const std::vector<std::string>& flags);

// The choice that allows a CPU to reorder floating-point sums. Programs with such sums are tuned
// under it, because IREE keeps their order below its optimisation level O2. Nothing if `flags`
// already decide about such sums or name a level.
std::optional<provider::FlagChoice> reordered_sums(const std::vector<std::string>& flags);

// Names ("--x" of "--x=1") of the flags among the choices whose value names no passes. Text that
// names passes might read files.
std::vector<std::string> plain_choices();

}  // namespace hone::iree
