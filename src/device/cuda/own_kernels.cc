#include "device/cuda/own_kernels.h"

#include <fmt/format.h>

#include <utility>

#include "device/cuda/toolkit.h"
#include "device/gpu/comparer.h"

namespace hone::device::cuda {
namespace {

constexpr int kChains = 8;  // independent results per thread, more than an instruction's latency

std::string module(const std::string& registers, const std::string& body) {
  return fmt::format(R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 address, .param .u32 rounds) {{
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  {}
  ld.param.u64 %rd0, [address];
  ld.param.u32 %r0, [rounds];
{}  ret;
}}
)",
                     registers, body);
}

// Runs `step` %r0 times, then adds up registers %f0 to %f<numbers - 1> and stores the sum if it is
// a number that it cannot be.
std::string loop(const std::string& before, const std::string& step, int numbers) {
  std::string sum;
  for (int i = 1; i < numbers; ++i) sum += fmt::format("  add.f32 %f0, %f0, %f{};\n", i);
  return before + "again:\n" + step +
         "  sub.u32 %r0, %r0, 1;\n  setp.ne.u32 %p0, %r0, 0;\n  @%p0 bra again;\n" + sum +
         "  setp.eq.f32 %p1, %f0, 0f7F800000;\n  @%p1 st.global.f32 [%rd0], %f0;\n";
}

}  // namespace

OwnKernel multiply_add_kernel(int multiprocessors, std::uint32_t rounds) {
  std::string before = "  mov.f32 %a, 0f3F000000;\n  mov.u32 %r1, %tid.x;\n", step;
  for (int i = 0; i < kChains; ++i) {
    before += fmt::format("  cvt.rn.f32.u32 %f{0}, %r1;\n  add.u32 %r1, %r1, 7;\n", i);
    step += fmt::format("  fma.rn.f32 %f{0}, %f{0}, %a, %a;\n", i);
  }
  return gpu::work_kernel(
      module(fmt::format(".reg .f32 %f<{}>, %a;", kChains), loop(before, step, kChains)), "kernel",
      multiprocessors, rounds, 2.0 * kChains);
}

OwnKernel matrix_kernel(int multiprocessors, std::uint32_t rounds) {
  std::string before = "  mov.u32 %r1, 0x38003800;\n", step;  // two halves in f16
  for (int i = 0; i < 4 * kChains; ++i) before += fmt::format("  mov.f32 %f{}, 0f00000000;\n", i);
  for (int i = 0; i < kChains; ++i) {
    const std::string set =
        fmt::format("{{%f{}, %f{}, %f{}, %f{}}}", 4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
    step += fmt::format(
        "  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {0}, {{%r1, %r1, %r1, %r1}}, "
        "{{%r1, %r1}}, {0};\n",
        set);
  }
  // 2 x 16 x 8 x 16 operations of a warp of 32 threads.
  return gpu::work_kernel(
      module(fmt::format(".reg .f32 %f<{}>;", 4 * kChains), loop(before, step, 4 * kChains)),
      "kernel", multiprocessors, rounds, 2.0 * 16 * 8 * 16 / 32 * kChains);
}

OwnKernel pause_kernel(std::uint32_t nanoseconds) {
  const std::string body = R"(  cvt.u64.u32 %rd1, %r0;
  mov.u64 %rd2, %globaltimer;
  add.u64 %rd1, %rd1, %rd2;
again:
  mov.u64 %rd2, %globaltimer;
  setp.lt.u64 %p0, %rd2, %rd1;
  @%p0 bra again;
)";
  return {.code = module("", body), .parameters = {.entry = "kernel", .constants = {nanoseconds}}};
}

double tensor_flops_per_clock(std::string_view arch) {
  constexpr std::pair<std::string_view, double> kFlops[] = {
      {"sm_80", 2048}, {"sm_86", 512}, {"sm_90", 4096}, {"sm_100", 8192}};
  for (const auto& [name, flops] : kFlops)
    if (name == arch) return flops;
  return 0;
}

std::string comparison_source() {
  return gpu::comparison_source(
      R"(float wide; asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(bits)); return wide;)");
}

gpu::OwnKernels own_kernels(const GpuFacts& facts) {
  return {.pause = [](std::uint32_t nanoseconds) { return pause_kernel(nanoseconds); },
          .multiply_add = [units = facts.units](
                              std::uint32_t rounds) { return multiply_add_kernel(units, rounds); },
          .matrix =
              [units = facts.units](std::uint32_t rounds) { return matrix_kernel(units, rounds); },
          .comparison = [] { return compile_cuda(comparison_source()); },
          .instructions = "fma.f32, mma.sync f16",
          .stated_matrix_gflops =
              tensor_flops_per_clock(facts.arch) * facts.units * facts.megahertz * 1e-3};
}

}  // namespace hone::device::cuda
