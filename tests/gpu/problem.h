// A matmul that IREE compiled for sm_80, and kernels beside it that do wrong.
#pragma once

#include <filesystem>
#include <string>

#include "base/file.h"
#include "device/cpu/target.h"
#include "measure/runner_requests.h"

namespace hone::test {

inline constexpr std::string_view kServeRunner = "--serve-runner";

// Files of tests/gpu/data: beside this program where it was copied to another machine.
inline std::string data_file(const std::string& name) {
  const auto beside = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "data" / name;
  return std::filesystem::exists(beside) ? beside.string()
                                         : HONE_SOURCE_DIR "/tests/gpu/data/" + name;
}

// C[128,256] = A[128,64] B[64,256], f16 inputs, f32 output, filled with zero first.
inline problem::Dispatch matmul() {
  using namespace problem;
  const TensorType a{ElementType::kF16, {128, 64}}, b{ElementType::kF16, {64, 256}},
      c{ElementType::kF32, {128, 256}};
  Dispatch dispatch;
  dispatch.name = "main_dispatch_0_matmul_128x256x64_f16xf16xf32";
  dispatch.root = {
      .kind = OperationKind::kMatmul,
      .name = "linalg.matmul",
      .loops = {{false, 128, LoopRole::kM}, {false, 256, LoopRole::kN}, {true, 64, LoopRole::kK}},
      .operands = {{a, {0, 2}, false}, {b, {2, 1}, false}, {c, {0, 1}, true}}};
  dispatch.root_operations = 1;
  dispatch.fused = {"fill"};
  dispatch.bindings = {{Access::kReadOnly, BindingUse::kRootInput, a, 128 * 64 * 2},
                       {Access::kReadOnly, BindingUse::kRootInput, b, 64 * 256 * 2},
                       {Access::kWriteOnly, BindingUse::kOutput, c, 128 * 256 * 4}};
  return dispatch;
}

// What iree-compile 3.13.0 made of it for sm_80, with the launch facts of its export.
inline provider::Artifact iree_matmul() {
  return {.format = "ptx",
          .code = read_file(data_file("matmul_128x256x64.ptx")).value(),
          .launch = {.entry = "main_dispatch_0_matmul_128x256x64_f16xf16xf32",
                     .ordinal = 0,
                     .grid = {8, 1, 1},
                     .block = {128, 1, 1},
                     .shared_bytes = 17408,
                     .constants = {}},
          .configured = ""};
}

// A kernel of one thread with the bindings' addresses in %rd0 to %rd2.
inline provider::Artifact kernel_of(const std::string& body) {
  return {.format = "ptx",
          .code =
              ".version 7.0\n.target sm_80\n.address_size 64\n"
              ".visible .entry kernel(.param .u64 a, .param .u64 b, .param .u64 c) {\n"
              "  .reg .b64 %rd<8>; .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .pred %p<2>;\n"
              "  ld.param.u64 %rd0, [a]; ld.param.u64 %rd1, [b]; ld.param.u64 %rd2, [c];\n" +
              body + "  ret;\n}\n",
          .launch = {.entry = "kernel", .ordinal = 0, .constants = {}},
          .configured = ""};
}

inline measure::ProblemRequest on_gpu(problem::Dispatch dispatch,
                                      measure::CacheMode cache = measure::CacheMode::kWarm) {
  measure::ProblemRequest request;
  request.dispatch = std::move(dispatch);
  request.device = {"cuda", 0, device::cpu::available_cores()};
  request.cache = cache;
  return request;
}

}  // namespace hone::test
