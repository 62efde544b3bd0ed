// What hone says on a machine without a GPU, or with one that it cannot use. What a GPU does right
// is tested on one (tests/gpu).
#include <elf.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "device/cuda/driver.h"
#include "device/cuda/gpu.h"
#include "device/cuda/kind.h"
#include "device/cuda/own_kernels.h"
#include "device/cuda/toolkit.h"
#include "tests/device/fake_driver.h"
#include "tests/problem/code_object.h"

namespace hone::device::cuda {
namespace {

using test::FakeDriver;
using test::kVersion13;
using test::two_h200s;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Error error_of(const std::map<std::string, std::string>& bodies) {
  const FakeDriver fake(bodies);
  const auto driver = open_driver(fake.library());
  EXPECT_FALSE(driver);
  return driver ? Error{} : driver.error();
}

TEST(CudaDriverTest, AMissingLibraryIsAnErrorOfTheEnvironment) {
  const auto driver = open_driver("libcuda-of-no-machine.so.1");
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(driver.error().message, HasSubstr("the NVIDIA driver is not available"));
  EXPECT_THAT(driver.error().message, HasSubstr("libcuda-of-no-machine.so.1"));
}

TEST(CudaDriverTest, AMissingFunctionIsNamed) {
  const Error error = error_of({{"cuModuleLoadDataEx", ""}});
  EXPECT_EQ(error.kind, ErrorKind::kEnvironment);
  EXPECT_THAT(error.message, HasSubstr("has no function cuModuleLoadDataEx: the NVIDIA driver is "
                                       "too old; hone needs one of CUDA 11.0 or later"));
}

TEST(CudaDriverTest, AnOldDriverIsNamedWithItsVersion) {
  EXPECT_EQ(
      error_of({{"cuDriverGetVersion", "(int* version) { *version = 10020; return 0; }"}}).message,
      "the NVIDIA driver is too old: it runs CUDA 10.2, hone needs one of CUDA 11.0 or later");
}

TEST(CudaDriverTest, AMachineWithoutAGpuIsAnErrorOfTheEnvironment) {
  const Error error = error_of({{"cuInit", "(unsigned flags) { return 100; }"}});
  EXPECT_EQ(error.kind, ErrorKind::kEnvironment);
  EXPECT_EQ(error.message, "the NVIDIA driver finds no GPU on this machine");
}

TEST(CudaDriverTest, ADriverThatDoesNotStartIsQuoted) {
  EXPECT_EQ(
      error_of({{"cuInit", "(unsigned flags) { return 803; }"},
                {"cuGetErrorName",
                 "(int code, const char** name) { *name = \"CUDA_ERROR_MISMATCH\"; return 0; }"},
                {"cuGetErrorString",
                 "(int code, const char** text) { *text = \"the versions differ\"; return 0; }"}})
          .message,
      "starting the NVIDIA driver: the versions differ (CUDA_ERROR_MISMATCH)");
}

TEST(CudaDriverTest, ListsTheDevicesThereAre) {
  const FakeDriver fake(two_h200s());
  const auto driver = open_driver(fake.library());
  ASSERT_TRUE(driver) << driver.error().message;
  const auto devices = list_devices(**driver);
  ASSERT_TRUE(devices) << devices.error().message;
  ASSERT_EQ(devices->size(), 2u);
  EXPECT_EQ(devices->at(1).arch, "sm_90");
  EXPECT_EQ(devices->at(1).units, 132);
  EXPECT_EQ(devices->at(1).megahertz, 1980);
  EXPECT_EQ(devices->at(1).memory_bytes, 137438953472);
  EXPECT_EQ(devices->at(1).id, "GPU-01112131-4151-6171-8191-a1b1c1d1e1f1");

  EXPECT_EQ(gpu::find_device(*devices, kKind, 1)->index, 1);
  const auto missing = gpu::find_device(*devices, kKind, 7);
  EXPECT_EQ(missing.error().kind, ErrorKind::kInput);
  EXPECT_EQ(missing.error().message,
            "device cuda:7 is not there: this machine has cuda:0 (NVIDIA H200), cuda:1 (NVIDIA "
            "H200)");
  EXPECT_THAT(gpu::find_device({}, kKind, 0).error().message, HasSubstr("this machine has no GPU"));
}

TEST(CudaDriverTest, TellsErrorsThatEndTheContext) {
  EXPECT_TRUE(gpu::ends_context(700));   // illegal address
  EXPECT_TRUE(gpu::ends_context(702));   // launch timeout
  EXPECT_TRUE(gpu::ends_context(719));   // launch failed
  EXPECT_FALSE(gpu::ends_context(2));    // out of memory
  EXPECT_FALSE(gpu::ends_context(218));  // PTX that does not compile
  const std::map<std::string, std::string> bodies{{"cuDriverGetVersion", kVersion13}};
  const FakeDriver fake(bodies);
  const auto driver = open_driver(fake.library()).value();
  EXPECT_FALSE(driver->check(2, "taking memory"));
  EXPECT_FALSE(driver->is_lost());
  EXPECT_FALSE(driver->check(700, "running the kernel"));
  EXPECT_TRUE(driver->is_lost());
}

// A runner makes a device for each problem, and a context takes most of a second.
TEST(CudaDeviceTest, DevicesOfOneGpuHaveOneContext) {
  auto bodies = two_h200s();
  bodies["cuDevicePrimaryCtxRetain"] =
      "(void** context, int device) { static int retained; *context = (void*)8; "
      "return retained++ == 0 ? 0 : 2; }";
  const FakeDriver fake(bodies);
  const auto driver = open_driver(fake.library()).value();
  const auto facts = list_devices(*driver).value();
  const auto gpu = gpu::open_gpu(vendor(), driver, facts[0]);
  ASSERT_TRUE(gpu) << gpu.error().message;
  for (int problem = 0; problem < 3; ++problem) {
    const auto device = gpu::make_device(*gpu);
    ASSERT_TRUE(device) << device.error().message;
    EXPECT_EQ(gpu::gpu_of(**device, kKind), gpu::gpu_of(*gpu::make_device(*gpu).value(), kKind));
  }
  EXPECT_FALSE(gpu::open_gpu(vendor(), driver, facts[0]));
}

// The driver's variable has 64 bytes between two guards; what is launched writes one byte, by the
// launch's number of blocks: 1 within, 2 behind the end, 3 before the begin.
TEST(CudaKernelTest, TellsWhatIsWrittenBesideItsOwnMemory) {
  auto bodies = two_h200s();
  bodies["cuModuleGetGlobal_v2"] =
      "(unsigned long* address, unsigned long* bytes, void* module, const char* name) {"
      " static char memory[64 + 2 * 4096]; *address = (unsigned long)memory;"
      " *bytes = sizeof memory; return __builtin_strcmp(name, \"mine\") == 0 ? 0 : 500; }";
  bodies["cuMemsetD8_v2"] =
      "(unsigned long to, unsigned char value, unsigned long bytes)"
      " { __builtin_memset((void*)to, value, bytes); return 0; }";
  bodies["cuMemcpyDtoH_v2"] =
      "(void* to, unsigned long from, unsigned long bytes)"
      " { __builtin_memcpy(to, (void*)from, bytes); return 0; }";
  bodies["cuFuncGetAttribute"] =
      "(int* value, int attribute, void* function) { *value = attribute == 0 ? 1024 : 0; return 0; "
      "}";
  bodies["cuLaunchKernel"] =
      "(void* function, unsigned x) { unsigned long address, bytes;"
      " cuModuleGetGlobal_v2(&address, &bytes, 0, \"mine\");"
      " ((char*)address + 4096)[x == 1 ? 63 : x == 2 ? 70 : -2] = 1; return 0; }";
  const FakeDriver fake(bodies);
  const auto driver = open_driver(fake.library()).value();
  const auto gpu = gpu::open_gpu(vendor(), driver, list_devices(*driver).value()[0]).value();
  const auto device = gpu::make_device(gpu).value();
  const auto damage = [&](std::uint32_t blocks) {
    problem::Launch launch{.entry = "kernel", .grid = {blocks, 1, 1}};
    launch.own_memory = {{"mine", 64}};
    const auto kernel = device->load("ptx", ".target sm_80", launch);
    if (!kernel) return kernel.error().message;
    EXPECT_TRUE((*kernel)->launch({}));
    return (*kernel)->damage().value();
  };
  EXPECT_EQ(damage(1), "");
  EXPECT_EQ(damage(2), "writes outside of its scratch memory, at byte 70 of 64");
  EXPECT_EQ(damage(3), "writes outside of its scratch memory, at byte -2 of 64");

  problem::Launch other{.entry = "kernel"};
  other.own_memory = {{"mine", 128}};
  EXPECT_EQ(device->load("ptx", ".target sm_80", other).error().message,
            "the code's variable 'mine' has 8256 bytes, not 128 and two guards");
  other.own_memory = {{"yours", 64}};
  EXPECT_THAT(device->load("ptx", ".target sm_80", other).error().message,
              HasSubstr("the code has no variable 'yours'"));
}

using test::code_object;

TEST(CudaDeviceTest, CodeForAnotherGpuIsNotShownToTheDriver) {
  auto bodies = two_h200s();
  bodies["cuModuleLoadDataEx"] =
      "(void** module, const void* image, unsigned n, int* options, void** values) { return 200; }";
  bodies["cuGetErrorString"] =
      "(int code, const char** text) { *text = \"the driver was asked\"; return 0; }";
  const FakeDriver fake(bodies);
  const auto driver = open_driver(fake.library()).value();
  const auto facts = list_devices(*driver).value();
  const auto device = gpu::open_device(vendor(), driver, facts[0]);
  ASSERT_TRUE(device) << device.error().message;
  const auto refusal = [&](std::string_view format, const std::string& code) {
    const auto kernel = (*device)->load(format, code, {});
    EXPECT_FALSE(kernel);
    return kernel ? "" : kernel.error().message;
  };
  const std::string gfx942 = code_object(224, 3, 0x54c);
  EXPECT_EQ(refusal("cuda-cubin", code_object(190, 7, 0x500550)),
            "the code is for sm_80, not for sm_90 (NVIDIA H200)");
  EXPECT_EQ(refusal("cuda-cubin", code_object(190, 8, 0x0a006402)),
            "the code is for sm_100, not for sm_90 (NVIDIA H200)");
  EXPECT_EQ(refusal("cuda-cubin", gfx942), "the code is for gfx942, not for sm_90 (NVIDIA H200)");
  EXPECT_EQ(refusal("rocm-hsaco", gfx942), "the code is for gfx942, not for sm_90");
  EXPECT_THAT(refusal("cuda-cubin", code_object(190, 8, 0x0a005a04)),
              HasSubstr("the driver was asked"));
}

TEST(CudaLeaseTest, OneGpuIsHeldOnceWhateverItsIndex) {
  const auto folder = TemporaryFolder::create("hone-lease-");
  GpuFacts facts;
  facts.kind = kKind;
  facts.name = "NVIDIA H200";
  facts.id = "GPU-1";
  GpuFacts same = facts, other = facts;
  same.index = 3;
  other.id = "GPU-2";
  const auto first = gpu::lease(facts, {}, folder->path() / "leases");
  ASSERT_TRUE(first) << first.error().message;
  const auto second = gpu::lease(same, {}, folder->path() / "leases");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(second.error().message,
              HasSubstr("cuda:3 (NVIDIA H200, GPU-1) is leased by process"));
  EXPECT_THAT(second.error().message, HasSubstr("or give this run another GPU"));
  EXPECT_TRUE(gpu::lease(other, {}, folder->path() / "leases"));
}

// A command is refused at once, whether or not the other's runner is up.
TEST(CudaLeaseTest, ACommandHoldsItsGpuBesideItsRunner) {
  const auto folder = TemporaryFolder::create("hone-lease-");
  const auto leases = folder->path() / "leases";
  GpuFacts facts;
  facts.kind = kKind;
  facts.name = "NVIDIA H200";
  facts.id = "GPU-1";
  const auto command = gpu::lease_for_command(facts, leases);
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_TRUE(gpu::lease(facts, {}, leases));
  const auto other = gpu::lease_for_command(facts, leases);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::kEnvironment);
  EXPECT_EQ(
      other.error().message,
      fmt::format("cuda:0 (NVIDIA H200, GPU-1) is leased by process {}, which measures on it; "
                  "wait for it, or give this run another GPU",
                  getpid()));
}

TEST(NvmlTest, IsDoneWithoutWhereItIsMissing) {
  const auto nvml = Nvml::open("GPU-1", "libnvidia-ml-of-no-machine.so.1");
  ASSERT_FALSE(nvml);
  EXPECT_EQ(nvml.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(nvml.error().message, HasSubstr("clocks and throttling are not known"));
}

TEST(NvmlTest, NamesWhyAClockIsHeldDown) {
  EXPECT_THAT(throttle_words(0x1), IsEmpty());  // idle
  EXPECT_THAT(throttle_words(0x4), ElementsAre("power cap"));
  EXPECT_THAT(throttle_words(0x48), ElementsAre("hardware slowdown", "hardware slowdown by heat"));
  EXPECT_FALSE(disturbs(0x4));  // a large product runs at the cap
  EXPECT_TRUE(disturbs(0x20));
}

// 132 multiprocessors x 4096 x 1.83 GHz = 989 TFLOP/s, as NVIDIA states of H100 and H200.
TEST(PeakTest, IsThatOfNvidiasDataSheets) {
  EXPECT_NEAR(132 * tensor_flops_per_clock("sm_90") * 1.83e9, 989.4e12, 0.1e12);
  EXPECT_NEAR(108 * tensor_flops_per_clock("sm_80") * 1.41e9, 312e12, 0.5e12);
  EXPECT_EQ(tensor_flops_per_clock("sm_89"), 0);
}

TEST(NvrtcTest, IsDoneWithoutWhereItIsMissing) {
  const auto ptx = compile_cuda("", {"libnvrtc-of-no-machine.so"});
  ASSERT_FALSE(ptx);
  EXPECT_EQ(ptx.error().kind, ErrorKind::kEnvironment);
}

TEST(GpuStateTest, TravelsAsJson) {
  MachineState state;
  state.gpus.push_back({.gpu = 1,
                        .megahertz = 1980,
                        .most_megahertz = {},
                        .memory_megahertz = {},
                        .watts = 512.5,
                        .watt_limit = 700,
                        .celsius = {},
                        .throttled = {"power cap"},
                        .other_processes = 0});
  EXPECT_EQ(nlohmann::json(state).get<MachineState>(), state);
}

// Several looks at one GPU: what matters is the worst of them.
TEST(GpuStateTest, KeepsTheLowestClockAndEveryReason) {
  const auto seen = [](double megahertz, double watts, std::vector<std::string> throttled) {
    MachineState state;
    state.gpus.push_back({.gpu = 0,
                          .megahertz = megahertz,
                          .most_megahertz = 1980,
                          .memory_megahertz = {},
                          .watts = watts,
                          .watt_limit = 700,
                          .celsius = {},
                          .throttled = std::move(throttled),
                          .other_processes = {}});
    return state;
  };
  MachineState state = seen(1980, 500, {});
  add_gpus(state, seen(1755, 699, {"power cap"}));
  add_gpus(state, seen(1900, 650, {"power cap", "heat"}));
  EXPECT_EQ(state, seen(1755, 699, {"power cap", "heat"}));
}

}  // namespace
}  // namespace hone::device::cuda
