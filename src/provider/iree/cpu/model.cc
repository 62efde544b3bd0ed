#include "provider/iree/cpu/model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "provider/iree/cpu/space.h"

namespace hone::iree {
namespace {

// Two 512-bit multiply-adds a cycle, four cycles each (uops.info: Intel since Skylake-X, AMD Zen
// 5).
constexpr double kMultiplyAdds = 2, kLatency = 4;
// Two loads a cycle; 17 of them beside 16 multiply-adds run at 0.75 of the rate of 10
// (docs/spaces.md: 16x16 115, 8x32 154 GFLOP/s), as 1.5 a cycle would.
constexpr double kLoadsPerCycle = 1.5;
// Bytes a cycle: half of the 64 of the data sheets from the second-level cache; beyond it what one
// core gets of a shared cache (Chips and Cheese, Zen 5 and Golden Cove: 8 to 12).
constexpr double kL2Bytes = 32, kL3Bytes = 8;
constexpr double kLineBytes = 64, kPageBytes = 4096;
// x86's first-level caches are indexed within a page, so that a way is a page; second-level caches
// have 16 ways (Intel and AMD since 2019, but for 8 of Zen to Zen 4 with half the size).
constexpr double kL1WayBytes = 4096, kL2Ways = 16;
// First-level data TLB: 64 to 96 entries, 7 cycles to the second level, which has 1,536 to 3,072
// and 30 cycles and more beyond it (uops.info, 7-cpu.com).
constexpr double kFirstTlb = 72, kFirstTlbCycles = 7, kSecondTlb = 2048, kSecondTlbCycles = 30;
// Most of a wait for an address is hidden, since loads are independent: this share is not.
constexpr double kNotHidden = 0.3;
// A register tile's beginning and end beside its sums, and of an unrolled loop's turn.
constexpr double kTileCycles = 20, kTurnCycles = 1;
constexpr double kWorkgroupCycles = 2000;
// Code of a loop beyond what the decoded-instruction caches hold (docs/spaces.md: 8x32, f32: red_k
// 4 148.9, 8 134.5 GFLOP/s; 12 % lost at twice as much).
constexpr double kUnrolled = 64, kUnrolledLoss = 0.12;
// Measured: a remainder under masks makes it 2 to 20 times slower, peeled 1.1; lane vectors that
// are no power of two registers 8 times.
constexpr double kMasked = 4, kPeeled = 1.1, kOddVector = 8;
// Loops that are not interchanged where ContractionLoops::interchange says so make it 8 to 10 times
// slower (measured, see there).
constexpr double kNoOuterProducts = 8;

double ceil_div(double a, double b) {
  return std::ceil(a / b);
}

std::size_t loop_index(int loop) {
  return static_cast<std::size_t>(loop);
}

// Bytes that a cache keeps of rows of `width` bytes, `stride` bytes apart. Rows whose distance
// shares a large divisor with a cache way start in few of its sets.
double kept_bytes(double cache, double way, double width, double stride) {
  const double lines = kLineBytes * std::ceil(width / kLineBytes);
  const auto divisor = std::gcd(static_cast<std::int64_t>(way), static_cast<std::int64_t>(stride));
  return cache * std::min(1.0, lines / static_cast<double>(divisor));
}

class ContractionModel {
 public:
  ContractionModel(const ContractionLoops& loops, const problem::Operation& operation,
                   const problem::CpuTarget& target, const CpuTiles& tiles)
      : loops_(loops), target_(target), tiles_(tiles) {
    const bool first = walks(operation.operands[0], loops.lane);
    lane_ = &operation.operands[first ? 0 : 1];
    other_ = &operation.operands[first ? 1 : 0];
    kept_rows_ = rows_in_first_level(operation, *other_, target);
    lanes_ = std::max(1.0, static_cast<double>(target.vector_bits) / 8 /
                               static_cast<double>(loops.accumulator_bytes));
  }

  CpuEstimate estimate() const {
    CpuEstimate all;
    const double row = std::ceil(columns(tiles_.inner) / lanes_);
    const double rows = this->rows(tiles_.inner);
    all.sums = rows * row;
    all.loads = rows + row * (lane_contiguous() ? 1 : 4);
    all.step_cycles = step_cycles(all.sums, row, all.loads, rows);
    const double tiles = passes(this->rows(tiles_.workgroup), rows) *
                         passes(columns(tiles_.workgroup), columns(tiles_.inner));
    all.steps = tiles * depth();
    add_traffic(all);
    all.page_cycles = all.steps * page_cycles_of_step();
    const double k_blocks = ceil_div(depth(), depth_of(tiles_.block));
    all.block_cycles = tiles * k_blocks * (kTileCycles + (k_blocks > 1 ? 2 * all.sums : all.sums));
    const double computing = all.steps * all.step_cycles * remainders();
    const double l2 = all.l2_bytes / kL2Bytes, l3 = all.l3_bytes / kL3Bytes;
    // Prefetchers overlap these only in part.
    const double together = std::sqrt(computing * computing + l2 * l2 + l3 * l3);
    all.workgroups = 1;
    for (const int loop : loops_.parallel)
      all.workgroups *= ceil_div(static_cast<double>(loops_.loops[loop_index(loop)].size),
                                 tiles_.workgroup[loop_index(loop)]);
    all.rounds = ceil_div(all.workgroups, target_.cores);
    all.cycles =
        all.rounds * (kWorkgroupCycles + together + all.page_cycles + all.block_cycles) * batch();
    return all;
  }

 private:
  static bool walks(const problem::Operand& operand, int loop) {
    return std::ranges::count(operand.loops, loop) > 0;
  }
  bool is_batch(int loop) const {
    return loops_.loops[loop_index(loop)].role == problem::LoopRole::kBatch;
  }

  // The product over the parallel loops that the lane operand has (columns) or has not (rows).
  double product(const std::vector<double>& tiles, bool of_lane) const {
    double all = 1;
    for (const int loop : loops_.parallel)
      if (!is_batch(loop) && walks(*lane_, loop) == of_lane) all *= tiles[loop_index(loop)];
    return all;
  }
  double rows(const std::vector<double>& tiles) const { return product(tiles, false); }
  double columns(const std::vector<double>& tiles) const { return product(tiles, true); }
  double depth_of(const std::vector<double>& tiles) const {
    double all = 1;
    for (const int loop : loops_.reduction) all *= tiles[loop_index(loop)];
    return all;
  }
  double depth() const {
    double all = 1;
    for (const int loop : loops_.reduction)
      all *= static_cast<double>(loops_.loops[loop_index(loop)].size);
    return all;
  }
  // Matrices that a workgroup computes one after the other.
  double batch() const {
    double all = 1;
    for (const int loop : loops_.parallel)
      if (is_batch(loop)) all *= tiles_.workgroup[loop_index(loop)];
    return all;
  }
  static double passes(double all, double tile) { return ceil_div(all, tile); }

  // Whether the lanes' elements lie side by side in the operand; else they are gathered.
  bool lane_contiguous() const { return lane_->loops.back() == loops_.lane; }
  double bytes(const problem::Operand& operand) const {
    return static_cast<double>(byte_size(operand.type.element));
  }
  double row_stride() const {
    return lane_->type.shape.empty()
               ? 0
               : static_cast<double>(lane_->type.shape.back()) * bytes(*lane_);
  }

  double step_cycles(double sums, double row, double loads, double rows) const {
    const double registers = target_.vector_registers;
    const double spilled = std::max(0.0, sums + row + 1 - registers);
    const double unroll = depth_of(tiles_.inner);
    double moved = loads + 2 * spilled;
    if (loops_.input_bytes < loops_.accumulator_bytes)
      // Conversions: of whole vectors, or where few steps are loaded at a time of single elements.
      moved += row + rows * (unroll < 4 ? 4 : 1);
    const double multiplying = std::max(sums / kMultiplyAdds, kLatency);
    double cycles = std::max(multiplying, moved / kLoadsPerCycle) + kTurnCycles / unroll;
    if (sums * unroll > kUnrolled)
      cycles *= 1 + kUnrolledLoss * std::log2(sums * unroll / kUnrolled);
    const double width = std::log2(std::max(1.0, row));
    if (width != std::floor(width)) cycles *= kOddVector;
    // Rows that push each other out of the cache (rows_within_ways: twice as many, half the speed).
    if (kept_rows_) cycles *= std::max(1.0, rows / static_cast<double>(*kept_rows_));
    return cycles;
  }

  // Slowdown from remainders: iterations outside the extents are computed too, or under masks.
  double remainders() const {
    bool remains = false;
    for (std::size_t i = 0; i < loops_.loops.size(); ++i) {
      const double size = static_cast<double>(loops_.loops[i].size);
      const double outer = loops_.loops[i].reduction ? size : tiles_.workgroup[i];
      remains |= std::fmod(size, outer) != 0 || std::fmod(outer, tiles_.block[i]) != 0 ||
                 std::fmod(tiles_.block[i], tiles_.inner[i]) != 0;
    }
    return !remains ? 1 : tiles_.peel ? kPeeled * peeled_rest() : kMasked;
  }

  // Slowdown from the remainder of a row that peeling leaves. A remainder that is a whole vector is
  // a tile like the others. Any other is as slow as a vector of odd length.
  double peeled_rest() const {
    const std::size_t lane = loop_index(loops_.lane);
    const double rest = std::fmod(tiles_.block[lane], tiles_.inner[lane]);
    if (rest <= lanes_ || std::fmod(rest, lanes_) == 0) return 1;
    return 1 + kOddVector * rest / tiles_.block[lane];
  }

  void add_traffic(CpuEstimate& all) const {
    const double m = rows(tiles_.workgroup), n = columns(tiles_.workgroup), k = depth();
    const double block_m = rows(tiles_.block), block_n = columns(tiles_.block);
    const double block_k = depth_of(tiles_.block);
    const double strips = passes(m, rows(tiles_.inner)),
                 row_tiles = passes(n, columns(tiles_.inner));
    const double l1 = static_cast<double>(target_.l1d_bytes);
    const double l2 = static_cast<double>(target_.l2_bytes);
    const double width = block_n * bytes(*lane_);

    // The lane operand: all of a block again for every strip of register tiles.
    const double lane_block = block_k * width, lane_all = k * n * bytes(*lane_);
    const double once = passes(m, block_m);
    const bool in_l1 = lane_block <= kept_bytes(l1, kL1WayBytes, width, row_stride()) / 2;
    const bool in_l2 = lane_block <= kept_bytes(l2, l2 / kL2Ways, width, row_stride());
    all.l2_bytes += lane_all * (in_l1 ? once : strips);
    all.l3_bytes += lane_all * (in_l2 ? once : strips);

    // The other one: a strip for every register tile of a row, unless it stays beside a panel.
    const double other_all = m * k * bytes(*other_);
    const double strip = rows(tiles_.inner) * block_k * bytes(*other_);
    const double panel = columns(tiles_.inner) * block_k * bytes(*lane_);
    const bool strip_stays = strip + panel <= l1;
    all.l2_bytes += other_all * (strip_stays ? passes(n, block_n) : row_tiles);
    const bool other_in_l2 = block_m * k * bytes(*other_) + lane_block <= l2;
    all.l3_bytes += other_all * (other_in_l2 ? 1 : passes(n, block_n));

    // Sums, out and in again for each block of k.
    const double out = block_m * block_n * static_cast<double>(loops_.accumulator_bytes);
    const double sums =
        m * n * static_cast<double>(loops_.accumulator_bytes) * (2 * ceil_div(k, block_k) - 1);
    if (out > l1 / 2) all.l2_bytes += sums;
    if (out + lane_block > l2) all.l3_bytes += sums;
  }

  // Each step of k goes to another row of the lane operand, in a page of its own where rows are
  // that far apart.
  double page_cycles_of_step() const {
    const double share = std::min(1.0, row_stride() / kPageBytes);
    const double pages = depth_of(tiles_.block) * share;
    if (pages <= kFirstTlb) return 0;
    return kNotHidden * share * (pages <= kSecondTlb ? kFirstTlbCycles : kSecondTlbCycles);
  }

  const ContractionLoops& loops_;
  const problem::CpuTarget& target_;
  const CpuTiles& tiles_;
  const problem::Operand* lane_;
  const problem::Operand* other_;
  std::optional<std::int64_t> kept_rows_;  // of the other operand
  double lanes_;
};

}  // namespace

CpuEstimate estimate(const ContractionLoops& loops, const problem::Operation& operation,
                     const problem::CpuTarget& target, const CpuTiles& tiles) {
  return ContractionModel(loops, operation, target, tiles).estimate();
}

std::function<double(const space::Configuration&)> llvm_cpu_prior(
    const problem::Operation& operation, const problem::CpuTarget& target,
    const space::Space& space) {
  auto loops = contraction_loops(operation);
  if (!loops) return {};
  struct Places {
    std::optional<std::size_t> dist, cache, vec, red;
  };
  std::vector<Places> places;
  const auto place = [&](std::string_view level, const ContractionLoop& loop) {
    const auto found = space.knob_index(tile_knob(level, loop.label));
    return found ? std::optional(*found) : std::nullopt;
  };
  for (const ContractionLoop& loop : loops->loops) {
    places.push_back(
        {place("dist", loop), place("cache", loop), place("vec", loop), place("red", loop)});
    if (loop.reduction ? !places.back().red : !places.back().dist) return {};
  }
  const auto peel = space.knob_index("peel");
  const std::optional<std::size_t> peel_place = peel ? std::optional(*peel) : std::nullopt;
  const auto order = space.knob_index(kInterchangeKnob);
  const std::optional<std::size_t> order_place = order ? std::optional(*order) : std::nullopt;

  return [operation, target, loops = std::move(*loops), places, peel_place,
          order_place](const space::Configuration& configuration) {
    CpuTiles tiles;
    const auto value = [&](std::optional<std::size_t> at, double otherwise) {
      return at ? static_cast<double>(configuration.values[*at]) : otherwise;
    };
    for (std::size_t i = 0; i < places.size(); ++i) {
      const ContractionLoop& loop = loops.loops[i];
      const double workgroup = value(places[i].dist, 1);
      const double whole = loop.reduction ? static_cast<double>(loop.size) : workgroup;
      const double cache = value(places[i].cache, 0);
      tiles.workgroup.push_back(workgroup);
      tiles.block.push_back(cache == 0 ? whole : cache);
      tiles.inner.push_back(value(loop.reduction ? places[i].red : places[i].vec, 1));
    }
    tiles.peel = value(peel_place, 0) != 0;
    const double slower = value(order_place, 1) == 0 ? kNoOuterProducts : 1;
    return slower * estimate(loops, operation, target, tiles).cycles;
  };
}

}  // namespace hone::iree
