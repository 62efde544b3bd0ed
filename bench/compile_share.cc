// Of N random configurations of each operation's space on each target, the share that the compiler
// accepts, how many different kernels they are, and the words for those that it does not accept.
// One line of JSON per operation and target.
//
//   compile_share [N=200] [SEED=1] [JOBS=1] [WORDS OF OPERATIONS OR TARGETS ...]
// Run through bench/compile_share.py. IREE is the one of .venv, or of HONE_IREE.
#include "tests/provider_iree_gpu/compile_share.h"

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

namespace {

using namespace hone::iree::gpu;

void measure(const Problem& problem, const std::string& arch, std::size_t n, std::uint64_t seed,
             int jobs) {
  const auto dispatch = stated_dispatch(problem.program, arch);
  nlohmann::ordered_json line{{"target", arch}, {"operation", problem.name}};
  line["from"] = dispatch.stated_constraints.empty() ? "hone" : "compiler";
  const auto space = hone::iree::gpu_space(dispatch, *hone::problem::gpu_target(arch));
  if (!space) {
    line["no_space"] = space.error().message;
    std::cout << line.dump() << std::endl;
    return;
  }
  line["configurations"] = space->count().value;
  std::size_t tried = 0, compiled = 0;
  std::set<std::string> different;
  nlohmann::ordered_json failures = nlohmann::ordered_json::array();
  for (const Compiled& each : compile_samples(dispatch, arch, *space, n, seed, jobs)) {
    ++tried;
    if (each.failure.empty()) {
      ++compiled;
      different.insert(each.identity);
    } else {
      failures.push_back(
          {{"configuration", to_string(*space, each.configuration)}, {"failure", each.failure}});
    }
  }
  line["tried"] = tried;
  line["compiled"] = compiled;
  line["share"] = tried == 0 ? 0 : static_cast<double>(compiled) / static_cast<double>(tried);
  different.erase(default_identity(dispatch, arch));
  line["kernels_beside_default"] = different.size();
  line["failures"] = failures;
  std::cout << line.dump() << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 200;
  const std::uint64_t seed = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1;
  const int jobs = argc > 3 ? std::atoi(argv[3]) : 1;
  std::vector<std::string> words(argv + std::min(argc, 4), argv + argc);
  std::vector<Problem> problems = large_problems();
  for (const Problem& each : large_own_problems()) problems.push_back(each);
  const auto is_wanted = [&](const std::string& arch, const std::string& name) {
    // Targets and operations that are named; all where none is.
    bool any_target = false, target = false, any_operation = false, operation = false;
    for (const std::string& word : words) {
      const bool names_target = hone::problem::names_gpu(word);
      (names_target ? any_target : any_operation) = true;
      if (names_target && word == arch) target = true;
      if (!names_target && name.find(word) != std::string::npos) operation = true;
    }
    return (target || !any_target) && (operation || !any_operation);
  };
  std::vector<std::string> targets = {"gfx942", "sm_80"};
  for (const std::string& word : words)
    if (hone::problem::names_gpu(word) &&
        std::find(targets.begin(), targets.end(), word) == targets.end())
      targets.push_back(word);
  for (const std::string& arch : targets)
    for (const Problem& problem : problems)
      if (is_wanted(arch, problem.name)) measure(problem, arch, n, seed, jobs);
  return 0;
}
