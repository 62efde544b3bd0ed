// How long it takes to state, narrow, count and enumerate a whole space, from nothing; beside z3
// on the same space where libz3 is present. Counters: configurations found. The spaces called
// "stated" are those that IREE states for a GPU: reading them in the compiler is not part of the
// time. z3's list is compared with hone's.
//
//   space_bench --known          without those that IREE states, so that no compiler is needed
//   space_bench --export FILE   writes the stated spaces for solvers in Python instead
#include <benchmark/benchmark.h>

#include <fstream>
#include <iostream>

#include "bench/space_export.h"
#include "provider/iree/gpu/stated_space.h"
#include "provider/triton/tune_gemm.h"
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

void enumerate_of(benchmark::State& state, Maker make, known::Matmul size) {
  std::uint64_t found = 0;
  for (auto _ : state) {
    const auto space = make(size).build();
    if (!space) return state.SkipWithError(space.error().message.c_str());
    Enumerator enumerator = space->enumerate();
    Configuration configuration;
    found = 0;
    while (enumerator.next(configuration)) ++found;
    benchmark::DoNotOptimize(configuration.values.data());
  }
  state.counters["configurations"] = static_cast<double>(found);
}

void enumerate(benchmark::State& state, Maker make) {
  enumerate_of(state, make, size_of(state));
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
constexpr double kZ3Seconds = 120;

// One statement, its rules alone: every solution, and that hone has the same ones.
void enumerate_stated_with_z3(benchmark::State& state, const std::string& program,
                              const std::string& arch, std::size_t which) {
  const Stated what = stated(program, arch);
  std::size_t found = 0;
  for (auto _ : state) {
    z3model::Model model(*iree::space_builder(what.space.at(which)));
    const auto solutions = model.solutions(600'000, kZ3Seconds);
    if (!solutions) {
      const std::string words = fmt::format("not done after {} s", kZ3Seconds);
      return state.SkipWithError(words.c_str());
    }
    found = solutions->size();
    state.PauseTiming();
    const Space space = *iree::space_builder(what.space.at(which))->build();
    std::set<Configuration> ours;
    Enumerator enumerator = space.enumerate();
    while (const auto configuration = enumerator.next()) ours.insert(*configuration);
    if (ours != *solutions) return state.SkipWithError("z3 has other solutions than hone");
    state.ResumeTiming();
  }
  state.counters["configurations"] = static_cast<double>(found);
}
#endif

// One statement, its rules alone, by hone.
void enumerate_statement(benchmark::State& state, const std::string& program,
                         const std::string& arch, std::size_t which) {
  const Stated what = stated(program, arch);
  std::uint64_t found = 0;
  for (auto _ : state) {
    const Space space = *iree::space_builder(what.space.at(which))->build();
    Enumerator enumerator = space.enumerate();
    Configuration configuration;
    found = 0;
    while (enumerator.next(configuration)) ++found;
    benchmark::DoNotOptimize(configuration.values.data());
  }
  state.counters["configurations"] = static_cast<double>(found);
}

#if __has_include(<z3++.h>)
void enumerate_of_with_z3(benchmark::State& state, Maker make, known::Matmul size) {
  std::size_t found = 0;
  for (auto _ : state) {
    const auto solutions = z3model::Model(make(size)).solutions(600'000);
    if (!solutions) return state.SkipWithError("z3 gave up");
    found = solutions->size();
  }
  state.counters["configurations"] = static_cast<double>(found);
}
void enumerate_with_z3(benchmark::State& state, Maker make) {
  enumerate_of_with_z3(state, make, size_of(state));
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

HONE_SPACE_BENCHMARK(tile_and_fuse, 2048, 1280, 1280);
HONE_SPACE_BENCHMARK(tile_and_fuse, 2048, 10240, 1280);
HONE_SPACE_BENCHMARK(vector_distribute, 1024, 1280, 1280);
BENCHMARK_CAPTURE(sample_one, tile_and_fuse, known::tile_and_fuse)->Args({2048, 1280, 1280});
// Small ones, since z3 takes a query for each configuration: minutes for the spaces above.
HONE_Z3_BENCHMARK(tile_and_fuse, 256, 256, 128);
HONE_SPACE_BENCHMARK(tile_and_fuse, 256, 256, 128);

struct Case {
  std::string name;
  std::string program;
  std::string arch;
};

const std::vector<Case>& cases() {
  using namespace iree::gpu;
  static const std::vector<Case> kAll = {
      {"matmul_gfx942", matmul(2048, 10240, 1280), "gfx942"},
      {"matmul_sm_80", matmul(2048, 10240, 1280), "sm_80"},
      {"matmul_tb_gfx942", matmul(2048, 10240, 1280, "f16", "f32", true), "gfx942"},
      {"matmul_tb_sm_80", matmul(2048, 10240, 1280, "f16", "f32", true), "sm_80"},
      {"conv_nhwc_gfx942", convolution(false, 2, 32, 1280, 1280), "gfx942"},
      {"conv_nhwc_sm_80", convolution(false, 2, 32, 1280, 1280), "sm_80"},
      {"conv_nchw_gfx942", convolution(true, 2, 32, 1280, 1280), "gfx942"},
      {"conv_nchw_sm_80", convolution(true, 2, 32, 1280, 1280), "sm_80"},
      {"attention_gfx942", attention(20, 4096, 64), "gfx942"},
  };
  return kAll;
}

// ROCm's tune_gemm, 132,000 raw configurations each.
SpaceBuilder tune_gemm(known::Matmul size) {
  triton::Gemm gemm;
  gemm.m = size.m;
  gemm.n = size.n;
  gemm.k = size.k;
  return triton::tune_gemm_space_builder(gemm, {});
}

std::vector<std::pair<std::string, known::Matmul>> tune_gemm_cases() {
  std::vector<std::pair<std::string, known::Matmul>> cases;
  for (const known::Matmul size :
       {known::Matmul{512, 512, 512}, known::Matmul{4096, 4096, 4096},
        known::Matmul{2048, 1280, 5120}, known::Matmul{2048, 10240, 1280},
        known::Matmul{17, 5120, 5120}, known::Matmul{16, 4096, 4096}})
    cases.emplace_back(fmt::format("tune_gemm/{}x{}x{}", size.m, size.n, size.k), size);
  return cases;
}

void register_tune_gemm() {
  for (const auto& [name, size] : tune_gemm_cases())
    benchmark::RegisterBenchmark(("hone/" + name).c_str(), [size = size](benchmark::State& state) {
      enumerate_of(state, tune_gemm, size);
    })->Unit(benchmark::kMillisecond);
#if __has_include(<z3++.h>)
  // One of the small ones, since z3 takes a query for each configuration.
  const auto [name, size] = tune_gemm_cases().back();
  benchmark::RegisterBenchmark(
      ("z3/" + name).c_str(),
      [size = size](benchmark::State& state) { enumerate_of_with_z3(state, tune_gemm, size); })
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
#endif
}

// Benchmarks are named whole/CASE, hone/CASE/PIPELINE and z3/CASE/PIPELINE.
void register_stated() {
  for (const Case& each : cases()) {
    benchmark::RegisterBenchmark(("whole/" + each.name).c_str(), [=](benchmark::State& state) {
      enumerate_stated(state, each.program, each.arch);
    })->Unit(benchmark::kMillisecond);
    const auto statement = stated(each.program, each.arch).space;
    for (std::size_t which = 0; which < statement.size(); ++which) {
      const std::string name = fmt::format("{}/{}:{}", each.name, which, statement[which].pipeline);
      benchmark::RegisterBenchmark(("hone/" + name).c_str(), [=](benchmark::State& state) {
        enumerate_statement(state, each.program, each.arch, which);
      })->Unit(benchmark::kMillisecond);
#if __has_include(<z3++.h>)
      benchmark::RegisterBenchmark(("z3/" + name).c_str(),
                                   [=](benchmark::State& state) {
                                     enumerate_stated_with_z3(state, each.program, each.arch,
                                                              which);
                                   })
          ->Iterations(1)
          ->Unit(benchmark::kMillisecond);
#endif
    }
  }
}

int export_stated(const char* path) {
  nlohmann::ordered_json all;
  for (const Case& each : cases()) {
    const auto statement = stated(each.program, each.arch).space;
    for (std::size_t which = 0; which < statement.size(); ++which) {
      auto one = exported(*iree::space_builder(statement[which]));
      if (!one) {
        std::cerr << each.name << ": " << one.error().message << "\n";
        return 1;
      }
      all[fmt::format("{}/{}:{}", each.name, which, statement[which].pipeline)] = std::move(*one);
    }
  }
  std::ofstream(path) << all.dump(1) << "\n";
  return 0;
}

}  // namespace
}  // namespace hone::space

int main(int argc, char** argv) {
  std::vector<char*> words(argv, argv + argc);
  const bool known =
      std::erase_if(words, [](std::string_view word) { return word == "--known"; }) > 0;
  if (words.size() == 3 && std::string_view(words[1]) == "--export")
    return hone::space::export_stated(words[2]);
  hone::space::register_tune_gemm();
  if (!known) hone::space::register_stated();
  int count = static_cast<int>(words.size());
  benchmark::Initialize(&count, words.data());
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
