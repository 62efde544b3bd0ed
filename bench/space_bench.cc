// How long it takes to state, narrow, count and enumerate a whole space, from nothing; beside z3
// on the same space where libz3 is present. Counters: configurations found.
#include <benchmark/benchmark.h>

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

}  // namespace
}  // namespace hone::space

BENCHMARK_MAIN();
