#include "provider/triton/configuration_keys.h"

#include <array>
#include <span>

#include "provider/triton/gemm_space.h"

namespace hone::triton {
namespace {

struct Key {
  std::string_view key, knob;
  std::int64_t without;  // the value of kernels that have no such knob
  bool required = false;
};

// tune_gemm's and then hone's, in the order of a line.
constexpr std::array kKeys{Key{"BLOCK_SIZE_M", "BLOCK_M", 0, true},
                           Key{"BLOCK_SIZE_N", "BLOCK_N", 0, true},
                           Key{"BLOCK_SIZE_K", "BLOCK_K", 0, true},
                           Key{"GROUP_SIZE_M", "GROUP_M", 1},
                           Key{"SPLIT_K", "SPLIT_K", 1},
                           Key{"num_warps", "num_warps", 4, true},
                           Key{"num_stages", "num_stages", 2},
                           Key{"waves_per_eu", "waves_per_eu", 0},
                           Key{"matrix_instr_nonkdim", "matrix_instr_nonkdim", 0},
                           Key{"kpack", "kpack", 1},
                           Key{"STRUCTURE", "STRUCTURE", kBlocked},
                           Key{"PER_UNIT", "PER_UNIT", 1},
                           Key{"SPLIT_STORE", "SPLIT_STORE", 0},
                           Key{"MORE_N", "MORE_N", 0},
                           Key{"SWAP", "SWAP", 0},
                           Key{"FIXED", "FIXED", 1}};
constexpr std::size_t kTuneGemms = 10;  // the first so many

std::int64_t value_of(const std::map<std::string, std::int64_t>& values, std::string_view name,
                      std::int64_t otherwise) {
  const auto found = values.find(std::string(name));
  return found == values.end() ? otherwise : found->second;
}

}  // namespace

std::vector<std::string> configuration_keys() {
  std::vector<std::string> keys;
  for (const Key& key : kKeys) keys.emplace_back(key.key);
  return keys;
}

std::map<std::string, std::int64_t> keyed(const Gemm& gemm,
                                          const std::map<std::string, std::int64_t>& knobs) {
  std::map<std::string, std::int64_t> line;
  if (!knobs.contains("STRUCTURE")) return knobs;
  for (const Key& key : std::span(kKeys).first(kTuneGemms))
    line[std::string(key.key)] = value_of(knobs, key.knob, key.without);
  for (const Key& key : std::span(kKeys).subspan(kTuneGemms)) {
    // A kernel compiled for a search takes GROUP_M and SPLIT_K as arguments, and its knobs lack
    // FIXED: the value is then 0.
    const std::int64_t value = value_of(knobs, key.knob, 0);
    const std::int64_t meant =
        key.key == "STRUCTURE" ? plain_structure(gemm, line.at("SPLIT_K")) : key.without;
    if (value != meant && (knobs.contains(std::string(key.knob)) || key.key == "FIXED"))
      line[std::string(key.key)] = value;
  }
  return line;
}

Result<std::map<std::string, std::int64_t>> knobs_of(
    const Gemm& gemm, const std::map<std::string, std::int64_t>& configuration) {
  std::map<std::string, std::int64_t> knobs;
  for (const Key& key : kKeys) {
    if (key.required && !configuration.contains(std::string(key.key)))
      return input_error("{} is missing", key.key);
    knobs[std::string(key.knob)] = value_of(configuration, key.key, key.without);
  }
  if (!configuration.contains("STRUCTURE"))
    knobs["STRUCTURE"] = plain_structure(gemm, knobs.at("SPLIT_K"));
  return knobs;
}

}  // namespace hone::triton
