// Of N random configurations of each operation's space on each target, the share that the compiler
// accepts, and the words for those that it does not. One line of JSON per operation and target.
//
//   compile_share [N=200] [SEED=1] [ARCH ...=gfx942 sm_80] -- run through bench/compile_share.py
#include "tests/provider_iree_gpu/compile_share.h"

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

namespace {

using namespace hone::iree::gpu;

void measure(const Problem& problem, const std::string& arch, std::size_t n, std::uint64_t seed) {
  const auto dispatch = dispatch_of(problem.program, arch);
  const auto statement = stated(dispatch, arch);
  nlohmann::ordered_json line{{"target", arch}, {"operation", problem.name}};
  if (statement.empty()) {
    line["stated"] = false;
    std::cout << line.dump() << std::endl;
    return;
  }
  const auto space =
      hone::iree::space_of(statement, dispatch.root, *hone::problem::gpu_target(arch));
  line["configurations"] = space->count().value;
  std::size_t tried = 0, compiled = 0;
  nlohmann::ordered_json failures = nlohmann::ordered_json::array();
  for (const Compiled& each : compile_samples(dispatch, arch, *space, n, seed)) {
    ++tried;
    if (each.failure.empty())
      ++compiled;
    else
      failures.push_back(
          {{"configuration", to_string(*space, each.configuration)}, {"failure", each.failure}});
  }
  line["tried"] = tried;
  line["compiled"] = compiled;
  line["share"] = tried == 0 ? 0 : static_cast<double>(compiled) / static_cast<double>(tried);
  line["failures"] = failures;
  std::cout << line.dump() << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 200;
  const std::uint64_t seed = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1;
  std::vector<std::string> targets(argv + std::min(argc, 3), argv + argc);
  if (targets.empty()) targets = {"gfx942", "sm_80"};
  for (const std::string& arch : targets)
    for (const Problem& problem : large_problems()) measure(problem, arch, n, seed);
  return 0;
}
