#include <algorithm>

#include "provider/iree/cpu/rules.h"

namespace hone::iree {

using space::Expression;

Expression GenericRules::innermost(std::size_t loop) const {
  if (vec[loop]) return *vec[loop];
  return red[loop] ? *red[loop] : loops()[loop].size;
}

std::int64_t GenericRules::element_bytes() const {
  std::int64_t bytes = 1;
  for (const problem::Operand& operand : dispatch.root.operands)
    bytes = std::max(bytes, byte_size(operand.type.element));
  return bytes;
}

std::int64_t GenericRules::lanes() const {
  return std::max<std::int64_t>(1, target.vector_bits / 8 / element_bytes());
}

bool GenericRules::is_scalar() const {
  return std::ranges::any_of(dispatch.root.operands, [](const problem::Operand& operand) {
    return std::ranges::count(operand.loops, -1) > 0;
  });
}

std::vector<std::size_t> GenericRules::lane_loops() const {
  std::size_t most = 0;
  for (const problem::Operand& operand : dispatch.root.operands)
    most = std::max(most, operand.loops.size());
  std::vector<std::size_t> found;
  for (const problem::Operand& operand : dispatch.root.operands) {
    if (operand.loops.size() < most || operand.loops.empty() || operand.loops.back() < 0) continue;
    const auto loop = static_cast<std::size_t>(operand.loops.back());
    if (std::ranges::count(found, loop) == 0) found.push_back(loop);
  }
  return found;
}

// IREE clips a vector tile to the workgroup's: the code of the smaller vector tile.
void generic_vector_within_workgroup(const GenericRules& rules, space::SpaceBuilder& builder) {
  for (std::size_t i = 0; i < rules.loops().size(); ++i)
    if (rules.dist[i] && rules.vec[i])
      builder.require("vector_tile_within_block",
                      "the vector tile of a loop is at most the workgroup's ({} <= {}): a larger "
                      "one is clipped to it",
                      *rules.vec[i] <= *rules.dist[i], {*rules.vec[i], *rules.dist[i]});
}

// IREE, LLVMCPUVerifyVectorSizeLegality: every vector value stays below 512 native vectors. So does
// the whole iteration space of a product; attention has two, for the scores and for the values.
void generic_vectors_within_compiler_limit(const GenericRules& rules,
                                           space::SpaceBuilder& builder) {
  const std::int64_t limit = kMostNativeVectors * rules.target.vector_bits / 8;
  const auto within = [&](const Expression& bytes) {
    builder.require("vectors_within_compiler_limit",
                    "one vector takes {} bytes; the compiler refuses " + std::to_string(limit) +
                        " and more (512 native vectors)",
                    bytes < limit, {bytes});
  };
  if (rules.attention) {
    const auto& operands = rules.dispatch.root.operands;
    Expression scores = 4, values = 4;  // both are summed in f32
    for (std::size_t loop = 0; loop < rules.loops().size(); ++loop) {
      const auto walks = [&](std::size_t operand) {
        const auto& each = operands[operand].loops;
        return std::ranges::count(each, static_cast<int>(loop)) > 0;
      };
      const bool query = walks(0), key = walks(1), value = walks(2);
      if (query || key) scores = scores * rules.innermost(loop);
      if (value || (query && !key)) values = values * rules.innermost(loop);
    }
    within(scores);
    within(values);
    return;
  }
  Expression all = rules.element_bytes(), again = rules.element_bytes();
  bool walked_again = false;
  for (std::size_t i = 0; i < rules.loops().size(); ++i) {
    all = all * rules.innermost(i);
    again = again * (rules.inner[i] ? *rules.inner[i] : rules.innermost(i));
    walked_again |= rules.inner[i].has_value();
  }
  within(all);
  if (walked_again) within(again);
}

// IREE, LLVMCPUPeel: there is nothing to peel where every tile divides the extent around it.
void generic_peeling_needs_remainders(const GenericRules& rules, space::SpaceBuilder& builder) {
  if (!rules.peel) return;
  std::vector<Expression> remainders;
  for (std::size_t i = 0; i < rules.loops().size(); ++i) {
    const Expression size = rules.loops()[i].size;
    if (rules.dist[i]) remainders.push_back(euclidean_mod(size, *rules.dist[i]) != 0);
    const Expression around = rules.dist[i] ? *rules.dist[i] : size;
    if (rules.vec[i] || rules.red[i])
      remainders.push_back(euclidean_mod(around, rules.innermost(i)) != 0);
    if (rules.inner[i]) remainders.push_back(euclidean_mod(size, *rules.inner[i]) != 0);
  }
  builder.require("peeling_needs_remainders",
                  "peeling changes nothing where every tile divides the extent around it",
                  *rules.peel == 0 || space::any_of(remainders));
}

// A tile that leaves a remainder is computed under masks, or twice over (see the contractions'
// rule: 2 to 20 times slower).
void generic_tiles_divide(const GenericRules& rules, space::SpaceBuilder& builder) {
  const auto divides = [&](const Expression& tile, const Expression& extent) {
    builder.prefer("tiles_divide",
                   "a tile that leaves a remainder ({} into {}) is computed under a mask",
                   euclidean_mod(extent, tile) == 0, {tile, extent});
  };
  for (std::size_t i = 0; i < rules.loops().size(); ++i) {
    const Expression size = rules.loops()[i].size;
    if (rules.dist[i]) divides(*rules.dist[i], size);
    // The tile as the compiler clips it. Clipping matters only to an audit of
    // vector_tile_within_block.
    const Expression around = rules.dist[i] ? *rules.dist[i] : size;
    if (rules.vec[i]) divides(min(*rules.vec[i], around), around);
    if (rules.red[i]) divides(*rules.red[i], size);
    if (rules.inner[i]) divides(*rules.inner[i], size);
  }
}

// Loads and stores go along contiguous memory: less than half a register of it wastes the load.
// Half a register serves a transpose, whose registers are exchanged in halves.
void generic_lanes_filled(const GenericRules& rules, space::SpaceBuilder& builder) {
  for (const std::size_t loop : rules.lane_loops())
    for (const auto* tiles : {&rules.vec, &rules.red, &rules.inner}) {
      const auto& tile = (*tiles)[loop];
      if (!tile) continue;
      const std::int64_t wanted =
          std::min(std::max<std::int64_t>(1, rules.lanes() / 2), rules.loops()[loop].size);
      builder.prefer("lanes_filled",
                     "{} elements in a row of memory at once are less than half a register (" +
                         std::to_string(rules.lanes()) + " elements)",
                     *tile >= wanted, {*tile});
    }
}

// An input and a result of the unrolled vectors are live at once. They spill if they exceed twice
// the target's registers.
void generic_vectors_fit_registers(const GenericRules& rules, space::SpaceBuilder& builder) {
  const auto fits = [&](const Expression& elements) {
    const std::int64_t most = 2 * rules.target.vector_registers * rules.lanes();
    builder.prefer("vectors_fit_registers",
                   "{} elements at once are more than twice the target's " +
                       std::to_string(rules.target.vector_registers) + " vector registers hold",
                   elements <= most, {elements});
  };
  Expression all = 1, again = 1;
  bool walked_again = false;
  for (std::size_t i = 0; i < rules.loops().size(); ++i) {
    // Attention's reductions are loops inside of its two products.
    if (!rules.attention || rules.vec[i]) all = all * rules.innermost(i);
    again = again * (rules.inner[i] ? *rules.inner[i] : rules.innermost(i));
    walked_again |= rules.inner[i].has_value();
  }
  fits(all);
  if (walked_again) fits(again);
}

void prefer_busy_threads(space::SpaceBuilder& builder, const Expression& workgroups, int cores) {
  const Expression threads = cores;
  const Expression rounded = euclidean_div(workgroups + (threads - 1), threads) * threads;
  builder.prefer("threads_evenly_busy",
                 "{} workgroups leave more than a fifth of the time of " + std::to_string(cores) +
                     " threads unused",
                 rounded * 4 <= workgroups * 5, {workgroups});
}

// All threads work until the end: the last round of workgroups may idle a fifth of the threads.
void generic_threads_evenly_busy(const GenericRules& rules, space::SpaceBuilder& builder) {
  if (rules.target.cores < 2) return;
  Expression workgroups = 1;
  for (std::size_t i = 0; i < rules.loops().size(); ++i)
    if (rules.dist[i])
      workgroups =
          workgroups * euclidean_div(rules.loops()[i].size - 1 + *rules.dist[i], *rules.dist[i]);
  prefer_busy_threads(builder, workgroups, rules.target.cores);
}

// IREE (setElementwiseGenericOpRootConfig) gives a workgroup 4096 elements or more, "derived from
// experiments", since starting one costs about as much.
void generic_workgroups_worth_starting(const GenericRules& rules, space::SpaceBuilder& builder) {
  constexpr std::int64_t kElements = 4096;
  std::int64_t total = 1, inside = 1;
  Expression work = 1;
  for (std::size_t i = 0; i < rules.loops().size(); ++i) {
    total *= rules.loops()[i].size;
    if (rules.dist[i])
      work = work * *rules.dist[i];
    else
      inside *= rules.loops()[i].size;
  }
  const std::int64_t wanted =
      std::min(kElements, std::max<std::int64_t>(1, total / (2 * rules.target.cores)));
  builder.prefer("workgroups_worth_starting",
                 "{} elements in a workgroup (less than " + std::to_string(wanted) +
                     ") are not worth starting it",
                 work * inside >= wanted, {work * inside});
}

}  // namespace hone::iree
