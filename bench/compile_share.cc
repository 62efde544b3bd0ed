// Of N random configurations of each operation's space on each target, the share that the compiler
// accepts, how many different kernels they are, and the words for those that it does not accept.
// One line of JSON per operation and target.
//
//   compile_share [N=200] [SEED=1] [JOBS=1] [WORDS OF OPERATIONS OR TARGETS ...] [--audit]
// With --audit, of the configurations that break one of hone's own rules alone, rule by rule: what
// compiles is what the rule may hide (bench/rule_audit.py).
// Run through bench/compile_share.py. IREE is the one of .venv, or of HONE_IREE.
#include "tests/provider_iree_gpu/compile_share.h"

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "provider/iree/gpu/stated_additions.h"

namespace {

using namespace hone::iree::gpu;

struct Sampling {
  std::size_t n = 200;
  std::uint64_t seed = 1;
  int jobs = 1;
  bool audit = false;
};

void measure_space(const hone::problem::Dispatch& dispatch, const std::string& arch,
                   const hone::space::Space& space, const Sampling& sampling,
                   nlohmann::ordered_json line) {
  line["configurations"] = space.count().value;
  std::size_t tried = 0, compiled = 0;
  std::set<std::string> different;
  nlohmann::ordered_json failures = nlohmann::ordered_json::array(), compiling = failures;
  for (const Compiled& each :
       compile_samples(dispatch, arch, space, sampling.n, sampling.seed, sampling.jobs)) {
    ++tried;
    const std::string configuration = to_string(space, each.configuration);
    if (each.failure.empty()) {
      ++compiled;
      different.insert(each.identity);
      compiling.push_back(configuration);
    } else {
      failures.push_back({{"configuration", configuration}, {"failure", each.failure}});
    }
  }
  line["tried"] = tried;
  line["compiled"] = compiled;
  line["share"] = tried == 0 ? 0 : static_cast<double>(compiled) / static_cast<double>(tried);
  different.erase(default_identity(dispatch, arch));
  line["kernels_beside_default"] = different.size();
  line["failures"] = failures;
  if (sampling.audit) line["compiling"] = compiling;
  std::cout << line.dump() << std::endl;
}

void measure(const Problem& problem, const std::string& arch, const Sampling& sampling) {
  const auto dispatch = stated_dispatch(problem.program, arch);
  const auto target = *hone::problem::gpu_target(arch);
  nlohmann::ordered_json line{{"target", arch}, {"operation", problem.name}};
  line["from"] = dispatch.stated_constraints.empty() ? "hone" : "compiler";
  if (!sampling.audit) {
    const auto space = hone::iree::gpu_space(dispatch, target);
    if (space) return measure_space(dispatch, arch, *space, sampling, line);
    line["no_space"] = space.error().message;
    std::cout << line.dump() << std::endl;
    return;
  }
  for (const std::string_view rule : hone::iree::kOwnRules) {
    const auto space = hone::iree::gpu_space(dispatch, target, rule);
    if (!space || space->empty()) continue;  // the rule is not there, or hides nothing
    line["rule"] = rule;
    measure_space(dispatch, arch, *space, sampling, line);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Sampling sampling;
  if (argc > 1) sampling.n = std::strtoul(argv[1], nullptr, 10);
  if (argc > 2) sampling.seed = std::strtoul(argv[2], nullptr, 10);
  if (argc > 3) sampling.jobs = std::atoi(argv[3]);
  std::vector<std::string> words(argv + std::min(argc, 4), argv + argc);
  sampling.audit = std::erase(words, "--audit") > 0;
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
      if (is_wanted(arch, problem.name)) measure(problem, arch, sampling);
  return 0;
}
