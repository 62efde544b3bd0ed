// Dispatches with their shares of a program's time, from rows with known numbers.
#include "output/measured_dispatch.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "output/session_report.h"

namespace hone::output {
namespace {

using store::Id;

class MeasuredDispatchTest : public testing::Test {
 protected:
  MeasuredDispatchTest() {
    build_ = *store_.intern(store::BuildRow{.compiler = "IREE", .flags = "[]", .target = "{}"});
    device_ = *store_.intern(store::DeviceRow{.name = "CPU", .driver = "", .protocol = "{}"});
    program_ = *store_.intern(store::ProgramRow{.hash = "p", .path = "p.mlir", .json = "{}"});
    operation_ = *store_.intern(store::OperationRow{.fingerprint = "op",
                                                    .kind = "matmul",
                                                    .description = "matmul",
                                                    .json = "{}",
                                                    .flops = 1e9,
                                                    .bytes = 0});
  }

  // The default of a dispatch takes so long, and a call launches it so often.
  void add(int ordinal, double seconds, int launches) {
    const std::string name = fmt::format("dispatch_{}", ordinal);
    const Id dispatch = *store_.intern(store::DispatchRow{
        .fingerprint = name, .name = name, .operation = operation_, .source = name, .json = "{}"});
    EXPECT_TRUE(store_.link_dispatch({program_, dispatch, ordinal, launches}));
    const Id id = *store_.add_candidate(
        {.dispatch = dispatch, .build = build_, .provider = "iree", .configuration = "{}"});
    EXPECT_TRUE(store_.record(
        store::ArtifactRow{.candidate = id, .identity = name, .format = "f", .launch = "{}"}));
    EXPECT_TRUE(store_.record(store::VerificationRow{
        .dispatch = dispatch, .identity = name, .device = device_, .right = true}));
    EXPECT_TRUE(store_.record(
        store::Measurement{.dispatch = dispatch,
                           .identity = name,
                           .device = device_,
                           .phase = store::Phase::kFinalist,
                           .timing = {.samples = {seconds}, .min = seconds, .median = seconds},
                           .sentinel_ratio = 1,
                           .machine = "{}"}));
  }
  std::vector<MeasuredDispatch> measured() {
    return *measured_dispatches(store_, program_, build_, device_);
  }
  std::string closing() { return dispatch_table(store_, program_, build_, device_, {})->to_text(); }

  TemporaryFolder folder_ = std::move(TemporaryFolder::create("hone-output-").value());
  store::Store store_ =
      std::move(store::Store::open(folder_.path() / "hone.db", store::Mode::kReadWrite).value());
  Id build_ = 0, device_ = 0, program_ = 0, operation_ = 0;
};

// 2 x 3 ms and 1 x 2 ms of 8 ms.
TEST_F(MeasuredDispatchTest, AShareIsOfTheTimeOfAllLaunches) {
  add(0, 2e-3, 1);
  add(1, 3e-3, 2);
  const std::vector<MeasuredDispatch> dispatches = measured();
  ASSERT_EQ(dispatches.size(), 2u);
  EXPECT_EQ(dispatches[0].row.name, "dispatch_0");  // few: in the program's order
  EXPECT_DOUBLE_EQ(*dispatches[0].share, 0.25);
  EXPECT_DOUBLE_EQ(*dispatches[1].share, 0.75);
  EXPECT_EQ(closing().find("share"), std::string::npos);
}

// 1 + 2 + ... + 21 = 231 ms.
TEST_F(MeasuredDispatchTest, AListLongerThanTwentyIsSortedByShare) {
  for (int i = 0; i < 21; ++i) add(i, 1e-3 * (i + 1), 1);
  const std::vector<MeasuredDispatch> dispatches = measured();
  ASSERT_EQ(dispatches.size(), 21u);
  EXPECT_EQ(dispatches.front().row.name, "dispatch_20");
  EXPECT_NEAR(*dispatches.front().share, 21.0 / 231, 1e-9);
  EXPECT_EQ(dispatches.back().row.name, "dispatch_0");
  const std::string text = closing();
  EXPECT_NE(text.find("  share  "), std::string::npos) << text;
  EXPECT_NE(text.find("9.1 %"), std::string::npos) << text;  // 100 * 21 / 231 = 9.09
}

}  // namespace
}  // namespace hone::output
