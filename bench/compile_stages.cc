// What one candidate's compile costs and in which stage: N random configurations of the matmul
// 2048x10240x1280, each in a fork of a prepared process, as hone's workers do it. One line of JSON
// per candidate; `code` is a hash of what was made, to compare two ways of compiling.
//
//   compile_stages [N=40] [SEED=1] [ARCH=sm_80]   -- HONE_IREE names the compiler
#include <sys/resource.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "tests/provider_iree_gpu/compile_share.h"

namespace {

using namespace hone::iree;
using namespace hone::iree::gpu;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

void compile(PreparedDispatch& prepared, const hone::space::Space& space,
             const hone::space::Configuration& configuration,
             const hone::iree::Attributes& attributes) {
  hone::provider::CompileStages stages;
  const auto artifact = prepared.compile(attributes, &stages);
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  nlohmann::ordered_json line{{"configuration", to_string(space, configuration)},
                              {"user", seconds(usage.ru_utime)},
                              {"system", seconds(usage.ru_stime)},
                              {"faults", usage.ru_minflt},
                              {"configure", stages.configure},
                              {"translate", stages.translate},
                              {"serialize", stages.serialize}};
  if (artifact)
    line["code"] = hone::content_hash(artifact->code);
  else
    line["failure"] = artifact.error().message.substr(0, 200);
  std::cout << line.dump() << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t n = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 40;
  const std::uint64_t seed = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1;
  const std::string arch = argc > 3 ? argv[3] : "sm_80";
  const auto target = hone::problem::gpu_target(arch);
  if (!target) return 1;
  const auto dispatch = stated_dispatch(matmul(2048, 10240, 1280), arch);
  const auto space = gpu_space(dispatch, *target);
  auto prepared = PreparedDispatch::create(compiler(), dispatch.source, flags_for(arch));
  if (!space || !prepared) return 1;
  const auto samples = space->samples(n, seed);
  if (!samples) return 1;
  for (const hone::space::Configuration& configuration : *samples) {
    const auto attributes = gpu_attributes(dispatch, *target, *space, configuration);
    if (!attributes) return 1;
    const pid_t child = ::fork();
    if (child == 0) {
      compile(*prepared, *space, configuration, *attributes);
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
  }
  return 0;
}
