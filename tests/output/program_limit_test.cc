// Roofline time of a whole program, from dispatches of known work.
#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "output/report_page.h"

namespace hone::output {
namespace {

using store::DispatchView;
using store::ProgramDispatch;
using testing::ElementsAre;
using testing::Field;
using testing::Optional;
using testing::SizeIs;

constexpr store::Id kDevice = 1;
constexpr Peaks kPeaks{.f32 = 1e12, .bandwidth = 100e9};

// A matmul of `build` that was compiled, but not measured.
DispatchView matmul(store::Id id, store::Id build, double flops, double bytes,
                    const std::string& type = "f32") {
  DispatchView row;
  row.dispatch = id;
  row.name = "dispatch_" + std::to_string(id);
  row.build = build;
  row.kind = "matmul";
  row.input_type = type;
  row.flops = flops;
  row.bound_bytes = bytes;
  return row;
}

ProgramDispatch launched(store::Id id, std::int64_t launches) {
  return {.program = 1, .dispatch = id, .launches_per_call = launches};
}

std::string why_unknown(const DispatchView& row, const Peaks& peaks) {
  const std::vector<ProgramLimit> limits =
      program_limits({launched(row.dispatch, 1)}, {row}, kDevice, peaks);
  EXPECT_THAT(limits, SizeIs(1));
  EXPECT_EQ(limits.front().seconds, std::nullopt);
  return limits.front().why_unknown;
}

// 4e9 operations take 4 ms at 1 TFLOP/s, their 1e8 bytes 1 ms at 100 GB/s: 4 ms, twice. 1e9
// operations take 1 ms, their 5e8 bytes 5 ms: 5 ms, three times. 8 + 15 = 23 ms.
TEST(ProgramLimit, AddsUpRooflineTimesOfAllLaunches) {
  const auto limits =
      program_limits({launched(1, 2), launched(2, 3)},
                     {matmul(1, 7, 4e9, 1e8), matmul(2, 7, 1e9, 5e8)}, kDevice, kPeaks);
  ASSERT_THAT(limits, SizeIs(1));
  EXPECT_EQ(limits.front().build, 7);
  EXPECT_THAT(limits.front().seconds, Optional(testing::DoubleEq(23e-3)));
}

TEST(ProgramLimit, AMeasuredTimeBelowTheRooflineCounts) {
  DispatchView row = matmul(1, 7, 0, 1e8);  // 1 ms from memory
  row.best = store::CandidateView{.median_seconds = 0.4e-3};
  const auto limits = program_limits({launched(1, 2)}, {row}, kDevice, kPeaks);
  EXPECT_THAT(limits, ElementsAre(Field(&ProgramLimit::seconds, Optional(0.8e-3))));
}

// Builds may split a program in different ways. Without candidates, a dispatch does not tell which
// split it is of.
TEST(ProgramLimit, EachBuildHasTheLimitOfItsOwnDispatches) {
  const std::vector<ProgramDispatch> launches{launched(1, 1), launched(2, 1), launched(3, 1)};
  const DispatchView untried = matmul(3, 0, 2e9, 0);
  EXPECT_THAT(program_limits(launches, {matmul(1, 7, 1e9, 0), untried}, kDevice, kPeaks),
              ElementsAre(Field(&ProgramLimit::seconds, Optional(3e-3))));
  EXPECT_THAT(program_limits(launches, {matmul(1, 7, 1e9, 0), matmul(2, 8, 5e9, 0), untried},
                             kDevice, kPeaks),
              ElementsAre(Field(&ProgramLimit::seconds, Optional(1e-3)),
                          Field(&ProgramLimit::seconds, Optional(5e-3))));
}

TEST(ProgramLimit, LeavesOutOtherProgramsDevicesAndWhatIsNeverLaunched) {
  DispatchView elsewhere = matmul(2, 7, 1e9, 0);
  elsewhere.device = kDevice + 1;
  const DispatchView unknown = matmul(3, 7, 1e9, 0, "i8");
  const auto limits = program_limits(
      {launched(1, 1), launched(2, 1), launched(3, 0)},
      {matmul(1, 7, 1e9, 0), elsewhere, unknown, matmul(4, 7, 1e9, 0)}, kDevice, kPeaks);
  EXPECT_THAT(limits, ElementsAre(Field(&ProgramLimit::seconds, Optional(1e-3))));
}

TEST(ProgramLimit, SaysWhyItIsUnknown) {
  EXPECT_EQ(why_unknown(matmul(1, 7, 1e9, 0), {.f32 = 1e12}),
            "the device's peaks were not measured");
  // VNNI and AMX are up to 32 times as fast as f32.
  EXPECT_EQ(why_unknown(matmul(1, 7, 1e9, 0, "i8"), kPeaks),
            "the device's peak for i8 is not known (dispatch_1)");
  EXPECT_EQ(why_unknown(matmul(1, 7, 0, 0), kPeaks),
            "neither operations nor bytes of dispatch_1 are known");
}

// 2e12 operations take 10 ms at the maker's 200 TFLOP/s.
TEST(ProgramLimit, Takes16BitProductsAtThePeakOfMatrixUnits) {
  Peaks peaks = kPeaks;
  peaks.stated_matrix = 200e12;
  EXPECT_THAT(program_limits({launched(1, 1)}, {matmul(1, 7, 2e12, 0, "f16")}, kDevice, peaks),
              ElementsAre(Field(&ProgramLimit::seconds, Optional(10e-3))));
}

}  // namespace
}  // namespace hone::output
