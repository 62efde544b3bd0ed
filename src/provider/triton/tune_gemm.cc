#include "provider/triton/tune_gemm.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/text.h"
#include "provider/triton/gemm_space.h"
#include "provider/yaml_place.h"

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

namespace {

using provider::YamlPlace;

constexpr std::array<std::string_view, 11> kProblemKeys{
    "M",       "N",       "K",    "rowMajorA", "rowMajorB", "dtype_a",
    "dtype_b", "dtype_c", "bias", "batch",     "tf32"};

Result<std::int64_t> number(std::string_view path, std::string_view key, const YAML::Node& value,
                            std::int64_t least) {
  std::int64_t number = 0;
  if (!value.IsScalar() || !YAML::convert<std::int64_t>::decode(value, number) || number < least)
    return YamlPlace(path, value)
        .error("{} is '{}'; it must be a whole number of at least {}", key,
               value.IsScalar() ? value.Scalar() : "a list or a mapping", least);
  return number;
}

Result<bool> is_row_major(std::string_view path, std::string_view key, const YAML::Node& value) {
  const std::string text = value.IsScalar() ? value.Scalar() : "";
  if (text == "T") return true;
  if (text == "N") return false;
  return YamlPlace(path, value).error("{} is '{}'; it must be T (row major) or N", key, text);
}

Result<problem::ElementType> element(std::string_view path, std::string_view key,
                                     const YAML::Node& value) {
  const std::string text = value.IsScalar() ? value.Scalar() : "";
  if (const auto type = type_from_tune_gemm(text)) return *type;
  return YamlPlace(path, value)
      .error("{} is '{}'; it must be one of {}", key, text, tune_gemm_type_names());
}

Status read_field(std::string_view path, const std::string& key, const YAML::Node& value,
                  const std::vector<std::string>& knobs, GemmEntry& entry) {
  Gemm& gemm = entry.gemm;
  for (const auto& [name, size] :
       {std::pair("M", &gemm.m), {"N", &gemm.n}, {"K", &gemm.k}, {"batch", &gemm.batch}})
    if (key == name) return number(path, key, value, 1).map([&](auto n) { *size = n; });
  for (const auto& [name, rows] :
       {std::pair("rowMajorA", &gemm.a_rows), {"rowMajorB", &gemm.b_rows}})
    if (key == name) return is_row_major(path, key, value).map([&](bool b) { *rows = b; });
  for (const auto& [name, type] :
       {std::pair("dtype_a", &gemm.a), {"dtype_b", &gemm.b}, {"dtype_c", &gemm.c}})
    if (key == name) return element(path, key, value).map([&](auto read) { *type = read; });
  if (key == "bias") return element(path, key, value).map([&](auto type) { gemm.bias = type; });
  if (key == "tf32") return number(path, key, value, 0).map([&](auto n) { gemm.tf32 = n != 0; });
  const auto keys = configuration_keys();
  if (std::ranges::find(keys, key) != keys.end() || std::ranges::find(knobs, key) != knobs.end())
    return number(path, key, value, 0).map([&](auto n) { entry.configuration[key] = n; });
  std::vector<std::string> known(kProblemKeys.begin(), kProblemKeys.end());
  known.insert(known.end(), keys.begin(), keys.end());
  known.insert(known.end(), knobs.begin(), knobs.end());
  return YamlPlace(path, value).error("'{}' is no key of a GEMM{}", key, did_you_mean(key, known));
}

Result<GemmEntry> read_entry(std::string_view path, const YAML::Node& node, const Gemm& defaults,
                             const std::vector<std::string>& knobs) {
  const YamlPlace place(path, node);
  if (!node.IsMap())
    return place.error(
        "an entry must be a mapping: {{'M': 4864, 'N': 4096, 'K': 8256, "
        "'rowMajorA': 'T', 'rowMajorB': 'N'}}");
  GemmEntry entry{defaults, {}, node.Mark().line + 1};
  for (const std::string_view size : {"M", "N", "K"})
    if (!node[std::string(size)]) return place.error("{} is missing", size);
  for (const auto& field : node)
    HONE_TRY(read_field(path, field.first.as<std::string>(""), field.second, knobs, entry));
  const Status legal = check(entry.gemm);
  if (!legal) return place.error("{}", legal.error().message);
  return entry;
}

// Keys for properties that tune_gemm's files leave to its command line, if they differ from its
// defaults.
std::string problem_keys(const Gemm& gemm) {
  std::string keys;
  using problem::ElementType;
  if (gemm.a != ElementType::kF16 || gemm.b != ElementType::kF16 || gemm.c != ElementType::kF16)
    keys += fmt::format(", dtype_a: {}, dtype_b: {}, dtype_c: {}", tune_gemm_name_of(gemm.a),
                        tune_gemm_name_of(gemm.b), tune_gemm_name_of(gemm.c));
  if (gemm.bias) keys += fmt::format(", bias: {}", tune_gemm_name_of(*gemm.bias));
  if (gemm.batch != 1) keys += fmt::format(", batch: {}", gemm.batch);
  if (gemm.tf32) keys += ", tf32: 1";
  return keys;
}

}  // namespace

Result<std::vector<GemmEntry>> read_gemms(std::string_view path, const std::string& text,
                                          const Gemm& defaults,
                                          const std::vector<std::string>& knobs) {
  YAML::Node document;
  try {
    document = YAML::Load(text);
  } catch (const YAML::Exception& error) {
    return input_error("{}:{}: {}", path, error.mark.line + 1, error.msg);
  }
  if (!document.IsSequence() || document.size() == 0)
    return input_error(
        "{}: no list of GEMM sizes; an entry is a line like\n"
        "  - {{'M': 4864, 'N': 4096, 'K': 8256, 'rowMajorA': 'T', 'rowMajorB': 'N'}}",
        path);
  std::vector<GemmEntry> entries;
  for (const YAML::Node& node : document) {
    HONE_ASSIGN(GemmEntry entry, read_entry(path, node, defaults, knobs));
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string result_line(const GemmEntry& entry, double seconds) {
  const Gemm& gemm = entry.gemm;
  std::string line =
      fmt::format("- {{'M': {}, 'N': {}, 'K': {}, 'rowMajorA': '{}', 'rowMajorB': '{}'", gemm.m,
                  gemm.n, gemm.k, gemm.a_rows ? 'T' : 'N', gemm.b_rows ? 'T' : 'N');
  line += problem_keys(gemm);
  const auto keys = configuration_keys();
  for (const std::string& key : keys)
    if (const auto found = entry.configuration.find(key); found != entry.configuration.end())
      line += fmt::format(", {}: {}", key, found->second);
  for (const auto& [key, value] : entry.configuration)
    if (std::ranges::find(keys, key) == keys.end()) line += fmt::format(", {}: {}", key, value);
  line += '}';
  if (!std::isnan(seconds)) {
    const double flops = 2.0 * static_cast<double>(gemm.batch) * static_cast<double>(gemm.m) *
                         static_cast<double>(gemm.n) * static_cast<double>(gemm.k);
    line +=
        fmt::format(" # TFLOPS: {:.2f} time(us): {:.2f}", flops / seconds * 1e-12, seconds * 1e6);
  }
  return line + '\n';
}

namespace {

using space::Expression;
using space::Value;

struct Knobs {
  Expression block_m, block_n, block_k, split_k, warps, group_m, stages;
};

Knobs add_knobs(space::SpaceBuilder& builder, const std::vector<Value>& blocks,
                const std::vector<Value>& groups) {
  return {builder.knob("BLOCK_M", "rows of a tile", blocks),
          builder.knob("BLOCK_N", "columns of a tile", blocks),
          builder.knob("BLOCK_K", "depth of a step", blocks),
          builder.knob("SPLIT_K", "programs that share one tile's depth",
                       {1, 2, 4, 5, 6, 8, 10, 12, 16, 18, 24}),
          builder.knob("num_warps", "wavefronts of a program", {1, 2, 4, 8}),
          builder.knob("GROUP_M", "rows of tiles that are walked together", groups),
          builder.knob("num_stages", "stages of the pipeline", {2})};
}

// Adds the rules that both versions share.
void add_common_rules(space::SpaceBuilder& builder, const Gemm& gemm, const Knobs& knobs) {
  const bool needs_split = (gemm.m < 64 || gemm.n < 64) && gemm.k > 1024;
  builder.prefer("split_k",
                 "splitting pays for thin and deep problems only (M or N < 64, K > 1024)",
                 needs_split || knobs.split_k == 1);
  builder.prefer("group_m",
                 "a group of tiles is no taller than the matrix (GROUP_M * BLOCK_M = {})",
                 knobs.group_m * knobs.block_m <= gemm.m || knobs.group_m == 1,
                 {knobs.group_m * knobs.block_m});
  if (gemm.batch != 1)
    builder.require("batch", "the split-K kernels are not for a batch", knobs.split_k == 1);
}

// Rows and columns of the largest instruction that the problem fills.
Value mfma_of(const Gemm& gemm) {
  return gemm.m < 32 || gemm.n < 32 ? 16 : 32;
}

void add_small_rules(space::SpaceBuilder& builder, const Gemm& gemm, const Knobs& knobs,
                     const Expression& edge) {
  builder.require("small_m", "a matrix with no more rows than one instruction takes tiles of one",
                  edge < gemm.m || knobs.block_m == edge);
  builder.require("small_n",
                  "a matrix with no more columns than one instruction takes tiles of one",
                  edge < gemm.n || knobs.block_n == edge);
}

void add_large_rules(space::SpaceBuilder& builder, const Gemm& gemm, const Knobs& knobs) {
  if (gemm.m < 2048 || gemm.n < 2048) return;
  builder.prefer("large_tiles", "large problems want blocks of at least 64",
                 knobs.block_m >= 64 && knobs.block_n >= 64 && knobs.block_k >= 64);
  builder.prefer("large_warps", "large problems want at least four wavefronts", knobs.warps >= 4);
  builder.prefer(
      "large_whole_tiles", "large problems want whole tiles",
      euclidean_mod(gemm.m, knobs.block_m) == 0 && euclidean_mod(gemm.n, knobs.block_n) == 0);
}

}  // namespace

space::SpaceBuilder tune_gemm_space_builder(const Gemm& gemm, const TuneGemmLimits& limits) {
  space::SpaceBuilder builder;
  const Knobs knobs = add_knobs(builder, {16, 32, 64, 128, 256}, {1, 2, 4, 8, 16, 32});
  const auto& [block_m, block_n, block_k, split_k, warps, group_m, stages] = knobs;
  builder.knob("waves_per_eu", "wavefronts per SIMD asked for; 0: the compiler chooses", {0});
  const Expression nonkdim =
      builder.knob("matrix_instr_nonkdim", "rows and columns of the MFMA instruction", {16, 32});
  builder.knob("kpack", "MFMA depths loaded at once", {1, 2});

  builder.require("mfma", "the instruction is no larger than the matrix ({} rows)",
                  nonkdim <= mfma_of(gemm), {nonkdim});
  builder.require("tile_fills_instruction", "a tile holds whole instructions",
                  block_m * block_n >= 64 && block_m >= nonkdim && block_n >= nonkdim);
  add_small_rules(builder, gemm, knobs, nonkdim);
  builder.prefer("waste_m", "a tile of more than twice the rows is half wasted",
                 block_m <= 2 * gemm.m || block_m == 16);
  builder.prefer("waste_n", "a tile of more than twice the columns is half wasted",
                 block_n <= 2 * gemm.n || block_n == 16);
  add_common_rules(builder, gemm, knobs);
  builder.require("split_k_divides", "SPLIT_K * BLOCK_K = {} divides K",
                  split_k == 1 || euclidean_mod(gemm.k, split_k * block_k) == 0,
                  {split_k * block_k});
  const Expression lds_a = block_m * block_k * problem::byte_size(gemm.a);
  const Expression lds_b = block_n * block_k * problem::byte_size(gemm.b);
  const Expression lds = ite(stages <= 1, max(lds_a, lds_b), (lds_a + lds_b) * (stages - 1));
  builder.require("lds", "the tiles of A and B take {} bytes of LDS; a workgroup has {}",
                  lds <= limits.lds_bytes, {lds, limits.lds_bytes});
  add_large_rules(builder, gemm, knobs);
  return builder;
}

Result<space::Space> tune_gemm_space(const Gemm& gemm, const TuneGemmLimits& limits) {
  return tune_gemm_space_builder(gemm, limits).build();
}

Result<space::Space> tune_gemm_v2_space(const Gemm& gemm) {
  space::SpaceBuilder builder;
  const Knobs knobs = add_knobs(builder, {16, 32, 64, 128}, {1, 4, 8, 16, 32});
  const Value mfma = mfma_of(gemm);
  builder.knob("waves_per_eu", "wavefronts per SIMD asked for; 0: the compiler chooses", {0});
  builder.knob("matrix_instr_nonkdim", "rows and columns of the MFMA instruction", {mfma});
  builder.knob("kpack", "MFMA depths loaded at once", {1});

  builder.require("tile_fills_instruction", "a block is no smaller than the instruction, {} rows",
                  knobs.block_m >= mfma && knobs.block_n >= mfma, {mfma});
  add_small_rules(builder, gemm, knobs, mfma);
  add_common_rules(builder, gemm, knobs);
  builder.require("split_k_divides", "SPLIT_K * BLOCK_K = {} divides K, with a SPLIT_K of 1 too",
                  euclidean_mod(gemm.k, knobs.split_k * knobs.block_k) == 0,
                  {knobs.split_k * knobs.block_k});
  builder.require("deep_blocks",
                  "a BLOCK_K of 128 beside a BLOCK_M or BLOCK_N of 128 takes too much LDS",
                  knobs.block_k != 128 || (knobs.block_m != 128 && knobs.block_n != 128));
  return builder.build();
}

}  // namespace hone::triton
