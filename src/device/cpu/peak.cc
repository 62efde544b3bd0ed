#include "device/cpu/peak.h"

#include <algorithm>
#include <memory>
#include <new>

#include "device/cpu/peak_loops.h"
#include "device/raw_clock.h"

namespace hone::device::cpu {
namespace {

constexpr double kLoopSeconds = 0.004;  // one timing; long against the threads' start
constexpr int kRepetitions = 6;         // of which the best counts: a peak is a maximum
constexpr std::size_t kTriadBytes = std::size_t{48} << 20;        // of one thread, three arrays
constexpr std::size_t kTriadTotalBytes = std::size_t{512} << 20;  // of all threads

double time_loop(ThreadPool& pool, const PeakLoop& loop, long rounds) {
  pool.run([](int) {});  // wakes the threads
  const double start = raw_seconds();
  pool.run([&](int) { loop.run(rounds); });
  return raw_seconds() - start;
}

double flops_per_second(ThreadPool& pool, const PeakLoop& loop) {
  long rounds = 1000;
  while (time_loop(pool, loop, rounds) < kLoopSeconds) rounds *= 2;
  double best = time_loop(pool, loop, rounds);
  for (int i = 1; i < kRepetitions; ++i) best = std::min(best, time_loop(pool, loop, rounds));
  return static_cast<double>(rounds) * loop.flops_per_round * pool.size() / best;
}

struct Line {
  float __attribute__((vector_size(64))) values;
};

void triad(Line* to, const Line* first, const Line* second, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i].values = first[i].values + 3.0f * second[i].values;
}

double bytes_per_second(ThreadPool& pool) {
  const auto threads = static_cast<std::size_t>(pool.size());
  const std::size_t count = std::min(kTriadBytes, kTriadTotalBytes / threads) / (3 * sizeof(Line));
  std::vector<std::unique_ptr<Line[]>> memory(threads);
  pool.run([&](int thread) {  // each thread touches its own first, so that it lies near its core
    auto& own = memory[static_cast<std::size_t>(thread)];
    own.reset(new (std::nothrow) Line[3 * count]);
    for (std::size_t i = 0; own && i < 3 * count; ++i) own[i].values = Line{}.values + 1.0f;
  });
  for (const auto& own : memory)
    if (!own) return 0;  // unknown
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    const double start = raw_seconds();
    pool.run([&](int thread) {
      Line* own = memory[static_cast<std::size_t>(thread)].get();
      triad(own, own + count, own + 2 * count, count);
    });
    best = std::max(
        best, static_cast<double>(3 * sizeof(Line) * count * threads) / (raw_seconds() - start));
  }
  return best;
}

}  // namespace

Peak measure_peak(ThreadPool& pool) {
  Peak peak{.gflops = 0,
            .gbytes_per_second = bytes_per_second(pool) * 1e-9,
            .instructions = "",
            .threads = pool.size()};
  for (const PeakLoop& loop : peak_loops()) {
    if (!loop.available()) continue;
    if (const double gflops = flops_per_second(pool, loop) * 1e-9; gflops > peak.gflops) {
      peak.gflops = gflops;
      peak.instructions = loop.instructions;
    }
  }
  return peak;
}

}  // namespace hone::device::cpu
