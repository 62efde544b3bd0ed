#include "device/cpu/target.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "device/cpu/machine_state.h"

namespace hone::device::cpu {
namespace {

using testing::ElementsAre;

TEST(TargetTest, ReadsTheFirstProcessorOfCpuinfo) {
  const auto target = target_from_cpuinfo(
      "processor\t: 0\nmodel name\t: AMD EPYC 9B45\nflags\t\t: fpu sse2 avx2 fma avx512f\n\n"
      "processor\t: 1\nmodel name\t: another\nflags\t\t: fpu\n");
  EXPECT_EQ(target.cpu, "AMD EPYC 9B45");
  EXPECT_THAT(target.features, ElementsAre("fpu", "sse2", "avx2", "fma", "avx512f"));
  EXPECT_EQ(target.vector_bits, 512);
  EXPECT_EQ(target.vector_registers, 32);
}

TEST(TargetTest, VectorRegistersFollowTheWidestSet) {
  const auto avx2 = target_from_cpuinfo("flags : sse2 avx avx2\n");
  EXPECT_EQ(avx2.vector_bits, 256);
  EXPECT_EQ(avx2.vector_registers, 16);
  const auto sse = target_from_cpuinfo("flags : sse2\n");
  EXPECT_EQ(sse.vector_bits, 128);
  EXPECT_EQ(sse.vector_registers, 16);
  const auto arm = target_from_cpuinfo("Features : fp asimd\n");
  EXPECT_EQ(arm.vector_bits, 128);
  EXPECT_EQ(arm.vector_registers, 32);
}

TEST(TargetTest, AnArmIsNamedByItsNumbers) {
  // A Neoverse N1, as Linux 5.10 shows it.
  const auto arm = target_from_cpuinfo(
      "processor\t: 0\nBogoMIPS\t: 243.75\nFeatures\t: fp asimd atomics fphp asimdhp asimddp\n"
      "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n");
  EXPECT_EQ(arm.cpu, "Arm 0x41 part 0xd0c");
  EXPECT_EQ(arm.features.back(), "asimddp");
}

TEST(TargetTest, ReadsCacheSizesAsSysfsWritesThem) {
  EXPECT_EQ(parse_cache_size("48K"), 49152);
  EXPECT_EQ(parse_cache_size("2M"), 2097152);
  EXPECT_EQ(parse_cache_size("1024"), 1024);
  EXPECT_EQ(parse_cache_size(""), 0);
  EXPECT_EQ(parse_cache_size("big"), 0);
}

TEST(TargetTest, ThisMachineHasACoreAndCaches) {
  const auto target = detect_target();
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_GE(target->cores, 1);
  EXPECT_EQ(target->cores, static_cast<int>(available_cores().size()));
  EXPECT_GT(target->l1d_bytes, 0);
  EXPECT_GE(target->l2_bytes, target->l1d_bytes);
  EXPECT_FALSE(target->features.empty());
}

TEST(TargetTest, DeviceIdentityIsTheSameTwice) {
  EXPECT_EQ(device_identity(), device_identity());
  EXPECT_EQ(device_identity().at("kind"), "cpu");
}

TEST(ProcessStatTest, ReadsWhatTheKernelWrites) {
  // proc(5): pid (comm) state ppid ... utime(14) stime(15) ... num_threads(20) ... processor(39).
  const auto stat = parse_process_stat(
      "4711 (a (b) c) R 12 4711 4711 0 -1 4194304 100 0 0 0 250 30 0 0 20 0 3 0 9999 1000 10 "
      "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 5 0 0 0 0 0");
  EXPECT_EQ(stat,
            (ProcessStat{.name = "a (b) c", .parent = 12, .ticks = 280, .threads = 3, .core = 5}));
  EXPECT_EQ(parse_process_stat("4711 (cut off) R 12"), std::nullopt);
  EXPECT_EQ(parse_process_stat(""), std::nullopt);
}

TEST(ProcessSamplerTest, LeavesItselfOutAndHasNoPastAtFirst) {
  ProcessSampler sampler(available_cores());
  EXPECT_TRUE(sampler.sample().empty());
  for (const BusyProcess& process : sampler.sample()) {
    EXPECT_NE(process.pid, getpid());
    EXPECT_GT(process.share, 0);
  }
}

TEST(MachineStateTest, SurvivesJson) {
  MachineState state{.load_1min = 1.5,
                     .runnable = 3,
                     .seconds = 2,
                     .involuntary_switches = 7,
                     .background = 0.25,
                     .cores = {}};
  state.cores.push_back({.core = 0,
                         .busy = 0.5,
                         .stolen = 0.1,
                         .megahertz = {},
                         .throttles = 4,
                         .governor = "performance"});
  state.processes.push_back({.pid = 4711, .name = "cc1plus", .share = 1.5, .core = 1});
  EXPECT_EQ(nlohmann::json(state).get<MachineState>(), state);
}

TEST(MachineStateTest, SharesLieBetweenZeroAndOne) {
  const std::vector<int> cores = available_cores();
  MachineSampler sampler(cores);
  const MachineState first = sampler.sample();
  EXPECT_EQ(first.cores.size(), cores.size());
  EXPECT_FALSE(first.background);  // nothing to compare with
  const MachineState second = sampler.sample();
  EXPECT_GE(second.seconds, 0);
  for (const CoreState& core : second.cores) {
    EXPECT_GE(core.busy.value_or(0), 0);
    EXPECT_LE(core.busy.value_or(0), 1);
  }
}

}  // namespace
}  // namespace hone::device::cpu
