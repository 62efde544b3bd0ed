// What kernels in the places of operations bring: outputs and times of the program with them beside
// those of the program as it is, and the same of each operation alone, with its borders.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "output/status_line.h"
#include "session/external_placement.h"
#include "session/input_program.h"
#include "session/runtime_options.h"
#include "tune/compare/compare.h"
#include "tune/services/machine_check.h"

namespace hone::session {

// A program, or an operation of it as a program of its own, in the ways that are compared.
struct ReplacedSides {
  std::string what;
  tune::CompiledSide without, with;  // the kernels
  // The conversions that the kernels need, and the compiler's own code; none where they need none.
  std::optional<tune::CompiledSide> converted;
  // The kernel alone, without the borders that `with` has; none where it has none.
  std::optional<tune::CompiledSide> kernel;
};

// For each the comparison of `with` (B) and `without` (A); behind it, where there is `kernel`, what
// its borders cost: `with` (B) beside the kernel alone (A). What does not run has that as its
// failure; other errors as tune::compare_compiles.
Result<std::vector<tune::ComparedPair>> price_replacements(const tune::CompareContext& context,
                                                           trial::CompileService& compiler,
                                                           const std::vector<ReplacedSides>& all);

// What is found on a device.
struct Prices {
  std::vector<tune::ComparedPair> pairs;  // the program, then the operations
  tune::MachineCheck machine;
};

// Whether the program is not slower with the kernels, and all outputs are right. That borders cost
// something, or that an operation alone is slower, is no reason: the program decides.
bool holds(const Prices& prices);

// What hone compare would print, with the errors of outputs.
std::string text_of(const Prices& prices, const measure::ComparisonOptions& statistics);
nlohmann::json json_of(const Prices& prices, const measure::ComparisonOptions& statistics);

// What is proved, and how.
struct ProofRequest {
  const ToolchainOptions& toolchain;
  const RuntimeOptions& runtime;
  const tune::CompareOptions& compare;  // rounds, seed, statistics; the rest is filled in
  std::string given;                    // the program's path, for messages
  device::Place place;
  problem::GpuTarget target;
  output::Verbosity verbosity = output::Verbosity::kNormal;
};

// Compiles and runs the program with the flags that apply the spec, and without; then each
// operation alone. Errors as price_replacements, and those of the arguments that are given.
Result<Prices> prove(const ProofRequest& request, const Toolchain& toolchain,
                     const InputProgram& program, const std::vector<PlacedKernel>& placed,
                     const std::vector<std::string>& flags);

}  // namespace hone::session
