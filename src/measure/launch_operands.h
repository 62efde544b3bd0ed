// Data of a problem's verified launches and the expected outputs, computed by hone or by a
// reference that was compiled independently.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "measure/runner_requests.h"
#include "measure/workload.h"

namespace hone::measure {

// Contents and tolerances of an operand set.
struct LaunchOperands {
  Buffers::Contents contents;         // by binding; empty for write-only ones
  std::vector<Tolerance> tolerances;  // by binding
};

// Returns both sets, of the problem's seed or a later draw: the given inputs if there are any (the
// same in both), else those of plan_inputs. A problem that is only timed has the first set alone.
// An input error for a binding without a static size, or for a given input of another size.
Result<std::array<LaunchOperands, kOperandSets>> launch_operands(const ProblemRequest& request,
                                                                 int draw = 0);

// Draws the bindings' contents before a launch on `set` by `seed`; empty for write-only ones. Reals
// repeat in a large binding. Input error as launch_operands().
Result<Buffers::Contents> drawn_contents(const problem::Dispatch& dispatch, OperandSet set,
                                         std::uint64_t seed);

// Names the output that no set of operands can verify. A correct kernel of it may be off by half of
// what it computes (a long sum of one sign in a coarse type). Empty if there is none.
std::string not_verifiable(const problem::Dispatch& dispatch,
                           const std::array<LaunchOperands, kOperandSets>& operands);

// Expected contents of buffers that hold the operands, after a launch. nullopt if hone does not
// compute the dispatch (has_exact_reference) and a reference must be run.
using ExpectedOutputs = std::array<std::vector<Expected>, kOperandSets>;
Result<std::optional<ExpectedOutputs>> computed_outputs(
    const ProblemRequest& request, const std::array<LaunchOperands, kOperandSets>& operands);

// Runs a trusted kernel on its device over the poison of both variants, so that the elements it
// writes are known too. `buffers` are those of create() with both contents. A failure if it breaks
// a guard or changes an input.
Result<ExpectedOutputs> run_reference(device::Kernel& kernel, Buffers& buffers);

// Names the expected elements that are NaN or infinite, which compare with nothing. Empty if none
// is, or if the program's constants may make some (Computation::has_infinite_constants).
std::string not_finite(const problem::Dispatch& dispatch, const ExpectedOutputs& expected);

// Buffers for `bindings` in as many copies as the cache mode asks for. `note` is set when they are
// fewer than a cold cache needs. `device`: as in Buffers::create.
Result<Buffers> make_buffers(const std::vector<problem::Binding>& bindings,
                             std::array<LaunchOperands, kOperandSets>& operands,
                             const ProblemRequest& request, std::string& note,
                             device::Device* device = nullptr);

// Buffers with their expected contents, including the copy of these in the device's memory.
Result<Workload> make_workload(Buffers buffers, ExpectedOutputs expected,
                               const std::array<LaunchOperands, kOperandSets>& operands,
                               device::Device& device);

}  // namespace hone::measure
