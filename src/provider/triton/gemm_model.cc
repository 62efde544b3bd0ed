#include "provider/triton/gemm_model.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "provider/triton/gemm_space.h"

namespace hone::triton {
namespace {

// Latencies, in seconds.
constexpr double kLatency = 500e-9;  // of memory under load, to a unit
constexpr double kStep = 20e-9;      // barriers and the loop itself
constexpr double kLaunch = 2e-6;     // of a kernel behind another

// Share of their peak that matrix units sustain over a GEMM. cuBLAS reaches at most 760 of 989
// TFLOP/s on an H200.
constexpr double kSustained = 0.77;

// Hopper's older, warp-wide instructions give at most 62 % of its peak (Luo et al. 2024).
constexpr double kWarpWide = 0.62;

// Seen on an H200: what loops that compute addresses and copy through registers or cp.async reach
// of those with tensor descriptors (506 of 684 and 552 of 690 TFLOP/s).
constexpr double kAddressed = 0.77;

// Kernels of dispatches, as they fit 9,400 measurements of 107 dispatches on H200s. Their programs
// make the tensor descriptors that they load by, and those of a second block too. A second block
// slows products of matrices down. What the parts of a split tile add up goes through L2 at a share
// of the rate of operands. A first operand that comes in pieces of fewer than 16 bytes, or by
// single elements, slows a step down.
constexpr double kDescribe = 1.7e-6, kDescribeTwo = 3e-6;  // seconds
constexpr double kTwoBlocks = 0.67, kSums = 1.0 / 7;       // shares of a rate
constexpr double kByPieces = 3, kByElements = 2;           // times the seconds
constexpr double kApart =
    0.1;  // share of the shorter of computing and memory that does not overlap
constexpr std::int64_t kWarpgroup = 4;

double ceil_div(double a, double b) {
  return std::ceil(a / b);
}

class GemmModel {
 public:
  GemmModel(const Gemm& given, const GemmDevice& device, const GemmChoice& choice,
            const StatedProduct* stated)
      : gemm_(given), device_(device), choice_(choice), stated_(stated) {
    if (stated != nullptr && stated->first_elements != 0)
      a_distinct_ = static_cast<double>(stated->first_elements) /
                    static_cast<double>(given.m * given.k * given.batch);
    if (choice.swap != 0) {
      std::swap(gemm_.m, gemm_.n);
      std::swap(gemm_.a, gemm_.b);
      std::swap(a_distinct_, b_distinct_);
    }
    const Gemm& gemm = gemm_;
    a_bytes_ = static_cast<double>(problem::byte_size(gemm.a));
    b_bytes_ = static_cast<double>(problem::byte_size(gemm.b));
    c_bytes_ = static_cast<double>(problem::byte_size(gemm.c));
    m_ = static_cast<double>(choice.block_m);
    n_ = static_cast<double>(choice.block_n + choice.more_n);
    k_ = static_cast<double>(choice.block_k);
    units_ = device.units;
    tiles_m_ = ceil_div(static_cast<double>(gemm.m), m_);
    tiles_n_ = ceil_div(static_cast<double>(gemm.n), n_);
    tiles_ = tiles_m_ * tiles_n_ * static_cast<double>(gemm.batch);
    steps_ = ceil_div(static_cast<double>(gemm.k), k_);
  }

  GemmEstimate estimate() const {
    GemmEstimate all;
    const double split = static_cast<double>(choice_.split_k);
    const double steps = streams() ? tiles_ * steps_ / stream_programs() : ceil_div(steps_, split);
    const double programs = streams() ? stream_programs() : tiles_ * split;
    const double rounds = ceil_div(programs, units_);  // programs of the busiest unit
    const double resident = std::min<double>(most_resident(), rounds);
    all.resident = static_cast<int>(resident);
    all.step = step_seconds(resident);
    const double batches = ceil_div(rounds, resident);
    // Persistent kernels load the next tile's first steps while they end this one.
    const bool hidden = choice_.structure == kPersistent || choice_.structure == kWarpSpecialised;
    const double loads = hidden ? 1 : batches;
    // Products of other resident programs overlap with a program's epilogue.
    const double behind = rounds / split * behind_seconds() / resident;
    all.compute = rounds * steps * all.step + loads * (kLatency + describe_seconds()) +
                  batches * store_seconds() + behind;
    all.memory = memory_seconds(units_ * resident);
    all.extra = extra_seconds();
    all.seconds = kLaunch + std::max(all.compute, all.memory) +
                  kApart * std::min(all.compute, all.memory) + all.extra;
    return all;
  }

 private:
  bool splits() const { return choice_.split_k > 1; }
  bool streams() const { return choice_.structure == kStreamK || choice_.structure == kStreamKTma; }
  double stream_programs() const {
    return std::min(units_ * static_cast<double>(choice_.per_unit), tiles_ * steps_);
  }
  bool warpgroups() const {
    return (has_warpgroup_instructions(gemm_, device_) ||
            (takes_apart() && device_.capability() >= 90)) &&
           choice_.block_m >= 64 && choice_.warps % kWarpgroup == 0;
  }
  bool takes_apart() const { return choice_.precision != kIeee; }
  bool on_units() const { return on_matrix_units(gemm_, device_) || takes_apart(); }

  double peak() const {
    switch (gemm_.a) {
      case problem::ElementType::kF32:
        return gemm_.tf32 ? device_.tf32_tflops : f32_tflops(device_, choice_.precision);
      case problem::ElementType::kF8E4M3:
      case problem::ElementType::kF8E5M2:
        return device_.f8_tflops;
      case problem::ElementType::kI8:
        return device_.i8_tflops;
      default:
        return device_.f16_tflops;
    }
  }

  // Seconds until a program has made its tensor descriptors. A GEMM's are made by the host.
  double describe_seconds() const {
    if (stated_ == nullptr || choice_.structure < kPersistent) return 0;
    return choice_.more_n > 0 ? kDescribeTwo : kDescribe;
  }

  // Share of the rate of products that their operands leave. Matrices of dispatches come as fast by
  // addresses as by descriptors, and a second block slows them down; images do neither.
  double fed() const {
    if (stated_ == nullptr || !stated_->image.empty())
      return choice_.structure < kPersistent ? kAddressed : 1;
    return choice_.more_n > 0 ? kTwoBlocks : 1;
  }

  // Times the seconds of a step for how its first operand lies in memory.
  double scattered() const {
    if (stated_ == nullptr || choice_.structure >= kPersistent) return 1;
    if (stated_->first_at_once == 1) return kByElements;
    return stated_->first_at_once * problem::byte_size(stated_->gemm.a) < kDescriptorBytes
               ? kByPieces
               : 1;
  }

  // Share of L2's rate at which sums of the parts of a tile go to memory and come back.
  double sums_rate() const { return stated_ == nullptr ? 1 : kSums; }

  // Number of programs that fit on a unit, by shared memory, registers and threads.
  double most_resident() const {
    const double threads = static_cast<double>(choice_.warps * device_.warp);
    const double of_thread = std::min<double>(device_.thread_registers, m_ * n_ / threads + 64);
    const double buffers =
        std::max(1.0, static_cast<double>(choice_.stages) - (warpgroups() ? 0 : 1));
    const double shared = (m_ * a_bytes_ + n_ * b_bytes_) * k_ * buffers + 1024;
    const double room = std::min(
        {static_cast<double>(device_.unit_shared_bytes) / shared,
         static_cast<double>(device_.unit_registers) / (of_thread * threads), 2048 / threads});
    const bool many = choice_.structure < kStreamK || choice_.structure == kTilesTma ||
                      choice_.structure == kWideTma;
    const double most = many ? 32 : static_cast<double>(choice_.per_unit);
    return std::clamp(std::floor(room), 1.0, most);
  }

  double step_seconds(double resident) const {
    const double rate =
        peak() * 1e12 / units_ * kSustained *
        (device_.capability() == 90 && !warpgroups() && on_units() ? kWarpWide : 1) *
        (device_.capability() >= 90 ? fed() : 1);
    const double loaded = (m_ * a_bytes_ + n_ * b_bytes_) * k_;
    const double shared =
        (shared_reads() + loaded) / (device_.shared_gbytes_per_second * 1e9 / units_);
    const double l2 = loaded / (device_.l2_gbytes_per_second * 1e9 / units_);
    // The products wait until their operands are taken apart.
    const double apart =
        takes_apart() ? (m_ + n_) * k_ * kTakingApart / (device_.f32_tflops * 1e12 / 2 / units_)
                      : 0;
    const double busy =
        scattered() * std::max({2 * m_ * n_ * k_ / rate + apart, shared, l2}) + kStep / resident;
    if (choice_.stages < 2) return busy + kLatency / resident;
    // Latency varies: a pipeline that is just long enough still waits now and then.
    return std::hypot(busy, kLatency / (static_cast<double>(choice_.stages - 1) * resident));
  }

  // Bytes that the matrix instructions of a step read from shared memory: each warp, or on Hopper
  // each instruction of 64 rows of a warpgroup, reads its own rows of A and its own columns of B.
  double shared_reads() const {
    double rows = 64, columns = n_;
    if (warpgroups()) {
      const double groups = static_cast<double>(choice_.warps / kWarpgroup);
      columns = n_ * std::min(1.0, m_ / 64 / groups);
    } else {
      const double warps = static_cast<double>(choice_.warps);
      const double down = std::min(m_ / 16, std::exp2(std::ceil(std::log2(warps) / 2)));
      rows = m_ / down;
      columns = std::max(16.0, n_ * down / warps);
    }
    const double tiles = m_ * n_ / (rows * columns);
    return tiles * (rows * a_bytes_ + columns * b_bytes_) * k_;
  }

  // Seconds of writing a tile, or the sums of a part.
  double store_seconds() const {
    const double of_unit = device_.l2_gbytes_per_second * 1e9 / units_;
    const double bytes = m_ * n_ * (splits() ? 4 / sums_rate() : c_bytes_);
    // An atomic addition reads and writes.
    return 300e-9 + bytes * (choice_.structure == kSplitKAtomic ? 2 : 1) / of_unit;
  }

  // Seconds of a tile's epilogue, made of plain instructions. A unit's peak counts each instruction
  // as two operations.
  double behind_seconds() const {
    const double behind = stated_ == nullptr ? 0 : static_cast<double>(stated_->behind);
    return m_ * n_ * behind / (device_.f32_tflops * 1e12 / 2 / units_);
  }

  double memory_seconds(double in_flight) const {
    const double k = static_cast<double>(gemm_.k), batch = static_cast<double>(gemm_.batch);
    const double a_bytes = a_bytes_ * a_distinct_, b_bytes = b_bytes_ * b_distinct_;
    const double a = static_cast<double>(gemm_.m) * k * a_bytes * batch;
    const double b = static_cast<double>(gemm_.n) * k * b_bytes * batch;
    const double c = static_cast<double>(gemm_.m * gemm_.n) * c_bytes_ * batch;
    const double flying = std::min(in_flight, tiles_);
    const double rows = std::min<double>(static_cast<double>(choice_.group_m), tiles_m_);
    const double columns = std::min(std::ceil(flying / rows), tiles_n_);
    const double again = std::max(rows, flying / columns);
    const double waves = tiles_ / flying;
    const double all = std::max(a + b, waves * (again * m_ * a_bytes + columns * n_ * b_bytes) * k);
    // C and other tiles take the rest of L2. Operands that fit are mostly found there again.
    const double missed = a + b > 0.5 * static_cast<double>(device_.l2_bytes) ? 1 : 0.1;
    const double read = a + b + missed * (all - a - b);
    return (read + c) / (device_.memory_gbytes_per_second * 1e9);
  }

  double extra_seconds() const {
    const double of_all = device_.l2_gbytes_per_second * 1e9;
    const double sums = tiles_ * m_ * n_ * 4;
    switch (choice_.structure) {
      case kSplitKAtomic:  // C is zeroed before
        return kLaunch + sums / of_all;
      case kSplitKTwoPasses:  // a second kernel reads all parts
        return kLaunch + kLatency +
               (static_cast<double>(choice_.split_k) * sums + tiles_ * m_ * n_ * c_bytes_) / of_all;
      case kBlocked:
      case kTilesTma:  // the last of a tile's programs reads the others' parts
        if (!splits()) return 0;
        return kLatency + static_cast<double>(choice_.split_k) * sums / (of_all * sums_rate());
      case kStreamK:
      case kStreamKTma: {
        // A program stores its sums and reads another's, unless parts end where tiles do.
        const double part = tiles_ * steps_ / stream_programs();
        if (std::fmod(part, steps_) == 0) return 0;
        return kLatency + 3 * m_ * n_ * 4 / (of_all / units_);
      }
      default:
        return 0;
    }
  }

  Gemm gemm_;  // what is computed: with SWAP transposed
  const GemmDevice& device_;
  const GemmChoice& choice_;
  const StatedProduct* stated_;
  // Share of an operand's elements that are distinct; the others overlap with neighbours'.
  double a_distinct_ = 1, b_distinct_ = 1;
  double a_bytes_, b_bytes_, c_bytes_;
  double m_, n_, k_;  // of a tile
  double units_, tiles_m_, tiles_n_, tiles_, steps_;
};

}  // namespace

GemmEstimate estimate(const Gemm& gemm, const GemmDevice& device, const GemmChoice& choice,
                      const StatedProduct* stated) {
  return GemmModel(gemm, device, choice, stated).estimate();
}

std::function<GemmChoice(const space::Configuration&)> gemm_choices(const Gemm& gemm,
                                                                    const space::Space& space) {
  using Member = std::int64_t GemmChoice::*;
  constexpr std::array<std::pair<std::string_view, Member>, 12> kMembers{{
      {"STRUCTURE", &GemmChoice::structure},
      {"BLOCK_M", &GemmChoice::block_m},
      {"BLOCK_N", &GemmChoice::block_n},
      {"BLOCK_K", &GemmChoice::block_k},
      {"GROUP_M", &GemmChoice::group_m},
      {"SPLIT_K", &GemmChoice::split_k},
      {"PER_UNIT", &GemmChoice::per_unit},
      {"MORE_N", &GemmChoice::more_n},
      {"SWAP", &GemmChoice::swap},
      {"PRECISION", &GemmChoice::precision},
      {"num_warps", &GemmChoice::warps},
      {"num_stages", &GemmChoice::stages},
  }};
  std::vector<std::pair<std::size_t, Member>> members;
  for (const auto& [name, member] : kMembers)
    if (const auto index = space.knob_index(name)) members.emplace_back(*index, member);
  const bool structured = space.knob_index("STRUCTURE").has_value();
  return [=](const space::Configuration& configuration) {
    GemmChoice choice;
    for (const auto& [index, member] : members) choice.*member = configuration.values[index];
    if (!structured) choice.structure = plain_structure(gemm, choice.split_k);
    return choice;
  };
}

std::function<double(const space::Configuration&)> gemm_prior(const Gemm& gemm,
                                                              const GemmDevice& device,
                                                              const space::Space& space) {
  return [=, choice_of = gemm_choices(gemm, space)](const space::Configuration& configuration) {
    return estimate(gemm, device, choice_of(configuration)).seconds;
  };
}

namespace {

// Plain instructions that take as long as one score. Its exponential is one of 16 that a unit does
// in a clock, beside 128 plain instructions (CUDA C++ Programming Guide, throughput of
// instructions). It is also scaled, compared, added up and rounded.
constexpr double kScoreInstructions = 12;
constexpr double kOtherRegisters = 64;  // addresses and the operands of an instruction
constexpr double kThreadsOfUnit = 2048;

struct AttentionChoice {
  double block_m = 0, block_n = 0, split_k = 1, precision = 0, warps = 0, stages = 0;
};

double estimate(const AttentionShape& shape, const GemmDevice& device,
                const AttentionChoice& choice) {
  const auto depth = static_cast<double>(padded_head(shape.depth));
  const auto width = static_cast<double>(padded_head(shape.width));
  const double threads = choice.warps * device.warp, units = device.units;
  const bool f32 = shape.element_bytes == 4;
  const auto precision = static_cast<space::Value>(choice.precision);
  const bool plain = f32 && precision == kIeee;
  const bool hopper = device.capability() == 90 && !plain;
  const bool warpgroups = hopper && choice.block_m >= 64 && std::fmod(choice.warps, 4) == 0;
  const double steps =
      std::ceil(std::ceil(static_cast<double>(shape.keys) / choice.block_n) / choice.split_k);
  const double blocks = std::ceil(static_cast<double>(shape.queries) / choice.block_m) *
                        static_cast<double>(shape.batch);
  const double programs = blocks * choice.split_k;
  const double rounds = std::ceil(programs / units);  // programs of the busiest unit

  const auto bytes = static_cast<double>(shape.element_bytes);
  const double loaded = choice.block_n * (depth + width) * bytes;  // of a step
  const double shared =
      choice.block_m * depth * bytes + loaded * std::max(1.0, choice.stages - (warpgroups ? 0 : 1));
  const double registers =
      std::min<double>(device.thread_registers,
                       choice.block_m * (choice.block_n + width) / threads + kOtherRegisters);
  const double room = std::min({static_cast<double>(device.unit_shared_bytes) / (shared + 1024),
                                static_cast<double>(device.unit_registers) / (registers * threads),
                                kThreadsOfUnit / threads, rounds});
  const double resident = std::max(1.0, std::floor(room));

  const double scores = choice.block_m * choice.block_n;
  const double peak = f32 ? f32_tflops(device, precision) : device.f16_tflops;
  const double products =
      2 * scores * (depth + width) /
      (peak * 1e12 / units * kSustained * (hopper && !warpgroups ? kWarpWide : 1));
  // Numbers that are taken apart: weights, keys and values.
  const double in_parts = f32 && !plain ? scores + choice.block_n * (depth + width) : 0;
  const double weights = (scores * kScoreInstructions + in_parts * kTakingApart) /
                         (device.f32_tflops * 1e12 / 2 / units);
  // Groups of four warps wait for each other little.
  const double apart = std::max(1.0, resident * choice.warps / 4);
  const double loads = loaded / (device.l2_gbytes_per_second * 1e9 / units);
  // Without matrix units the same instructions do both.
  const double hidden = plain ? 1 : apart;
  const double busy =
      std::max(std::max(products, weights) + std::min(products, weights) / hidden, loads) +
      kStep / resident;
  const double step = choice.stages < 2 || steps < 2
                          ? busy + kLatency / resident
                          : std::hypot(busy, kLatency / ((choice.stages - 1) * resident));
  // Each part writes its partial results, and the last program of a block reads them.
  const double found = programs * choice.block_m * (width + 2) * 4;
  const double meeting =
      choice.split_k > 1 ? kLatency + 2 * found / (device.l2_gbytes_per_second * 1e9) : 0;
  return kLaunch + rounds * steps * step + std::ceil(rounds / resident) * 2 * kLatency + meeting;
}

}  // namespace

std::function<double(const space::Configuration&)> attention_prior(const AttentionShape& shape,
                                                                   const GemmDevice& device,
                                                                   const space::Space& space) {
  std::vector<std::pair<std::size_t, double AttentionChoice::*>> members;
  for (const auto& [name, member] : {std::pair("BLOCK_M", &AttentionChoice::block_m),
                                     {"BLOCK_N", &AttentionChoice::block_n},
                                     {"SPLIT_K", &AttentionChoice::split_k},
                                     {"PRECISION", &AttentionChoice::precision},
                                     {"num_warps", &AttentionChoice::warps},
                                     {"num_stages", &AttentionChoice::stages}})
    if (const auto index = space.knob_index(name)) members.emplace_back(*index, member);
  return [=](const space::Configuration& configuration) {
    AttentionChoice choice;
    for (const auto& [index, member] : members)
      choice.*member = static_cast<double>(configuration.values[index]);
    return estimate(shape, device, choice);
  };
}

}  // namespace hone::triton
