// How many of a space's configurations the compiler accepts, each compiled in a process of its own:
// some crash it.
#pragma once

#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "provider/iree/gpu/space.h"
#include "space/configuration.h"
#include "tests/provider_iree_gpu/programs.h"

namespace hone::iree::gpu {

struct Compiled {
  space::Configuration configuration;
  std::string failure;   // the first line of why not; empty when it compiled
  std::string identity;  // of the code; empty when it did not compile
};

// The only dispatch of a program, with what the compiler states about it.
problem::Dispatch stated_dispatch(const std::string& program, const std::string& arch);

// The configurations compiled, at most `jobs` at a time, in their order.
std::vector<Compiled> compile_all(const problem::Dispatch& dispatch, const std::string& arch,
                                  const space::Space& space,
                                  const std::vector<space::Configuration>& configurations,
                                  int jobs = 1);
// `n` random ones.
std::vector<Compiled> compile_samples(const problem::Dispatch& dispatch, const std::string& arch,
                                      const space::Space& space, std::size_t n, std::uint64_t seed,
                                      int jobs = 1);
// The identity of the code of the compiler's own choice.
std::string default_identity(const problem::Dispatch& dispatch, const std::string& arch);

struct Problem {
  std::string name;
  std::string program;
};
// The operations whose spaces are compared and sampled: those that the compiler states constraints
// for on one target at least, and those that only hone has a space for.
std::vector<Problem> large_problems();
std::vector<Problem> small_problems();
std::vector<Problem> large_own_problems();
std::vector<Problem> small_own_problems();

}  // namespace hone::iree::gpu
