#include "provider/iree/cpu/rules.h"

namespace hone::iree {
namespace {

// The compiler's limit on the stack of one dispatch function, in bytes
// (--iree-llvmcpu-stack-allocation-limit).
constexpr std::int64_t kStackBytes = 32768;

// Copies on the stack of an accumulator block that its tiles do not divide
// (ragged_block_fits_stack).
constexpr std::int64_t kRaggedCopies = 2;

using space::Expression;

std::size_t index(int loop) {
  return static_cast<std::size_t>(loop);
}

// Adds the conditions under which a tile of the loop does not divide the extent around it.
void add_remainders(const RuleContext& context, int of, std::vector<Expression>& remainders) {
  const ContractionLoop& loop = context.loops.loops[index(of)];
  const Expression size = loop.size, block = context.block(of);
  if (const auto& dist = context.dist[index(of)]) {
    remainders.push_back(euclidean_mod(size, *dist) != 0);
    remainders.push_back(euclidean_mod(*dist, block) != 0);
  } else {
    remainders.push_back(euclidean_mod(size, block) != 0);
  }
  remainders.push_back(euclidean_mod(block, context.innermost(of)) != 0);
}

Expression block_is_ragged(const RuleContext& context) {
  std::vector<Expression> remainders;
  for (const int loop : context.loops.parallel) add_remainders(context, loop, remainders);
  return space::any_of(remainders);
}

// Bytes of the accumulators of the tiles that `tile` says of each parallel loop.
template <class Tile>
Expression accumulator_block(const RuleContext& context, const Tile& tile) {
  Expression bytes = context.loops.accumulator_bytes;
  for (const int loop : context.loops.parallel) bytes = bytes * tile(loop);
  return bytes;
}

// Registers of one row of the register tile.
Expression lane_registers(const RuleContext& context) {
  return euclidean_div(context.innermost(context.loops.lane) + (context.lanes() - 1),
                       context.lanes());
}

// Whether the remainder of a row of the block after peeling is at most one register, or whole ones.
// 17 elements of 16 lanes are no vector that LLVM keeps in registers (lanes_filled). Measured: see
// peeled_rest_in_registers.
Expression rest_in_registers(const RuleContext& context, const Expression& tile) {
  const Expression rest = euclidean_mod(context.block(context.loops.lane), tile);
  return rest <= context.lanes() || euclidean_mod(rest, context.lanes()) == 0;
}

// Rows of the inputs that k walks along which one register tile keeps in the first-level cache;
// nothing where there is no such input.
std::optional<std::int64_t> most_rows(const RuleContext& context) {
  std::optional<std::int64_t> most;
  for (const problem::Operand& operand : context.operation.operands)
    if (const auto rows = rows_in_first_level(context.operation, operand, context.target))
      most = std::min(*rows, most.value_or(*rows));
  return most;
}

bool is_batch(const RuleContext& context, int loop) {
  return context.loops.loops[index(loop)].role == problem::LoopRole::kBatch;
}

}  // namespace

Expression RuleContext::block(int loop) const {
  const auto& tile = cache[index(loop)];
  const Expression whole =
      loops.loops[index(loop)].reduction ? loops.loops[index(loop)].size : *dist[index(loop)];
  return tile ? ite(*tile == 0, whole, *tile) : whole;
}

Expression RuleContext::innermost(int loop) const {
  if (loops.loops[index(loop)].reduction) return *red[index(loop)];
  return vec[index(loop)] ? *vec[index(loop)] : 1;
}

Expression RuleContext::any_k_blocked() const {
  std::vector<Expression> blocked;
  for (const int k : loops.reduction)
    if (cache[index(k)]) blocked.push_back(*cache[index(k)] != 0);
  return space::any_of(blocked);
}

std::int64_t RuleContext::lanes() const {
  return std::max<std::int64_t>(1, target.vector_bits / 8 / loops.accumulator_bytes);
}

bool RuleContext::has_ragged_rows() const {
  const std::int64_t size = loops.loops[index(loops.lane)].size;
  return size > lanes() && size % lanes() != 0;
}

Expression RuleContext::accumulators() const {
  Expression count = 1;
  for (const int loop : loops.parallel)
    count = count * (loop == loops.lane ? euclidean_div(innermost(loop) + (lanes() - 1), lanes())
                                        : innermost(loop));
  return count;
}

// IREE accepts a block smaller than the vector tile without a word and clips the tile: the same
// code as the smaller vector tile.
void vector_tile_within_block(const RuleContext& context, space::SpaceBuilder& builder) {
  for (std::size_t i = 0; i < context.loops.loops.size(); ++i) {
    const int loop = static_cast<int>(i);
    if (!context.vec[i] && !context.red[i]) continue;
    const Expression block = context.block(loop);
    builder.require("vector_tile_within_block",
                    "the innermost tile of a loop is at most the block around it ({} <= {}): a "
                    "larger one is clipped to it",
                    context.innermost(loop) <= block, {context.innermost(loop), block});
  }
}

// A cache tile that is not smaller than the distribution tile makes a loop of one iteration, which
// IREE removes.
void cache_tile_below_distribution(const RuleContext& context, space::SpaceBuilder& builder) {
  for (const int loop : context.loops.parallel) {
    const auto& tile = context.cache[index(loop)];
    if (!tile) continue;
    builder.require("cache_tile_below_distribution",
                    "a cache tile of the distribution tile's size ({} and {}) is a loop of one "
                    "iteration; 0 says the same",
                    *tile < *context.dist[index(loop)], {*tile, *context.dist[index(loop)]});
  }
}

// IREE, LLVMCPUVerifyVectorSizeLegality: the iteration space of a vector contraction in
// accumulator elements, and every vector value, stay below 512 native vectors.
void vectors_within_compiler_limit(const RuleContext& context, space::SpaceBuilder& builder) {
  const std::int64_t limit = kMostNativeVectors * context.target.vector_bits / 8;
  Expression bytes = context.loops.accumulator_bytes;
  for (std::size_t i = 0; i < context.loops.loops.size(); ++i)
    bytes = bytes * context.innermost(static_cast<int>(i));
  builder.require("vectors_within_compiler_limit",
                  "one vector contraction takes {} bytes; the compiler refuses " +
                      std::to_string(limit) + " and more (512 native vectors)",
                  bytes < limit, {bytes});
}

// IREE: with the k loop tiled around them, what consumes the result cannot be fused into the vector
// loops, so the accumulator block between them is a buffer on the stack.
void accumulator_fits_stack(const RuleContext& context, space::SpaceBuilder& builder) {
  if (!context.fused_consumers) return;
  const Expression bytes =
      accumulator_block(context, [&](int loop) { return context.block(loop); });
  builder.require("accumulator_fits_stack",
                  "with K blocked the accumulator block of {} bytes lies on the stack, where the "
                  "compiler allows 32768",
                  !context.any_k_blocked() || bytes <= kStackBytes, {bytes});
}

// A block that tiles do not divide is no vector: what reads the result then has a copy of it, and
// with cache tiles that are peeled the boundary's a third. Measured (IREE 3.13, 256x196x2304 f32
// with a relu): 64x98 takes 50176 bytes whether masked or peeled, cache tiles of 64x49 in 128x98
// peeled 37632, cache tiles of 32x96 in 128x192 masked compile.
void ragged_block_fits_stack(const RuleContext& context, space::SpaceBuilder& builder) {
  if (!context.fused_consumers) return;
  const Expression bytes =
      accumulator_block(context, [&](int loop) { return context.block(loop); });
  std::vector<Expression> tiles;
  for (const int loop : context.loops.parallel)
    if (const auto& tile = context.cache[index(loop)]) tiles.push_back(*tile != 0);
  const Expression copies =
      ite(space::any_of(tiles), ite(context.peel == 0, 1, kRaggedCopies + 1), kRaggedCopies);
  builder.prefer(
      "ragged_block_fits_stack",
      "a blocked accumulator of {} bytes that tiles do not divide is copied on the stack, "
      "where the compiler allows 32768",
      !context.any_k_blocked() || !block_is_ragged(context) || bytes * copies <= kStackBytes,
      {bytes});
}

// IREE, LLVMCPUPeel: there is nothing to peel where every tile divides the extent around it.
void peeling_needs_remainders(const RuleContext& context, space::SpaceBuilder& builder) {
  std::vector<Expression> remainders;
  for (std::size_t i = 0; i < context.loops.loops.size(); ++i)
    add_remainders(context, static_cast<int>(i), remainders);
  builder.require("peeling_needs_remainders",
                  "peeling changes nothing where every tile divides the extent around it",
                  context.peel == 0 || space::any_of(remainders));
}

// Measured: a tile that leaves a remainder is masked everywhere and runs 2 to 20 times slower.
// Rows that no whole registers divide may be peeled instead (3136x24x144: 24 columns at once 902
// us, 12 149 us, 16 and the rest peeled 138 us, the compiler's default 200 us).
void tiles_divide(const RuleContext& context, space::SpaceBuilder& builder) {
  const auto divides = [&](const Expression& tile, const Expression& extent,
                           const Expression& otherwise = false) {
    builder.prefer("tiles_divide",
                   "a tile that leaves a remainder ({} into {}) is computed under a mask",
                   euclidean_mod(extent, tile) == 0 || otherwise, {tile, extent});
  };
  const bool peels_rows = context.boundaries_vectorised && context.has_ragged_rows();
  for (std::size_t i = 0; i < context.loops.loops.size(); ++i) {
    const int loop = static_cast<int>(i);
    const Expression size = context.loops.loops[i].size, block = context.block(loop);
    if (context.dist[i]) divides(*context.dist[i], size);
    if (context.cache[i]) divides(block, context.dist[i] ? *context.dist[i] : size);
    if (!context.vec[i] && !context.red[i]) continue;
    // The tile as the compiler clips it. Clipping matters only to an audit of
    // vector_tile_within_block.
    const Expression tile = min(context.innermost(loop), block);
    if (peels_rows && loop == context.loops.lane)
      divides(tile, block, context.peel == 1);
    else
      divides(tile, block);
  }
}

// Measured (IREE 3.13, Zen 4, one core, 512xNx4608 f32, 8 rows and 32 columns at once): N = 33 to
// 40, which leaves 1 to 8 columns, 79 to 93 GFLOP/s; N = 49, which leaves 17, 32. There 16 columns
// at once leave one: 16x16 82 GFLOP/s.
void peeled_rest_in_registers(const RuleContext& context, space::SpaceBuilder& builder) {
  const auto& tile = context.vec[index(context.loops.lane)];
  if (!tile || !context.has_ragged_rows()) return;
  builder.prefer("peeled_rest_in_registers",
                 "{} elements of a row at a time leave a rest that is more than one register and "
                 "no whole number of them",
                 context.peel == 0 || rest_in_registers(context, *tile), {*tile});
}

// LLVM widens a vector whose length is no power of two to the next one and keeps it in memory
// (measured: 4x80 at 0.1 times the speed of 4x64); a part of a register is wasted; rows of eight
// registers were slower than the same register tile in another shape (2x128: 97, 4x64: 149
// GFLOP/s).
void lanes_filled(const RuleContext& context, space::SpaceBuilder& builder) {
  const auto& tile = context.vec[index(context.loops.lane)];
  if (!tile) return;
  const std::int64_t size = context.loops.loops[index(context.loops.lane)].size;
  std::vector<Expression> good;
  for (const std::int64_t registers : {1, 2, 4})
    good.push_back(*tile == registers * context.lanes());
  if (size < context.lanes()) good.push_back(*tile == size);
  if (context.has_ragged_rows()) {
    std::int64_t piece = context.lanes();
    while (size % piece != 0) --piece;
    if (2 * piece >= context.lanes()) good.push_back(*tile == piece);
  }
  builder.prefer("lanes_filled",
                 "{} is not one, two or four registers (" + std::to_string(context.lanes()) +
                     " elements each)",
                 space::any_of(good), {*tile});
}

// The register tile, one row of the lane operand and one broadcast live in vector registers; more
// spills to the stack in the innermost loop.
void accumulators_fit_registers(const RuleContext& context, space::SpaceBuilder& builder) {
  const Expression row = lane_registers(context);
  builder.prefer("accumulators_fit_registers",
                 "{} accumulators, {} registers of one row and a broadcast exceed the target's " +
                     std::to_string(context.target.vector_registers) + " vector registers",
                 context.accumulators() + row + 1 <= context.target.vector_registers,
                 {context.accumulators(), row});
}

// Half of the registers hold sums: every value loaded is then used often enough, and the eight
// sums that two multiply-add units of four cycles latency need (Intel since Skylake, AMD since
// Zen 2: uops.info) are in flight.
void accumulators_fill_registers(const RuleContext& context, space::SpaceBuilder& builder) {
  std::int64_t most = 1;  // accumulators that the problem has
  for (const int loop : context.loops.parallel) {
    const std::int64_t size = context.loops.loops[index(loop)].size;
    if (is_batch(context, loop)) continue;
    most *= loop == context.loops.lane ? (size + context.lanes() - 1) / context.lanes() : size;
  }
  const std::int64_t wanted = std::min<std::int64_t>(context.target.vector_registers / 2, most);
  Expression enough = wanted;
  if (const auto rows = most_rows(context)) enough = min(enough, *rows * lane_registers(context));
  builder.prefer("accumulators_fill_registers",
                 "{} accumulators leave more than half of the vector registers to other things "
                 "(wanted: " +
                     std::to_string(wanted) + ")",
                 context.accumulators() >= enough, {context.accumulators()});
}

// Rows that lie a multiple of 4096 bytes apart push each other out of the first-level cache
// (measured, IREE 3.13, Zen 4 with 8 ways, one core, 512x64xK f32 with 16 rows and 16 columns at
// once: K = 2048 49, K = 2064 102 GFLOP/s; with 8 rows and 32 columns both 104).
void rows_within_ways(const RuleContext& context, space::SpaceBuilder& builder) {
  for (const problem::Operand& operand : context.operation.operands) {
    const auto most = rows_in_first_level(context.operation, operand, context.target);
    if (!most) continue;
    Expression rows = 1;
    for (const int loop : operand.loops)
      if (!context.loops.loops[index(loop)].reduction) rows = rows * context.innermost(loop);
    builder.prefer("rows_within_ways",
                   "{} rows of an operand at once, of which the first-level cache keeps " +
                       std::to_string(*most),
                   rows <= *most, {rows});
  }
}

// Each step of k loads every row of the register tile: with more than three loads for four
// multiply-adds the load ports, not the multipliers, set the pace (measured: 16x16 against 8x32).
void loads_below_multiplies(const RuleContext& context, space::SpaceBuilder& builder) {
  Expression loads = 0;
  for (const int loop : context.loops.parallel) {
    if (!context.vec[index(loop)]) continue;
    loads =
        loads + (loop == context.loops.lane ? lane_registers(context) : context.innermost(loop));
  }
  std::size_t tiled = 0;
  for (const int loop : context.loops.parallel)
    if (context.vec[index(loop)] && context.loops.loops[index(loop)].size > 1) ++tiled;
  if (tiled < 2) return;  // a matrix-vector product loads as much as it multiplies
  // A row of one register is exempt if two and four registers would leave a remainder that is no
  // vector.
  Expression narrow = false;
  if (const auto& tile = context.vec[index(context.loops.lane)];
      tile && context.boundaries_vectorised && context.has_ragged_rows())
    narrow = *tile <= context.lanes() && !rest_in_registers(context, 2 * context.lanes()) &&
             !rest_in_registers(context, 4 * context.lanes());
  builder.prefer(
      "loads_below_multiplies", "{} loads for {} multiply-adds: the load ports set the pace",
      narrow || loads * 4 <= context.accumulators() * 3, {loads, context.accumulators()});
}

// The loops have to be in the order of ContractionLoops::interchange, for the reason given there.
void outer_products(const RuleContext& context, space::SpaceBuilder& builder) {
  if (!context.interchange) return;
  builder.prefer("outer_products",
                 "without an interchange of its loops the contraction is no sum of outer products",
                 *context.interchange == 1, {*context.interchange});
}

// The innermost loop is unrolled by every vector tile. Measured: no gain beyond 128 multiply-adds
// (1024x1024x1024, 8x32: red_k 4 148.9, 8 134.5 GFLOP/s; f16: 8 steps 97.7, 16 steps 92.1).
void unrolled_code_small(const RuleContext& context, space::SpaceBuilder& builder) {
  Expression steps = 1;
  for (const int k : context.loops.reduction) steps = steps * context.innermost(k);
  builder.prefer("unrolled_code_small", "{} multiply-adds in the unrolled loop (more than 128)",
                 context.accumulators() * steps <= 128, {context.accumulators() * steps});
}

// Inputs narrower than the accumulator are converted one by one unless a few steps of k are loaded
// as one vector (measured: f16 with red_k = 1 or 2).
void narrow_inputs_unrolled(const RuleContext& context, space::SpaceBuilder& builder) {
  if (context.loops.input_bytes >= context.loops.accumulator_bytes) return;
  const int k = context.loops.reduction.back();
  if (context.loops.loops[index(k)].size < 4) return;
  builder.prefer("narrow_inputs_unrolled",
                 "inputs of {} bytes are converted one at a time with red_k = {} (less than 4)",
                 *context.red[index(k)] >= 4, {context.loops.input_bytes, *context.red[index(k)]});
}

// Each block of k loads and stores every accumulator once (measured at 1024x1024x1024: 8 steps 114,
// 16 steps 124, 32 steps 135 GFLOP/s).
void k_block_amortises_accumulator(const RuleContext& context, space::SpaceBuilder& builder) {
  for (const int k : context.loops.reduction) {
    const auto& tile = context.cache[index(k)];
    if (!tile) continue;
    builder.prefer(
        "k_block_amortises_accumulator",
        "every {} steps of k the accumulators go to memory and back (less than 32)",
        *tile == 0 || *tile >= std::min<std::int64_t>(32, context.loops.loops[index(k)].size),
        {*tile});
  }
}

// An operand that is walked across its rows touches one page per step of k: 256 pages are what the
// first-level TLBs and the ways of the caches bear (measured at 1024x1024x1024: 256 steps 18 ms,
// 512 steps 31 ms, unblocked 32 ms).
void k_block_within_pages(const RuleContext& context, space::SpaceBuilder& builder) {
  constexpr std::int64_t kPageBytes = 4096, kPages = 256;
  for (const problem::Operand& operand : context.operation.operands) {
    if (operand.output || operand.loops.size() < 2) continue;
    const std::int64_t row_bytes = operand.type.shape.back() * byte_size(operand.type.element);
    for (std::size_t d = 0; d + 1 < operand.loops.size(); ++d) {
      const int loop = operand.loops[d];
      if (!context.loops.loops[index(loop)].reduction) continue;
      const std::int64_t rows = kPages * kPageBytes / std::min(row_bytes, kPageBytes);
      builder.prefer("k_block_within_pages",
                     "{} rows of an operand are walked column by column; more than " +
                         std::to_string(rows) + " of them touch more than 256 pages",
                     context.block(loop) <= rows, {context.block(loop)});
    }
  }
}

// The loops below cache_k reuse their data again and again, from the second-level cache if it fits
// there.
void block_fits_l2(const RuleContext& context, space::SpaceBuilder& builder) {
  Expression bytes = 0;
  for (const problem::Operand& operand : context.operation.operands) {
    Expression block = byte_size(operand.type.element);
    for (const int loop : operand.loops)
      block = block * (is_batch(context, loop) ? 1 : context.block(loop));
    bytes = bytes + block;
  }
  builder.prefer("block_fits_l2",
                 "the blocks of the operands take {} bytes, the second-level cache has " +
                     std::to_string(context.target.l2_bytes),
                 bytes <= context.target.l2_bytes, {bytes});
}

// Multiply-adds per input element loaded from beyond the block's cache: an element of the m operand
// is used by all columns of the block, an element of the n operand by all rows. 64x64 blocks give
// 32 per element loaded (measured: matmul+bias+gelu 128x3072x768, blocks of 8192 elements: 128x64
// 90, 64x128 83, 32x256 63 GFLOP/s).
void block_reuses_inputs(const RuleContext& context, space::SpaceBuilder& builder) {
  std::int64_t m_size = 1, n_size = 1;
  Expression m = 1, n = 1;
  for (const int loop : context.loops.parallel) {
    const ContractionLoop& each = context.loops.loops[index(loop)];
    if (is_batch(context, loop)) continue;
    const bool is_m = each.role == problem::LoopRole::kM;
    (is_m ? m : n) = (is_m ? m : n) * context.block(loop);
    (is_m ? m_size : n_size) *= each.size;
  }
  const std::int64_t wanted = std::min<std::int64_t>(32, m_size * n_size / (m_size + n_size) / 2);
  builder.prefer(
      "block_reuses_inputs",
      "a block of {} by {} uses what it loads less than " + std::to_string(wanted) + " times",
      m * n >= (m + n) * wanted, {m, n});
}

// Cache tiles are for fused consumers, whose accumulator block must fit on the stack while the
// distribution tile does not; elsewhere the distribution tile does the same (measured: no gain).
void cache_tile_only_where_needed(const RuleContext& context, space::SpaceBuilder& builder) {
  const Expression bytes =
      accumulator_block(context, [&](int loop) { return *context.dist[index(loop)]; });
  const Expression needed =
      context.any_k_blocked() && Expression(context.fused_consumers) &&
      (bytes > kStackBytes || (block_is_ragged(context) && bytes * kRaggedCopies > kStackBytes));
  for (const int loop : context.loops.parallel) {
    const auto& tile = context.cache[index(loop)];
    if (!tile) continue;
    builder.prefer("cache_tile_only_where_needed",
                   "a cache tile ({}) is for keeping a blocked accumulator on the stack",
                   *tile == 0 || needed, {*tile});
  }
}

// Matrices of a batch share nothing that a larger tile could keep in a cache.
void batch_distributed_singly(const RuleContext& context, space::SpaceBuilder& builder) {
  for (const int loop : context.loops.parallel)
    if (is_batch(context, loop))
      builder.prefer("batch_distributed_singly",
                     "{} matrices of the batch in one workgroup share nothing",
                     *context.dist[index(loop)] == 1, {*context.dist[index(loop)]});
}

// All threads work until the end: the last round of workgroups may idle a fifth of the threads.
void threads_evenly_busy(const RuleContext& context, space::SpaceBuilder& builder) {
  if (context.target.cores < 2) return;
  Expression workgroups = 1;
  for (const int loop : context.loops.parallel) {
    const Expression& tile = *context.dist[index(loop)];
    workgroups = workgroups * euclidean_div(context.loops.loops[index(loop)].size - 1 + tile, tile);
  }
  prefer_busy_threads(builder, workgroups, context.target.cores);
}

// Starting a workgroup costs on the order of a microsecond in IREE's task system.
void workgroups_worth_starting(const RuleContext& context, space::SpaceBuilder& builder) {
  constexpr std::int64_t kMultiplyAdds = 1 << 20;
  std::int64_t k_steps = 1, total = 1;
  for (const ContractionLoop& loop : context.loops.loops) {
    total *= loop.size;
    if (loop.reduction) k_steps *= loop.size;
  }
  const std::int64_t wanted =
      std::min(kMultiplyAdds, std::max<std::int64_t>(1, total / (2 * context.target.cores)));
  Expression work = k_steps;
  for (const int loop : context.loops.parallel) work = work * *context.dist[index(loop)];
  builder.prefer("workgroups_worth_starting",
                 "{} multiply-adds in a workgroup (less than " + std::to_string(wanted) +
                     ") are not worth starting it",
                 work >= wanted, {work});
}

}  // namespace hone::iree
