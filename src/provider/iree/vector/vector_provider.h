// hone's own kernels for CPUs as a Provider: the space of a dispatch's vector kernel, and an
// estimate of time. The compiler's workers compile them (prepared_dispatch.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "problem/target.h"
#include "provider/iree/vector/vector_text.h"
#include "provider/provider.h"

namespace hone::iree {

// Payload::replacing of these kernels.
inline constexpr std::string_view kVectorProvider = "vector";

// Makes the payload of a configuration: {knob: value}.
provider::Payload vector_payload(nlohmann::json knobs);
// Whether a payload is of a vector kernel. Workers are not told Payload::replacing.
bool is_vector_payload(const provider::Payload& payload);

// Returns the text of the executable that takes the place of `executable`, by a payload of the
// kernel's space; without a name, of one that is compiled alone (vector_module). An input error for
// another payload, and for a statement without a kernel.
Result<std::string> vector_executable(const std::optional<problem::Statement>& statement,
                                      const provider::Payload& payload,
                                      const std::string& executable);

// Kernels of dispatches that state a contraction or convolution of f32 (Dispatch::statement).
//
// Knobs:
//   lanes         elements of a vector
//   vectors, rows a tile: its sums stay in registers
//   steps         steps of the sums that are written out behind each other
//   rows_first    1: a workgroup walks its rows before the next vectors, which stay in the cache
//   groups, groups_along  most workgroups that share the rows, and the vectors
class VectorProvider : public provider::Provider {
 public:
  explicit VectorProvider(problem::CpuTarget target) : target_(std::move(target)) {}

  std::string_view name() const override { return kVectorProvider; }
  std::string_view constraint_set() const override { return kVectorProvider; }
  std::string why_no_space(const problem::Dispatch& dispatch) const override;
  Result<space::Space> space_of(const problem::Dispatch& dispatch) const override;
  Result<provider::Payload> payload_of(const problem::Dispatch& dispatch, const space::Space& space,
                                       const space::Configuration& configuration) const override;
  // Cycles of the busiest core: multiply-adds, loads, and vectors from a cache that does not hold
  // them all. It has to rank, not to be exact.
  std::function<double(const space::Configuration&)> prior(
      const problem::Dispatch& dispatch, const space::Space& space) const override;
  std::string summation(const problem::Dispatch& dispatch,
                        const std::optional<provider::Payload>& payload) const override;

 private:
  problem::CpuTarget target_;
};

}  // namespace hone::iree
