// The emulated gfx942 as a device: a kernel of IREE's that doubles 64 floats.
#include <gmock/gmock.h>

#include <array>
#include <cstring>

#include "base/file.h"
#include "device/emulated/device.h"
#include "device/emulated/kind.h"
#include "emulator/code_object.h"

namespace hone::device::emulated {
namespace {

using testing::HasSubstr;

constexpr char kKernel[] = "main_dispatch_0_elementwise_64_f32";
constexpr std::size_t kBytes = 64 * sizeof(float);

std::string code() {
  return read_file(std::string(HONE_SOURCE_DIR) + "/tests/fuzz/corpus/code_object/code-object")
      .value();
}

class EmulatedDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const Status there = emulator::check_disassembler(); !there)
      GTEST_SKIP() << there.error().message;
  }
  Result<std::unique_ptr<Kernel>> load(const std::string& file) {
    return device_->load("rocm-hsaco", file, {.entry = kKernel, .block = {64, 1, 1}});
  }
  std::unique_ptr<Device> device_ = make_device();
};

TEST_F(EmulatedDeviceTest, RunsAKernelOverItsMemory) {
  const auto kernel = load(code());
  ASSERT_TRUE(kernel) << kernel.error().message;
  std::array<float, 64> in{}, out{};
  for (std::size_t i = 0; i < 64; ++i) in[i] = static_cast<float>(i);
  const Memory from = *Memory::allocate(*device_, kBytes), to = *Memory::allocate(*device_, kBytes);
  ASSERT_TRUE(device_->upload(from.data(), std::as_bytes(std::span(in))));
  const std::array<Buffer, 2> bindings{Buffer{from.data(), kBytes}, Buffer{to.data(), kBytes}};
  for (int launch = 0; launch < 2; ++launch) ASSERT_TRUE((*kernel)->launch(bindings));
  ASSERT_TRUE(device_->download(std::as_writable_bytes(std::span(out)), to.data()));
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], 2 * in[i]);
  EXPECT_FALSE(device_->is_lost());
  const auto timed = device_->time(**kernel, {}, 0, 1);
  ASSERT_FALSE(timed);
  EXPECT_EQ(timed.error().message, "the emulator has no clock: it verifies, and times nothing");
}

TEST_F(EmulatedDeviceTest, IsLostByAnAccessOutsideItsMemory) {
  const auto kernel = load(code());
  ASSERT_TRUE(kernel) << kernel.error().message;
  const Memory from = *Memory::allocate(*device_, kBytes),
               to = *Memory::allocate(*device_, kBytes / 2);
  const std::array<Buffer, 2> bindings{Buffer{from.data(), kBytes}, Buffer{to.data(), kBytes / 2}};
  const Status ran = (*kernel)->launch(bindings);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind, ErrorKind::kFailure);
  EXPECT_THAT(ran.error().message, HasSubstr("Memory access fault by GPU node-1"));
  EXPECT_TRUE(device_->is_lost());
}

// Code that may be right, and code that is not for this device.
TEST_F(EmulatedDeviceTest, TellsItsOwnLimitsFromFaultsOfTheCode) {
  const auto cut = load(code().substr(0, 2000));
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(cut.error().message, HasSubstr("the emulator cannot read the code"));
  std::string other = code();
  other[48] = 0x3f;  // e_flags: gfx90a
  const auto foreign = load(other);
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().kind, ErrorKind::kFailure);
  EXPECT_THAT(foreign.error().message, HasSubstr("gfx90a"));
  const auto text = device_->load("ptx", "", {});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "the emulator runs code objects of gfx942, not 'ptx'");
}

TEST(EmulatedKind, IsNoDeviceThatATargetChooses) {
  EXPECT_FALSE(kind().runs("gfx942"));
  const Place place = place_of({1});
  EXPECT_TRUE(place.facts.emulated);
  EXPECT_THAT(place.facts.identity, HasSubstr("\"emulated\":true"));
  EXPECT_EQ(place.address.cores, std::vector<int>{1});
}

}  // namespace
}  // namespace hone::device::emulated
