#include "device/cpu/peak.h"

#include <algorithm>
#include <memory>
#include <new>

#include "device/device.h"

namespace hone::device::cpu {
namespace {

#if defined(__x86_64__)
// In assembly, so that neither the optimisation level nor the compiler's own target changes what is
// measured. Every loop keeps more independent chains than latency x units asks for (4 cycles x 2
// units for multiply-adds on current cores) and values that stay normal numbers.
alignas(4) constexpr float kFactor = 1e-3f;

#define HONE_CLOBBER_16                                                                    \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
      "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#define HONE_REPEAT_14(m) m(0) m(1) m(2) m(3) m(4) m(5) m(6) m(7) m(8) m(9) m(10) m(11) m(12) m(13)
#define HONE_REPEAT_24(m) \
  HONE_REPEAT_14(m) m(14) m(15) m(16) m(17) m(18) m(19) m(20) m(21) m(22) m(23)

#define HONE_ZERO_512(r) "vpxord %%zmm" #r ", %%zmm" #r ", %%zmm" #r "\n"
#define HONE_FMA_512(r) "vfmadd231ps %%zmm30, %%zmm31, %%zmm" #r "\n"
__attribute__((target("avx512f"))) void run_avx512(long rounds) {
  asm volatile(HONE_REPEAT_24(HONE_ZERO_512)
               "vbroadcastss %[factor], %%zmm30\n"
               "vbroadcastss %[factor], %%zmm31\n"
               ".p2align 5\n"
               "1:\n" HONE_REPEAT_24(HONE_FMA_512)
               "decq %[rounds]\n"
               "jnz 1b\n"
               "vzeroupper\n"
               : [rounds] "+r"(rounds)
               : [factor] "m"(kFactor)
               : "cc", HONE_CLOBBER_16, "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21",
                 "xmm22", "xmm23", "xmm30", "xmm31");
}

#define HONE_ZERO_256(r) "vxorps %%ymm" #r ", %%ymm" #r ", %%ymm" #r "\n"
#define HONE_FMA_256(r) "vfmadd231ps %%ymm14, %%ymm15, %%ymm" #r "\n"
__attribute__((target("avx2,fma"))) void run_avx2(long rounds) {
  asm volatile(HONE_REPEAT_14(HONE_ZERO_256)
               "vbroadcastss %[factor], %%ymm14\n"
               "vbroadcastss %[factor], %%ymm15\n"
               ".p2align 5\n"
               "1:\n" HONE_REPEAT_14(HONE_FMA_256)
               "decq %[rounds]\n"
               "jnz 1b\n"
               "vzeroupper\n"
               : [rounds] "+r"(rounds)
               : [factor] "m"(kFactor)
               : "cc", HONE_CLOBBER_16);
}

// Without fused instructions: products on seven registers (by one, so that they stay), sums on
// seven others.
#define HONE_SET_128(r) "movaps %%xmm15, %%xmm" #r "\n"
#define HONE_MUL_128(r) "mulps %%xmm15, %%xmm" #r "\n"
#define HONE_ADD_128(r) "addps %%xmm14, %%xmm" #r "\n"
alignas(16) constexpr float kOnes[4] = {1, 1, 1, 1};
alignas(16) constexpr float kFactors[4] = {kFactor, kFactor, kFactor, kFactor};
void run_sse2(long rounds) {
  asm volatile(
      "movaps %[ones], %%xmm15\n"
      "movaps %[factors], %%xmm14\n"
      HONE_SET_128(0) HONE_SET_128(1) HONE_SET_128(2) HONE_SET_128(3) HONE_SET_128(4)
      HONE_SET_128(5) HONE_SET_128(6) HONE_SET_128(7) HONE_SET_128(8) HONE_SET_128(9)
      HONE_SET_128(10) HONE_SET_128(11) HONE_SET_128(12) HONE_SET_128(13)
      ".p2align 5\n"
      "1:\n"
      HONE_MUL_128(0) HONE_ADD_128(7) HONE_MUL_128(1) HONE_ADD_128(8) HONE_MUL_128(2)
      HONE_ADD_128(9) HONE_MUL_128(3) HONE_ADD_128(10) HONE_MUL_128(4) HONE_ADD_128(11)
      HONE_MUL_128(5) HONE_ADD_128(12) HONE_MUL_128(6) HONE_ADD_128(13)
      "decq %[rounds]\n"
      "jnz 1b\n"
      : [rounds] "+r"(rounds)
      : [ones] "m"(kOnes), [factors] "m"(kFactors)
      : "cc", HONE_CLOBBER_16);
}

bool has_avx512() {
  return __builtin_cpu_supports("avx512f") != 0;
}
bool has_avx2() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}
bool always() {
  return true;
}

constexpr PeakLoop kLoops[] = {
    {"avx512f", has_avx512, run_avx512, 24 * 16 * 2},
    {"avx2+fma", has_avx2, run_avx2, 14 * 8 * 2},
    {"sse2", always, run_sse2, 14 * 4},
};
#else
// Vectors of the compiler's own making.
using Vector = float __attribute__((vector_size(16)));

void run_portable(long rounds) {
  Vector sums[16] = {};
  Vector factor = {1e-3f, 1e-3f, 1e-3f, 1e-3f};
  for (; rounds > 0; --rounds) {
    asm volatile("" : "+m"(factor));
    for (Vector& sum : sums) sum += factor * factor;
  }
  asm volatile("" : : "m"(sums));
}

bool always() {
  return true;
}

constexpr PeakLoop kLoops[] = {{"portable", always, run_portable, 16 * 4 * 2}};
#endif

}  // namespace

std::span<const PeakLoop> peak_loops() {
  return kLoops;
}

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

struct CacheLine {
  float __attribute__((vector_size(64))) values;
};

void triad(CacheLine* to, const CacheLine* first, const CacheLine* second, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i].values = first[i].values + 3.0f * second[i].values;
}

double bytes_per_second(ThreadPool& pool) {
  const auto threads = static_cast<std::size_t>(pool.size());
  const std::size_t count =
      std::min(kTriadBytes, kTriadTotalBytes / threads) / (3 * sizeof(CacheLine));
  std::vector<std::unique_ptr<CacheLine[]>> memory(threads);
  pool.run([&](int thread) {  // each thread touches its own first, so that it lies near its core
    auto& own = memory[static_cast<std::size_t>(thread)];
    own.reset(new (std::nothrow) CacheLine[3 * count]);
    for (std::size_t i = 0; own && i < 3 * count; ++i) own[i].values = CacheLine{}.values + 1.0f;
  });
  for (const auto& own : memory)
    if (!own) return 0;  // unknown
  double best = 0;
  for (int i = 0; i < 3; ++i) {
    const double start = raw_seconds();
    pool.run([&](int thread) {
      CacheLine* own = memory[static_cast<std::size_t>(thread)].get();
      triad(own, own + count, own + 2 * count, count);
    });
    best = std::max(best, static_cast<double>(3 * sizeof(CacheLine) * count * threads) /
                              (raw_seconds() - start));
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
