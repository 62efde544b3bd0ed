// Proof of kernels that replace operations: compares outputs and times of the program with and
// without them. Each operation is also compared alone, with its borders.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "output/status_line.h"
#include "output/table.h"
#include "session/external_placement.h"
#include "session/input_program.h"
#include "session/runtime_options.h"
#include "tune/compare/compare.h"
#include "tune/services/session_steps.h"

namespace hone::session {

// The builds of a program that are compared. An operation of the program counts as a program of its
// own.
struct ReplacedSides {
  std::string what;
  tune::CompiledSide without, with;  // the kernels
  // The compiler's own code with the conversions that the kernels need; none if they need none.
  std::optional<tune::CompiledSide> converted;
  // The kernel without the borders that `with` has; none if it has none.
  std::optional<tune::CompiledSide> kernel;
};

// Compares `with` (B) with `without` (A) for each entry. If there is `kernel`, a second pair prices
// the borders: `with` (B) against the kernel alone (A). A build that does not run has a failure in
// its pair; other errors as tune::compare_compiles.
Result<std::vector<tune::ComparedPair>> price_replacements(const tune::CompareContext& context,
                                                           trial::CompileService& compiler,
                                                           const std::vector<ReplacedSides>& all);

// Results of the comparison on a device.
struct Prices {
  std::vector<tune::ComparedPair> pairs;  // the program, then the operations
  tune::MachineCheck machine;
  bool emulated = false;  // device::Facts::emulated
};

// Returns whether the program is not slower with the kernels, and all outputs are correct. Costly
// borders or an operation that is slower alone do not count: the program decides. An emulator's
// times do not count either.
bool holds(const Prices& prices);

// Renders the pairs as hone compare does, with the errors of outputs.
std::string text_of(const Prices& prices, const measure::ComparisonOptions& statistics,
                    std::size_t width = output::Table::kWhole);
nlohmann::json json_of(const Prices& prices, const measure::ComparisonOptions& statistics);

// Request of prove().
struct ExternalProofRequest {
  const ToolchainOptions& toolchain;
  const RuntimeOptions& runtime;
  const tune::CompareOptions& compare;  // rounds, seed, statistics; the rest is filled in
  std::string given;                    // the program's path, for messages
  device::Place place;
  problem::GpuTarget target;
  output::StatusStyle status;
};

// Compiles and runs the program with the flags that apply the spec and without them, then each
// operation alone. Errors: those of price_replacements, and of the given arguments.
Result<Prices> prove(const ExternalProofRequest& request, const Toolchain& toolchain,
                     const InputProgram& program, const std::vector<PlacedKernel>& placed,
                     const std::vector<std::string>& flags);

}  // namespace hone::session
