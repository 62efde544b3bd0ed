// How many of a space's configurations the compiler accepts, each compiled in a process of its own:
// some crash it.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include "space/configuration.h"
#include "tests/provider_iree_gpu/programs.h"

namespace hone::iree::gpu {

struct Compiled {
  space::Configuration configuration;
  std::string failure;  // the first line of why not; empty when it compiled
};

inline provider::Attributes attributes_of(const space::Space& space,
                                          const space::Configuration& configuration) {
  provider::Attributes attributes;
  attributes.statement = static_cast<int>(configuration.values.at(0));
  for (const space::Knob& knob :
       space.parts().at(static_cast<std::size_t>(attributes.statement)).knobs())
    attributes.knobs[knob.name] = *space.value(configuration, knob.name);
  return attributes;
}

// The child's words through a pipe; what it died of where it says nothing.
inline std::string compile_in_child(PreparedDispatch& prepared,
                                    const provider::Attributes& attributes) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    // Of processor time: the machine may be busy with something else.
    const rlimit limit{60, 60};
    ::setrlimit(RLIMIT_CPU, &limit);
    (void)std::freopen("/dev/null", "w", stderr);
    const auto artifact = prepared.compile(attributes);
    std::string words = "ok";
    if (!artifact)
      words = fmt::format("{}: {}", provider::name_of(artifact.error().kind),
                          artifact.error().message.substr(0, 300));
    (void)!::write(ends[1], words.data(), words.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string words;
  char buffer[512];
  for (;;) {
    const ssize_t got = ::read(ends[0], buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    words.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (words == "ok") return {};
  if (WIFSIGNALED(status)) return fmt::format("died of signal {}", WTERMSIG(status));
  return words.substr(0, words.find('\n'));
}

// `n` random configurations of the space, compiled one after the other.
inline std::vector<Compiled> compile_samples(const problem::Dispatch& dispatch,
                                             const std::string& arch, const space::Space& space,
                                             std::size_t n, std::uint64_t seed) {
  auto prepared = PreparedDispatch::create(compiler(), dispatch.source, flags_for(arch));
  if (!prepared) throw std::runtime_error(prepared.error().message);
  std::vector<Compiled> all;
  const auto samples = space.samples(n, seed);
  if (!samples) throw std::runtime_error(samples.error().message);
  for (const space::Configuration& configuration : *samples)
    all.push_back(
        {configuration, compile_in_child(*prepared, attributes_of(space, configuration))});
  return all;
}

struct Problem {
  std::string name;
  std::string program;
};
// The operations whose spaces are compared and sampled.
inline std::vector<Problem> large_problems() {
  return {{"matmul 2048x10240x1280", matmul(2048, 10240, 1280)},
          {"matmul_transpose_b 2048x10240x1280", matmul(2048, 10240, 1280, "f16", "f32", true)},
          {"conv_nhwc 2x34x34x1280 3x3x1280x1280", convolution(false, 2, 32, 1280, 1280)},
          {"conv_nchw 2x1280x34x34 1280x1280x3x3", convolution(true, 2, 32, 1280, 1280)},
          {"attention 20x4096x64", attention(20, 4096, 64)}};
}

inline std::vector<Problem> small_problems() {
  return {{"matmul", matmul(512, 768, 256)},
          {"matmul_transpose_b", matmul(512, 768, 256, "f16", "f32", true)},
          {"conv_nhwc", convolution(false, 1, 16, 64, 128)},
          {"conv_nchw", convolution(true, 1, 16, 64, 128)},
          {"attention", attention(4, 512, 64)}};
}

}  // namespace hone::iree::gpu
