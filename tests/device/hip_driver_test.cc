// HIP on a machine without it, with an old or another one, and what its devices are. Kernels run on
// the emulator of tests/amd.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "device/gpu/comparer.h"
#include "device/gpu/device.h"
#include "device/hip/driver.h"
#include "device/hip/gpu.h"
#include "device/hip/kind.h"
#include "device/hip/own_kernels.h"
#include "tests/device/fake_hip.h"
#include "tests/problem/code_object.h"

namespace hone::device::hip {
namespace {

using test::FakeHip;
using test::one_mi300x;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A folder of a machine's files.
class Root {
 public:
  void write(const std::string& file, const std::string& text) {
    EXPECT_TRUE(write_file_atomically(folder_.path() / file, text));
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_ = std::move(TemporaryFolder::create("hone-root-").value());
};

// KFD's node of an MI300X at 0000:05:00.0, partition `partition` of it.
void write_node(Root& root, int node, unsigned partition, int xccs) {
  const std::string folder = fmt::format("sys/class/kfd/kfd/topology/nodes/{}/", node);
  root.write(folder + "properties",
             fmt::format("cpu_cores_count 0\nsimd_count {}\nnum_xcc {}\nlocation_id {}\ndomain 0\n",
                         152 * xccs, xccs, 0x500u | partition << 28));
  root.write(folder + "gpu_id", fmt::format("{}\n", 51000 + node));
  root.write(folder + "caches/0/properties", "level 1\nsize 32\n");
  root.write(folder + "caches/1/properties", "level 2\nsize 4096\n");
  root.write(folder + "caches/2/properties", "level 3\nsize 262144\n");
}

Error error_of(const std::map<std::string, std::string>& bodies) {
  const FakeHip fake(bodies);
  const auto driver = open_driver(fake.library());
  EXPECT_FALSE(driver);
  return driver ? Error{} : driver.error();
}

std::vector<GpuFacts> devices_of(const std::map<std::string, std::string>& bodies,
                                 const std::filesystem::path& root) {
  const FakeHip fake(bodies);
  const auto driver = open_driver(fake.library());
  EXPECT_TRUE(driver) << driver.error().message;
  const auto devices = list_devices(**driver, root);
  EXPECT_TRUE(devices) << devices.error().message;
  return devices.value_or(std::vector<GpuFacts>());
}

TEST(HipDriverTest, AMissingLibraryIsAnErrorOfTheEnvironment) {
  const auto driver = open_driver("/nowhere/libamdhip64.so");
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(
      driver.error().message,
      AllOf(HasSubstr("AMD's HIP runtime is not available"), HasSubstr("/nowhere/libamdhip64.so"),
            HasSubstr("name libamdhip64.so with --hip or HONE_HIP")));
}

TEST(HipDriverTest, AMissingFunctionIsNamed) {
  auto bodies = one_mi300x();
  bodies["hipModuleLoadDataEx"] = "";
  const Error error = error_of(bodies);
  EXPECT_EQ(error.kind, ErrorKind::kEnvironment);
  EXPECT_THAT(error.message, HasSubstr("has no function hipModuleLoadDataEx: it is no HIP runtime "
                                       "of version 5 or later; name another with --hip"));
}

// Both codes were seen: 100 from HIP 6 and 7, 101 from Debian's HIP 5.2.3.
TEST(HipDriverTest, AMachineWithoutAGpuIsAnErrorOfTheEnvironment) {
  for (const char* code : {"100", "101"}) {
    const Error error =
        error_of({{"hipInit", fmt::format("(unsigned flags) {{ return {}; }}", code)}});
    EXPECT_EQ(error.kind, ErrorKind::kEnvironment);
    EXPECT_THAT(error.message, HasSubstr("finds no AMD GPU on this machine"));
    EXPECT_THAT(error.message, HasSubstr("libamdhip64.so.7"));
  }
}

TEST(HipDriverTest, AnOldRuntimeIsNamedWithItsVersion) {
  auto bodies = one_mi300x();
  bodies["hipDriverGetVersion"] = "(int* version) { *version = 40421401; return 0; }";
  EXPECT_THAT(error_of(bodies).message, HasSubstr("is too old: it is HIP 4.4.21401, hone needs 5"));
}

TEST(HipDriverTest, OpensTheFileOfAFolderAndSaysWhich) {
  for (const char* file : {"libamdhip64.so", "libamdhip64.so.5", "libamdhip64.so.6"}) {
    const FakeHip fake(one_mi300x(), file);
    const auto driver = open_driver(fake.folder());
    ASSERT_TRUE(driver) << driver.error().message;
    EXPECT_EQ((*driver)->library(), fake.library());
  }
}

TEST(HipDriverTest, ErrorsAreInTheRuntimesWords) {
  const FakeHip fake(one_mi300x());
  const auto driver = open_driver(fake.library()).value();
  EXPECT_EQ(driver->check(700, "running the kernel").error().message,
            "running the kernel: an illegal memory access was encountered "
            "(hipErrorIllegalAddress)");
  EXPECT_TRUE(driver->is_lost());
}

// Without these a kernel's illegal access ends the process, and leaves a file of gigabytes.
TEST(HipDriverTest, FaultsAreErrorsAndLeaveNoDump) {
  unsetenv("HIP_SKIP_ABORT_ON_GPU_ERROR");
  const FakeHip fake(one_mi300x());
  ASSERT_TRUE(open_driver(fake.library()));
  EXPECT_STREQ(std::getenv("HIP_SKIP_ABORT_ON_GPU_ERROR"), "1");
  rlimit core{};
  ASSERT_EQ(getrlimit(RLIMIT_CORE, &core), 0);
  EXPECT_EQ(core.rlim_cur, 0u);
}

TEST(HipLibraryTest, WheelsComeBeforeTheSystemsAndVersionsFromTheNewest) {
  Root root;
  const auto packages = root.path() / "lib/python3.12/site-packages";
  root.write("lib/python3.12/site-packages/torch/lib/libamdhip64.so", "");
  root.write("lib/python3.12/site-packages/_rocm_sdk_core/lib/libamdhip64.so.7", "");
  root.write("libs/libamdhip64.so.5", "");
  root.write("libs/libamdhip64.so.6", "");
  root.write("rocm/lib/libamdhip64.so.7", "");
  setenv("VIRTUAL_ENV", root.path().c_str(), 1);
  setenv("LD_LIBRARY_PATH", (root.path() / "libs").c_str(), 1);
  setenv("ROCM_PATH", (root.path() / "rocm").c_str(), 1);
  const std::vector<std::string> names = library_names("libamdhip64", "");
  for (const char* name : {"VIRTUAL_ENV", "LD_LIBRARY_PATH", "ROCM_PATH"}) unsetenv(name);
  ASSERT_GE(names.size(), 9u);
  const auto path = [&](const char* file) { return (root.path() / file).string(); };
  const std::vector<std::string> first(names.begin(), names.begin() + 9);
  EXPECT_THAT(first, ElementsAre((packages / "_rocm_sdk_core/lib/libamdhip64.so.7").string(),
                                 (packages / "torch/lib/libamdhip64.so").string(),
                                 path("libs/libamdhip64.so.6"), path("libs/libamdhip64.so.5"),
                                 path("rocm/lib/libamdhip64.so.7"), "libamdhip64.so.7",
                                 "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"));
}

TEST(HipLibraryTest, TheUserNamesTheFileOrTheFolderOfRocm) {
  Root root;
  root.write("rocm/lib/libamdhip64.so.7", "");
  const std::string file = (root.path() / "rocm/lib/libamdhip64.so.7").string();
  EXPECT_THAT(library_names("libamdhip64", file), ElementsAre(file));
  EXPECT_THAT(library_names("libamdhip64", root.path() / "rocm"), ElementsAre(file));
  EXPECT_THAT(library_names("libamdhip64", root.path()),
              ElementsAre((root.path() / "libamdhip64.so").string()));
}

// hip_runtime_api.h of 5.2.3, 6.4.3 and 7.2.4: one column each, 0 where a version has it not.
TEST(HipAbiTest, NumbersAreThoseOfThreeVersions) {
  struct Row {
    int own, hip5, hip6, hip7;
  };
  for (const Row& row :
       {Row{kAttributeClockRate, 5, 5, 5}, Row{kAttributeL2CacheSize, 19, 19, 19},
        Row{kAttributeMaxThreadsPerBlock, 56, 56, 56},
        Row{kAttributeMultiprocessorCount, 63, 63, 63},
        Row{kAttributeMaxSharedMemoryPerBlock, 74, 74, 74}, Row{kAttributeWarpSize, 87, 87, 87},
        Row{kAttributeWallClockRate, 0, 10017, 10017}, Row{kAttributeNumberOfXccs, 0, 0, 10018}})
    for (const int there : {row.hip5, row.hip6, row.hip7})
      EXPECT_TRUE(there == 0 || there == row.own) << row.own;
  EXPECT_EQ(kPropertiesR0600.bytes, 1472u);
  EXPECT_EQ(kPropertiesR0600.arch_name, 1160u);
  EXPECT_EQ(kPropertiesR0000.bytes, 792u);
  EXPECT_EQ(kPropertiesR0000.arch_name, 396u);
  EXPECT_EQ(version_text(70253211), "7.2.53211");
  EXPECT_EQ(version_text(50221153), "5.2.21153");
}

TEST(HipDevicesTest, AreListedWithTheirFacts) {
  Root root;
  write_node(root, 1, 0, 8);
  root.write("sys/bus/pci/devices/0000:05:00.0/current_compute_partition", "SPX\n");
  root.write("sys/bus/pci/devices/0000:05:00.0/current_memory_partition", "NPS1\n");
  const auto devices = devices_of(one_mi300x(), root.path());
  ASSERT_EQ(devices.size(), 1u);
  const GpuFacts& gpu = devices.front();
  EXPECT_EQ(gpu.name, "AMD Instinct MI300X");
  EXPECT_EQ(gpu.isa, "gfx942:sramecc+:xnack-");
  EXPECT_EQ(gpu.arch, "gfx942");
  EXPECT_EQ(gpu.units, 304);
  EXPECT_EQ(gpu.xccs, 8);
  EXPECT_EQ(gpu.wave_size, 64);
  EXPECT_EQ(gpu.shared_bytes, 65536);
  EXPECT_EQ(gpu.megahertz, 2100);
  EXPECT_EQ(gpu.l2_bytes, 4 << 20);
  EXPECT_EQ(gpu.last_level_cache_bytes, 256 << 20);
  EXPECT_EQ(gpu.memory_bytes, std::int64_t{192} << 30);
  EXPECT_EQ(gpu.gpu_id, 51001u);
  EXPECT_EQ(gpu.id, "GPU-1a2b3c4d5e6f7081-0000:05:00.0-8x304-SPX-NPS1");
  EXPECT_FALSE(gpu.emulated);
  const Place place = place_of(gpu, "/opt/rocm/lib/libamdhip64.so.7", {0, 1});
  EXPECT_EQ(place.facts.description,
            "AMD Instinct MI300X: gfx942, 304 compute units of 8 dies, 192 GiB, LDS 64 KiB, "
            "last-level cache 256 MiB, HIP 7.2.53211, partition SPX/NPS1");
  EXPECT_EQ(place.address.library, "/opt/rocm/lib/libamdhip64.so.7");
  EXPECT_TRUE(place.facts.no_programs.empty());
  EXPECT_EQ(nlohmann::json::parse(place.facts.identity),
            nlohmann::json({{"identity",
                             {{"kind", "hip"},
                              {"name", "AMD Instinct MI300X"},
                              {"arch", "gfx942:sramecc+:xnack-"},
                              {"compute_units", 304},
                              {"xccs", 8},
                              {"partition", "SPX/NPS1"},
                              {"memory_bytes", std::int64_t{192} << 30},
                              {"driver_version", 70253211}}}}));
}

// A rotation within 4 MiB would measure the Infinity Cache.
TEST(HipDevicesTest, TheInfinityCacheCountsWhereTheKernelDoesNotStateIt) {
  EXPECT_EQ(devices_of(one_mi300x(), Root().path()).at(0).last_level_cache_bytes, 256 << 20);
  auto other = one_mi300x();
  other["hipGetDevicePropertiesR0600"] =
      "(char* p, int d) { __builtin_strcpy(p + 1160, \"gfx90a:sramecc+:xnack-\"); return 0; }";
  EXPECT_EQ(devices_of(other, Root().path()).at(0).last_level_cache_bytes, 4 << 20);
}

// HIP 5 has the older structure only, and neither dies nor programs.
TEST(HipDevicesTest, OfHip5RunKernelsAndNoPrograms) {
  auto bodies = one_mi300x();
  bodies["hipDriverGetVersion"] = "(int* version) { *version = 50221153; return 0; }";
  bodies["hipGetDevicePropertiesR0600"] = "";
  bodies["hipGetDeviceProperties"] =
      "(char* p, int d) { __builtin_strcpy(p + 396, \"gfx90a:sramecc+:xnack-\"); return 0; }";
  const auto devices = devices_of(bodies, Root().path());
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].arch, "gfx90a");
  EXPECT_EQ(place_of(devices[0], "", {}).facts.no_programs,
            "HIP 5.2.21153 runs kernels only: whole programs need HIP 6 or later");
}

// Two partitions of one card: UUID and bus address are the same, and the number of dies is its own.
TEST(HipDevicesTest, PartitionsOfOneGpuAreDevicesOfTheirOwn) {
  Root root;
  write_node(root, 1, 0, 1);
  write_node(root, 2, 1, 1);
  root.write("sys/bus/pci/devices/0000:05:00.0/current_compute_partition", "CPX\n");
  root.write("sys/bus/pci/devices/0000:05:00.0/current_memory_partition", "NPS4\n");
  auto bodies = one_mi300x();
  bodies["hipGetDeviceCount"] = "(int* count) { *count = 2; return 0; }";
  bodies["hipDeviceGetPCIBusId"] =
      "(char* id, int n, int d) { __builtin_strcpy(id, \"0000:05:00.0\"); id[11] += d; return 0; }";
  bodies["hipDeviceGetAttribute"] =
      "(int* value, int a, int d) { *value = a == 63 ? 38 : a == 87 ? 64 : a == 19 ? 4 << 20 : "
      "65536; return a == 10018 ? 1 : 0; }";
  const auto devices = devices_of(bodies, root.path());
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].id, "GPU-1a2b3c4d5e6f7081-0000:05:00.0-1x38-CPX-NPS4");
  EXPECT_EQ(devices[1].id, "GPU-1a2b3c4d5e6f7081-0000:05:00.1-1x38-CPX-NPS4");
  EXPECT_EQ(devices[1].gpu_id, 51002u);
  EXPECT_EQ(devices[1].partition, (Partition{"CPX", "NPS4"}));
}

TEST(HipDevicesTest, VariablesThatMakeAGpuAnotherAreListed) {
  const char* const environment[] = {"HOME=/root", "HSA_OVERRIDE_GFX_VERSION=9.4.2",
                                     "HSA_OVERRIDE_GFX_VERSION_1=11.0.0",
                                     "HSA_OVERRIDE_GFX_VERSION_2=", nullptr};
  EXPECT_THAT(overrides_in(environment),
              ElementsAre("HSA_OVERRIDE_GFX_VERSION=9.4.2", "HSA_OVERRIDE_GFX_VERSION_1=11.0.0"));
  GpuFacts facts;
  facts.overrides = {"HSA_OVERRIDE_GFX_VERSION=9.4.2"};
  EXPECT_THAT(place_of(facts, "", {}).facts.identity, HasSubstr("HSA_OVERRIDE_GFX_VERSION=9.4.2"));
}

TEST(HipDevicesTest, AnEmulatorSaysThatItIsOne) {
  auto bodies = one_mi300x();
  bodies["hipDeviceGetUuid"] =
      "(char* uuid, int d) { __builtin_memcpy(uuid, \"emulated-gfx942\", 16); return 0; }";
  const auto devices = devices_of(bodies, Root().path());
  EXPECT_TRUE(devices.at(0).emulated);
  const Place place = place_of(devices[0], "", {});
  EXPECT_TRUE(place.facts.emulated);
  EXPECT_THAT(place.facts.identity, HasSubstr("\"emulated\":true"));
}

TEST(HipDeviceTest, CodeForAnotherGpuIsNotShownToTheRuntime) {
  auto bodies = one_mi300x();
  bodies["hipModuleLoadDataEx"] =
      "(void** module, void* image, unsigned n, int* options, void** values) { return n == 0 ? 700 "
      ": 1; }";
  const FakeHip fake(bodies);
  const auto driver = open_driver(fake.library()).value();
  const auto facts = list_devices(*driver, Root().path()).value();
  const auto device = gpu::open_device(vendor(), driver, facts.at(0));
  ASSERT_TRUE(device) << device.error().message;
  EXPECT_EQ((*device)->kind(), "hip");
  const auto refusal = [&](std::string_view format, const std::string& code) {
    return (*device)->load(format, code, {}).error().message;
  };
  EXPECT_EQ(refusal("rocm-hsaco", test::code_object(224, 3, 0x54f)),
            "the code is for gfx950, not for gfx942 (AMD Instinct MI300X)");
  EXPECT_EQ(refusal("cuda-ptx", ".target sm_80"), "an AMD GPU runs code objects, not 'cuda-ptx'");
  EXPECT_FALSE((*device)->is_lost());
  EXPECT_THAT(refusal("rocm-hsaco", test::code_object(224, 3, 0x54c)),
              HasSubstr("the driver cannot load the code: an illegal memory access"));
  EXPECT_TRUE((*device)->is_lost());
}

// A machine without hiprtc: launches are timed without a pause, and outputs compared on the host.
TEST(HipDeviceTest, IsUsedWithoutARunTimeCompiler) {
  const FakeHip fake(one_mi300x());
  const auto driver = open_driver(fake.library()).value();
  const auto facts = list_devices(*driver, Root().path()).value();
  const auto device = gpu::open_device(vendor(), driver, facts.at(0)).value();
  const auto fixed = device->calibration_kernel();  // a copy
  ASSERT_NE(fixed, nullptr);
  EXPECT_TRUE(fixed->launch({}));
  const auto difference = device->difference(nullptr, nullptr, problem::ElementType::kF32, 1, 0, 0);
  ASSERT_TRUE(difference) << difference.error().message;
  EXPECT_FALSE(*difference);
  EXPECT_EQ(device->measure_peak().gflops, 0);
}

TEST(HiprtcTest, IsDoneWithoutWhereItIsMissing) {
  const auto code = compile_hip("", "gfx942", {"libhiprtc-of-no-machine.so"});
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().kind, ErrorKind::kEnvironment);
}

// Debian's libamdhip64-5 compiles without a GPU; its LLVM knows gfx90a.
TEST(HiprtcTest, CompilesHonesOwnKernels) {
  for (const std::string& source :
       {work_source("gfx90a", 100'000),
        gpu::comparison_source("return (float)__builtin_bit_cast(_Float16, bits);")}) {
    const auto code = compile_hip(source, "gfx90a", hiprtc_names("libamdhip64.so.5"));
    if (!code && code.error().kind == ErrorKind::kEnvironment) GTEST_SKIP() << code.error().message;
    ASSERT_TRUE(code) << code.error().message;
    EXPECT_THAT(*code, testing::StartsWith("\x7f"
                                           "ELF"));
  }
}

TEST(HiprtcTest, IsTriedBesideTheRuntimeFirst) {
  Root root;
  root.write("lib/libhiprtc.so.7", "");
  const std::string driver = (root.path() / "lib/libamdhip64.so.7").string();
  const std::vector<std::string> names = hiprtc_names(driver);
  EXPECT_EQ(names.front(), (root.path() / "lib/libhiprtc.so.7").string());
  EXPECT_EQ(names.back(), driver);
}

// 304 compute units x 2048 x 2.1 GHz = 1307 TFLOP/s, as AMD states of MI300X.
TEST(HipPeakTest, IsThatOfAmdsDataSheets) {
  EXPECT_NEAR(304 * matrix_flops_per_clock("gfx942") * 2.1e9, 1307.4e12, 0.1e12);
  EXPECT_NEAR(256 * matrix_flops_per_clock("gfx950") * 2.4e9, 2516.6e12, 0.1e12);
  EXPECT_EQ(matrix_flops_per_clock("gfx1100"), 0);
}

TEST(HipAccessTest, NamesTheFileThatMayNotBeOpened) {
  if (geteuid() == 0) GTEST_SKIP() << "root may open everything";
  Root root;
  root.write("dev/kfd", "");
  EXPECT_EQ(access_problem(root.path()), "");
  std::filesystem::permissions(root.path() / "dev/kfd", std::filesystem::perms::none);
  EXPECT_THAT(access_problem(root.path()),
              AllOf(HasSubstr("dev/kfd"), HasSubstr("usermod -aG render,video")));
}

TEST(HipAccessTest, NothingIsWrongWithoutAnAmdGpu) {
  EXPECT_EQ(access_problem(Root().path()), "");
}

}  // namespace
}  // namespace hone::device::hip
