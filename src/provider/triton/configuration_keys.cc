#include "provider/triton/configuration_keys.h"

#include <array>

#include "provider/triton/gemm_space.h"

namespace hone::triton {
namespace {

struct Key {
  std::string_view key, knob;
  std::int64_t without;  // the value of kernels that have no such knob
};

constexpr std::size_t kRequired = 4;  // the first so many must be in a line
constexpr std::array<Key, 10> kTuneGemms{{{"BLOCK_SIZE_M", "BLOCK_M", 0},
                                          {"BLOCK_SIZE_N", "BLOCK_N", 0},
                                          {"BLOCK_SIZE_K", "BLOCK_K", 0},
                                          {"num_warps", "num_warps", 4},
                                          {"GROUP_SIZE_M", "GROUP_M", 1},
                                          {"SPLIT_K", "SPLIT_K", 1},
                                          {"num_stages", "num_stages", 2},
                                          {"waves_per_eu", "waves_per_eu", 0},
                                          {"matrix_instr_nonkdim", "matrix_instr_nonkdim", 0},
                                          {"kpack", "kpack", 1}}};
// The first one's value without it depends on the others.
constexpr std::array<Key, 6> kHones{{{"STRUCTURE", "STRUCTURE", kBlocked},
                                     {"PER_UNIT", "PER_UNIT", 1},
                                     {"SPLIT_STORE", "SPLIT_STORE", 0},
                                     {"MORE_N", "MORE_N", 0},
                                     {"SWAP", "SWAP", 0},
                                     {"FIXED", "FIXED", 1}}};
constexpr std::array<std::string_view, 16> kInOrder{
    "BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K",
    "GROUP_SIZE_M", "SPLIT_K",      "num_warps",
    "num_stages",   "waves_per_eu", "matrix_instr_nonkdim",
    "kpack",        "STRUCTURE",    "PER_UNIT",
    "SPLIT_STORE",  "MORE_N",       "SWAP",
    "FIXED"};

std::int64_t structure_of(const Gemm& gemm, std::int64_t split_k) {
  if (split_k <= 1) return kBlocked;
  return gemm.c == accumulator(gemm) ? kSplitKAtomic : kSplitKTwoPasses;
}

std::int64_t value_of(const std::map<std::string, std::int64_t>& values, std::string_view name,
                      std::int64_t otherwise) {
  const auto found = values.find(std::string(name));
  return found == values.end() ? otherwise : found->second;
}

}  // namespace

std::span<const std::string_view> configuration_keys() {
  return kInOrder;
}

std::map<std::string, std::int64_t> keyed(const Gemm& gemm,
                                          const std::map<std::string, std::int64_t>& knobs) {
  std::map<std::string, std::int64_t> line;
  if (!knobs.contains("STRUCTURE")) return knobs;
  for (const Key& key : kTuneGemms)
    line[std::string(key.key)] = value_of(knobs, key.knob, key.without);
  for (const Key& key : kHones) {
    // What searching compiles takes GROUP_M and SPLIT_K as arguments and says nothing of it.
    const std::int64_t value = value_of(knobs, key.knob, 0);
    const std::int64_t meant =
        key.key == "STRUCTURE" ? structure_of(gemm, line.at("SPLIT_K")) : key.without;
    if (value != meant && (knobs.contains(std::string(key.knob)) || key.key == "FIXED"))
      line[std::string(key.key)] = value;
  }
  return line;
}

Result<std::map<std::string, std::int64_t>> knobs_of(
    const Gemm& gemm, const std::map<std::string, std::int64_t>& configuration) {
  std::map<std::string, std::int64_t> knobs;
  for (std::size_t i = 0; i < kTuneGemms.size(); ++i) {
    const Key& key = kTuneGemms[i];
    if (i < kRequired && !configuration.contains(std::string(key.key)))
      return input_error("{} is missing", key.key);
    knobs[std::string(key.knob)] = value_of(configuration, key.key, key.without);
  }
  for (const Key& key : kHones)
    knobs[std::string(key.knob)] = value_of(configuration, key.key, key.without);
  if (!configuration.contains("STRUCTURE"))
    knobs["STRUCTURE"] = structure_of(gemm, knobs.at("SPLIT_K"));
  return knobs;
}

}  // namespace hone::triton
