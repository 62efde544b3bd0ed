// A program without a compiler: dispatches whose kernels take as long as their tile says.
#pragma once

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "problem/dispatch.h"
#include "problem/statement.h"
#include "provider/artifact.h"
#include "tests/provider/contractions.h"

namespace hone::test {

inline constexpr std::string_view kTile = "tile=";
inline constexpr std::int64_t kDefaultTile = 1, kBestTile = 8;

// C + A B of such a product, over rows m, columns n and terms k; where B is read by rows of n
// instead, another.
inline problem::Statement fake_statement(std::int64_t rows, bool transposed = false) {
  using problem::ElementType;
  problem::Statement said;
  said.entry = "kernel";
  said.bindings = 3;
  said.loops = {
      {problem::LoopRole::kM, rows}, {problem::LoopRole::kN, 8}, {problem::LoopRole::kK, 8}};
  said.views = {{0, 0, {}}, {1, 0, {}}, {2, 0, {}}};
  const problem::StatedUse a{0, ElementType::kF32, 0, {8, 0, 1}},
      b{1, ElementType::kF32, 0, {0, 1, 8}}, by_n{1, ElementType::kF32, 0, {0, 8, 1}},
      c{2, ElementType::kF32, 0, {8, 1, 0}};
  said.operands = {a, transposed ? by_n : b};
  said.values = {{"root", ElementType::kF32},
                 {.operation = "load", .type = ElementType::kF32, .use = c},
                 {"arith.addf", ElementType::kF32, {0, 1}}};
  said.stores = {{c, 2}};
  return said;
}

// Product number `index` of a program; no two have equal shapes. The source says what it is
// compiled for, as those of real compilers do.
inline problem::Dispatch fake_dispatch(int index, const std::vector<std::string>& flags) {
  problem::Dispatch dispatch;
  dispatch.name = fmt::format("main_dispatch_{}", index);
  dispatch.executable = dispatch.name;
  dispatch.root = iree::matmul(8 + index, 8, 8);
  dispatch.source =
      fmt::format("{}: {} rows, for {}", dispatch.name, 8 + index, fmt::join(flags, " "));
  dispatch.root_operations = 1;
  dispatch.root_bindings = {0, 1, 2};
  dispatch.launches_per_call = 1;
  dispatch.statement = fake_statement(8 + index);
  for (const problem::Operand& operand : dispatch.root.operands) {
    problem::Binding binding;
    binding.type = operand.type;
    binding.bytes = problem::element_count(operand.type) * 4;
    if (operand.output) {
      binding.access = problem::Access::kReadWrite;
      binding.use = problem::BindingUse::kOutput;
    }
    dispatch.bindings.push_back(binding);
  }
  return dispatch;
}

inline problem::Function fake_function() {
  const problem::TensorType vector{problem::ElementType::kF32, {4}};
  return {"main", {vector}, {vector}};
}

inline std::int64_t tile_in(const std::string& attributes) {
  const std::size_t at = attributes.find(kTile);
  return at == std::string::npos ? kDefaultTile
                                 : std::atoll(attributes.c_str() + at + kTile.size());
}

// What the fake compiler is told: a text and nothing else.
inline provider::Payload payload_with(std::int64_t tile) {
  return provider::Payload{fmt::format("{}{}", kTile, tile)};
}

// Least at kBestTile; the compiler's own choice takes 1.3 times as long.
inline double fake_seconds(std::int64_t tile) {
  const double steps = std::log2(static_cast<double>(tile)) - std::log2(double{kBestTile});
  return 1e-4 * (1 + 0.1 * std::abs(steps));
}

// Within half a percent, a sequence that is the same every time.
class FakeNoise {
 public:
  double next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return 1 + 0.005 * static_cast<double>(state_ >> 33) / static_cast<double>(1u << 31);
  }

 private:
  std::uint64_t state_ = 1;
};

}  // namespace hone::test
