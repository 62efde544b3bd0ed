#include <algorithm>
#include <cmath>

#include "provider/triton/attention_space.h"
#include "provider/triton/gemm_model.h"
#include "provider/triton/precision.h"

namespace hone::triton {
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
