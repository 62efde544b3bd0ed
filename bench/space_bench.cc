// How long it takes to state, narrow, count and enumerate a whole space, from nothing; beside z3
// on the same space where libz3 is present. Counters: configurations found. The spaces called
// "stated" are those that IREE states for a GPU: reading them in the compiler is not part of the
// time.
#include <benchmark/benchmark.h>

#include "provider/iree/stated_space.h"
#include "tests/provider_iree_gpu/programs.h"
#include "tests/space/known_spaces.h"
#if __has_include(<z3++.h>)
#include "tests/space/z3_model.h"
#endif

namespace hone::space {
namespace {

using Maker = SpaceBuilder (*)(known::Matmul);

known::Matmul size_of(const benchmark::State& state) {
  return {state.range(0), state.range(1), state.range(2)};
}

void enumerate(benchmark::State& state, Maker make) {
  std::uint64_t found = 0;
  for (auto _ : state) {
    const auto space = make(size_of(state)).build();
    if (!space) return state.SkipWithError(space.error().message.c_str());
    Enumerator enumerator = space->enumerate();
    Configuration configuration;
    found = 0;
    while (enumerator.next(configuration)) ++found;
    benchmark::DoNotOptimize(configuration.values.data());
  }
  state.counters["configurations"] = static_cast<double>(found);
}

void sample_one(benchmark::State& state, Maker make) {
  const auto space = make(size_of(state)).build();
  std::mt19937_64 generator(1);
  benchmark::DoNotOptimize(space->count());
  for (auto _ : state) benchmark::DoNotOptimize(space->sample(generator));
}

struct Stated {
  problem::Dispatch dispatch;
  problem::GpuTarget target;
  iree::StatedSpace space;
};

Stated stated(const std::string& program, const std::string& arch) {
  Stated all{iree::gpu::dispatch_of(program, arch), *problem::gpu_target(arch), {}};
  all.space = iree::gpu::stated(all.dispatch, arch);
  return all;
}

// Every configuration of every pipeline, from the compiler's statement on.
void enumerate_stated(benchmark::State& state, const std::string& program,
                      const std::string& arch) {
  const Stated what = stated(program, arch);
  std::uint64_t found = 0;
  for (auto _ : state) {
    const auto space = iree::space_of(what.space, what.dispatch.root, what.target);
    if (!space) return state.SkipWithError(space.error().message.c_str());
    Enumerator enumerator = space->enumerate();
    Configuration configuration;
    found = 0;
    while (enumerator.next(configuration)) ++found;
    benchmark::DoNotOptimize(configuration.values.data());
  }
  state.counters["configurations"] = static_cast<double>(found);
}

#if __has_include(<z3++.h>)
// One statement, its rules alone.
void enumerate_stated_with_z3(benchmark::State& state, const std::string& program,
                              const std::string& arch, std::size_t which) {
  const Stated what = stated(program, arch);
  std::size_t found = 0;
  for (auto _ : state) {
    const auto solutions =
        z3model::Model(*iree::space_builder(what.space.at(which))).solutions(600'000);
    if (!solutions) return state.SkipWithError("z3 gave up");
    found = solutions->size();
  }
  state.counters["configurations"] = static_cast<double>(found);
}
#endif

#if __has_include(<z3++.h>)
void enumerate_with_z3(benchmark::State& state, Maker make) {
  std::size_t found = 0;
  for (auto _ : state) {
    const auto solutions = z3model::Model(make(size_of(state))).solutions(600'000);
    if (!solutions) return state.SkipWithError("z3 gave up");
    found = solutions->size();
  }
  state.counters["configurations"] = static_cast<double>(found);
}
#define HONE_Z3_BENCHMARK(maker, ...)                       \
  BENCHMARK_CAPTURE(enumerate_with_z3, maker, known::maker) \
      ->Args({__VA_ARGS__})                                 \
      ->Iterations(1)                                       \
      ->Unit(benchmark::kMillisecond)
#else
#define HONE_Z3_BENCHMARK(maker, ...) static_assert(true)
#endif

#define HONE_SPACE_BENCHMARK(maker, ...)            \
  BENCHMARK_CAPTURE(enumerate, maker, known::maker) \
      ->Args({__VA_ARGS__})                         \
      ->Unit(benchmark::kMillisecond)

HONE_SPACE_BENCHMARK(tune_gemm, 512, 512, 512);
HONE_SPACE_BENCHMARK(tune_gemm, 2048, 1280, 5120);
HONE_SPACE_BENCHMARK(tile_and_fuse, 2048, 1280, 1280);
HONE_SPACE_BENCHMARK(tile_and_fuse, 2048, 10240, 1280);
HONE_SPACE_BENCHMARK(vector_distribute, 1024, 1280, 1280);
BENCHMARK_CAPTURE(sample_one, tile_and_fuse, known::tile_and_fuse)->Args({2048, 1280, 1280});
// Small ones, since z3 takes a query for each configuration: minutes for the spaces above.
HONE_Z3_BENCHMARK(tune_gemm, 16, 4096, 4096);
HONE_Z3_BENCHMARK(tile_and_fuse, 256, 256, 128);
HONE_SPACE_BENCHMARK(tune_gemm, 16, 4096, 4096);
HONE_SPACE_BENCHMARK(tile_and_fuse, 256, 256, 128);

#define HONE_STATED_BENCHMARK(name, program, arch) \
  BENCHMARK_CAPTURE(enumerate_stated, name, program, arch)->Unit(benchmark::kMillisecond)
HONE_STATED_BENCHMARK(matmul_gfx942, iree::gpu::matmul(2048, 10240, 1280), "gfx942");
HONE_STATED_BENCHMARK(matmul_sm_80, iree::gpu::matmul(2048, 10240, 1280), "sm_80");
HONE_STATED_BENCHMARK(convolution_gfx942, iree::gpu::convolution(false, 2, 32, 1280, 1280),
                      "gfx942");
HONE_STATED_BENCHMARK(convolution_sm_80, iree::gpu::convolution(false, 2, 32, 1280, 1280), "sm_80");
HONE_STATED_BENCHMARK(attention_gfx942, iree::gpu::attention(20, 4096, 64), "gfx942");
#if __has_include(<z3++.h>)
BENCHMARK_CAPTURE(enumerate_stated_with_z3, matmul_gfx942_tile_and_fuse,
                  iree::gpu::matmul(2048, 10240, 1280), "gfx942", 0)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
#endif

}  // namespace
}  // namespace hone::space

BENCHMARK_MAIN();
