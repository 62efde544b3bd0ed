#include "provider/iree/vector/vector_provider.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json.h"
#include "problem/dispatch.h"
#include "space/configuration.h"

namespace hone::iree {
namespace {

using space::Expression;
using space::Value;

constexpr const char* kKnobs = "vector";  // of a payload
constexpr const char* kKnobNames[] = {"lanes",      "vectors", "rows",        "steps",
                                      "rows_first", "groups",  "groups_along"};
constexpr std::int64_t kMostWrittenOut = 27;   // steps: those of a 3x3x3 filter of one channel
constexpr std::int64_t kMostOperations = 512;  // multiply-adds that are written out
constexpr std::int64_t kMostGroups = 16;       // for each core

// Lanes of the widest vector and of half of it, as far as the loop has them.
std::vector<Value> lane_counts(std::int64_t along, const problem::CpuTarget& target) {
  std::vector<Value> counts;
  for (Value lanes = target.vector_bits / 32; lanes >= kFewestLanes; lanes /= 2)
    if (lanes <= along && counts.size() < 2) counts.push_back(lanes);
  return counts;
}

// Returns a kernel that has configurations on the target.
Result<VectorKernel> kernel_of(const problem::Dispatch& dispatch,
                               const problem::CpuTarget& target) {
  HONE_ASSIGN(const problem::Statement* const stated, problem::stated(dispatch.statement));
  HONE_ASSIGN(VectorKernel kernel, vector_kernel(*stated));
  const std::vector<Value> lanes = lane_counts(kernel.along.size, target);
  if (lanes.empty()) return input_error("this CPU has no vectors of {} f32", kFewestLanes);
  if (kernel.in_place && kernel.along.size % lanes.back() != 0)
    return input_error("it writes what it reads, and no vector divides {} results",
                       kernel.along.size);
  return kernel;
}

// Returns the values that are at most `most`.
std::vector<Value> up_to(std::int64_t most, std::vector<Value> values) {
  std::erase_if(values, [&](Value value) { return value > most; });
  return values;
}

// The same on any number of cores, so that a stored configuration stays one.
std::vector<Value> group_counts(std::int64_t most) {
  return up_to(most, {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512});
}

VectorKnobs knobs_from(const std::map<std::string, Value>& values) {
  return {values.at("lanes"),       values.at("vectors"),         values.at("rows"),
          values.at("steps"),       values.at("rows_first") != 0, values.at("groups"),
          values.at("groups_along")};
}

// Orders the configurations of a kernel.
class Estimate {
 public:
  Estimate(const problem::Dispatch& dispatch, problem::CpuTarget target)
      : stated_(*dispatch.statement),
        kernel_(*vector_kernel(stated_)),
        target_(std::move(target)) {}
  Estimate(const Estimate&) = delete;
  Estimate& operator=(const Estimate&) = delete;

  double cycles(const VectorKnobs& knobs) const {
    const VectorTiles tiles = tiles_of(kernel_, knobs);
    const auto sums = static_cast<double>(knobs.rows * knobs.vectors);
    double loads = 0, vectors_read = 0;
    for (const std::size_t operand : {std::size_t{0}, std::size_t{1}}) {
      const auto rows = static_cast<double>(kernel_.rows.strides[operand] == 0 ? 1 : knobs.rows);
      const bool is_vector = kernel_.is_vector(operand);
      loads += rows * static_cast<double>(is_vector ? knobs.vectors : 1);
      if (is_vector && kernel_.rows.strides[operand] == 0)
        vectors_read += static_cast<double>(knobs.width() * kElementBytes);
    }
    const double widest = target_.vector_bits / 32.0;
    // Two multiply-adds begin in a cycle, each takes four; a wider vector may be done in halves.
    const double operations =
        sums * std::max(0.5, 0.75 * static_cast<double>(knobs.lanes) / widest);
    const auto panel = static_cast<double>(kernel_.reduced_steps() * kElementBytes *
                                           (knobs.rows_first ? knobs.width() : kernel_.along.size));
    const double bandwidth = panel <= static_cast<double>(target_.l1d_bytes) / 2  ? 64
                             : panel <= static_cast<double>(target_.l2_bytes) / 2 ? 24
                                                                                  : 8;
    const double step = std::max({operations, loads / 2, 4.0, vectors_read / bandwidth});
    const auto steps = static_cast<double>(kernel_.reduced_steps());
    const double tile = steps * step + 2 * sums + 20 +
                        steps / static_cast<double>(std::min(knobs.steps, kernel_.reduced_steps()));
    const std::int64_t groups = tiles.groups() * tiles.groups_along();
    const auto turns = static_cast<double>((groups + target_.cores - 1) / target_.cores);
    const double copied = kernel_.packed ? steps * static_cast<double>(knobs.width()) : 0;
    return turns * static_cast<double>(tiles.chunk_along) *
           (copied + static_cast<double>(tiles.chunk) * tile);
  }

 private:
  const problem::Statement stated_;
  const VectorKernel kernel_;
  const problem::CpuTarget target_;
};

}  // namespace

provider::Payload vector_payload(nlohmann::json knobs) {
  provider::Payload payload;
  payload.json[kKnobs] = std::move(knobs);
  payload.replacing = kVectorProvider;
  return payload;
}

bool is_vector_payload(const provider::Payload& payload) {
  return payload.json.is_object() && payload.json.contains(kKnobs);
}

Result<std::string> vector_executable(const std::optional<problem::Statement>& statement,
                                      const provider::Payload& payload,
                                      const std::string& executable) {
  HONE_ASSIGN(const problem::Statement* const stated, problem::stated(statement));
  HONE_ASSIGN(const VectorKernel kernel, vector_kernel(*stated));
  const auto values = decode_json<std::map<std::string, Value>>(payload.json, kKnobs);
  if (!values) return input_error("this is no configuration of a vector kernel");
  for (const char* const name : kKnobNames)
    if (!values->contains(name))
      return input_error("this configuration of a vector kernel has no '{}'", name);
  return vector_module(executable.empty() ? fmt::format("public @\"{}\"", stated->entry)
                                          : fmt::format("private @\"{}\"", executable),
                       kernel, knobs_from(*values));
}

std::string VectorProvider::why_no_space(const problem::Dispatch& dispatch) const {
  const Result<VectorKernel> kernel = kernel_of(dispatch, target_);
  return kernel ? std::string() : kernel.error().message;
}

Result<space::Space> VectorProvider::space_of(const problem::Dispatch& dispatch) const {
  HONE_ASSIGN(const VectorKernel kernel, kernel_of(dispatch, target_));
  const std::int64_t along = kernel.along.size, reduced = kernel.reduced_steps();
  space::SpaceBuilder builder;
  const std::vector<Value> widths = lane_counts(along, target_);
  const Expression lanes = builder.knob("lanes", "elements of a vector", widths);
  const Expression vectors = builder.knob("vectors", "vectors of a tile, side by side",
                                          up_to(along / widths.back(), {1, 2, 3, 4, 6, 8}));
  const Expression rows = builder.knob(
      "rows", "rows of a tile",
      up_to(kernel.rows.size, {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 14, 16, 20, 24, 28}));
  std::set<Value> unrolled{1, 2, 4, 8};
  std::erase_if(unrolled, [&](Value steps) { return steps > kernel.reduced.back().size; });
  if (kernel.reduced.back().size <= kMostWrittenOut) unrolled.insert(kernel.reduced.back().size);
  if (reduced <= kMostWrittenOut) unrolled.insert(reduced);
  const Expression steps = builder.knob("steps", "steps of the sums that are written out",
                                        std::vector<Value>(unrolled.begin(), unrolled.end()));
  builder.knob("rows_first", "whether a workgroup walks its rows before the next vectors",
               kernel.packed ? std::vector<Value>{1} : std::vector<Value>{0, 1});
  const Expression groups = builder.knob("groups", "most workgroups that share the rows",
                                         group_counts(kernel.rows.size * kernel.outer_steps()));
  const Expression groups_along =
      builder.knob("groups_along", "most workgroups that share the vectors",
                   group_counts(along / widths.back()));
  const Expression width = lanes * vectors, sums = rows * vectors;
  const std::int64_t most_groups =
      kernel.rows.size * kernel.outer_steps() * std::max<std::int64_t>(1, along / widths.back());
  const std::int64_t fewest = std::min<std::int64_t>({2, target_.cores, most_groups});
  builder.require("fits", "a tile of {} columns does not fit into {}", width <= along,
                  {width, along});
  builder.require("registers", "{} sums and the vectors of a step need registers; there are {}",
                  sums + vectors + 1 <= target_.vector_registers, {sums, target_.vector_registers});
  builder.require("written_out", "at most {} multiply-adds are written out",
                  sums * steps <= kMostOperations, {kMostOperations});
  builder.require(
      "cores", "{} x {} workgroups are too few or too many for the cores",
      groups * groups_along >= fewest && groups * groups_along <= kMostGroups * target_.cores,
      {groups, groups_along});
  if (kernel.packed)
    builder.require("stack", "a copy of {} columns for {} steps does not fit on the stack",
                    width * reduced <= kStackBytes / kElementBytes, {width, reduced});
  if (kernel.in_place)
    builder.require("once", "it writes what it reads, so that tiles must divide {} and {}",
                    euclidean_mod(kernel.rows.size, rows) == 0 && euclidean_mod(along, width) == 0,
                    {kernel.rows.size, along});
  return builder.build();
}

Result<provider::Payload> VectorProvider::payload_of(
    const problem::Dispatch&, const space::Space& space,
    const space::Configuration& configuration) const {
  return vector_payload(space::values_by_name(space, configuration));
}

std::function<double(const space::Configuration&)> VectorProvider::prior(
    const problem::Dispatch& dispatch, const space::Space& space) const {
  if (!why_no_space(dispatch).empty()) return {};
  const auto estimate = std::make_shared<const Estimate>(dispatch, target_);
  return [estimate, space](const space::Configuration& configuration) {
    return estimate->cycles(knobs_from(space::values_by_name(space, configuration)));
  };
}

std::string VectorProvider::summation(const problem::Dispatch&,
                                      const std::optional<provider::Payload>& payload) const {
  return payload ? "f32, one after the other" : "";
}

}  // namespace hone::iree
