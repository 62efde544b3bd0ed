#include <gmock/gmock.h>

#include "tune/dispatch/finalists.h"

namespace hone::tune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// Kernels of a microsecond: time is no limit.
const FinalistTime kCpu{20, 1e-6, false}, kGpu{20, 1e-6, true};

TEST(ChooseFinalists, TakesWhoIsNearTheBestByTheDevicesNoise) {
  const std::vector<Measured> measured{{0.54, 6}, {0.50, 1},  {0.56, 7},  {0.51, 3},
                                       {0.52, 5}, {0.505, 2}, {0.515, 4}, {0.516, 8}};
  EXPECT_THAT(choose_finalists(measured, kCpu), ElementsAre(1, 2, 3, 4, 8, 5, 6));  // up to 0.55
  EXPECT_THAT(choose_finalists(measured, kGpu), ElementsAre(1, 2, 3, 4));           // up to 0.515
}

// An H200's 2048x1280x5120: 0.53 is the true best, 0.308 would be 1.2 PFLOP/s of f16.
TEST(ChooseFinalists, IsNotMisledByALuckyMeasurementOfAGpu) {
  const std::vector<Measured> measured{{0.308, 1}, {0.388, 2}, {0.530, 3}, {0.536, 4}, {0.537, 5}};
  EXPECT_THAT(choose_finalists(measured, kGpu), ElementsAre(1, 2, 3, 4));
}

// All are slower than a default that computes something else.
TEST(ChooseFinalists, NeedNotBeFasterThanAWrongDefault) {
  const std::vector<Measured> measured{{1.5, 1}, {1.2, 2}};
  FinalistTime time = kGpu;
  EXPECT_THAT(choose_finalists(measured, time), IsEmpty());
  time.default_is_wrong = true;
  EXPECT_THAT(choose_finalists(measured, time), ElementsAre(2, 1));
}

// A search on a CPU in two rounds, beside a default of 6.27 and of 4.94 ms; ids and times are its
// own. In the finalists' rounds of another session 3 and 5 were the fastest.
TEST(ChooseFinalists, AreAlsoThoseOfLeastTimeOfTheirOwn) {
  const std::vector<Measured> measured{{0.496, 14, 3.157}, {0.506, 12, 3.217}, {0.522, 10, 3.287},
                                       {0.530, 8, 3.363},  {0.539, 7, 3.398},  {0.551, 9, 3.463},
                                       {0.557, 11, 3.487}, {0.603, 13, 3.757}, {0.632, 3, 3.222},
                                       {0.663, 5, 3.188},  {0.664, 4, 3.265},  {0.713, 6, 3.566}};
  EXPECT_THAT(choose_finalists(measured, kCpu), ElementsAre(14, 12, 10, 8, 7, 5, 3));
  // A slow kernel has time for four: two by their ratios, two by their own times.
  EXPECT_THAT(choose_finalists(measured, {20, 40, false}), ElementsAre(14, 12, 3, 5));
  EXPECT_THAT(choose_finalists({{0.5, 1, 5.0}, {0.9, 2, 1.0}}, kCpu), ElementsAre(1, 2));
  EXPECT_THAT(choose_finalists({{0.5, 1, 5.0}, {1.0, 2, 1.0}}, kCpu), ElementsAre(1));
  // The default takes 10 ms beside each: own times say nothing that ratios do not.
  EXPECT_THAT(
      choose_finalists({{0.5, 1, 5.0}, {0.6, 2, 6.0}, {0.7, 3, 7.0}, {0.8, 4, 8.0}, {0.81, 5, 7.9}},
                       kCpu),
      ElementsAre(1, 2, 3, 4));
}

TEST(ChooseFinalists, TakesFourHoweverFarFromTheBest) {
  const std::vector<Measured> measured{{0.4, 1}, {0.6, 2}, {0.7, 3}, {0.8, 4}, {0.9, 5}, {1.1, 6}};
  EXPECT_THAT(choose_finalists(measured, kCpu), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(choose_finalists({{0.4, 1}, {0.6, 2}, {1.1, 6}}, kCpu), ElementsAre(1, 2));
}

TEST(ChooseFinalists, LeavesOutWhoDoesNotBeatTheDefault) {
  EXPECT_THAT(choose_finalists({{1.0, 1}, {1.2, 2}}, kCpu), IsEmpty());
  EXPECT_THAT(choose_finalists({{0.99, 1}, {1.0, 2}}, kCpu), ElementsAre(1));
  EXPECT_THAT(choose_finalists({}, kCpu), IsEmpty());
}

TEST(ChooseFinalists, TakesNoMoreThanCanBeToldApart) {
  std::vector<Measured> measured;
  for (store::Id id = 1; id <= 20; ++id) measured.push_back({0.5, id});
  EXPECT_THAT(choose_finalists(measured, kCpu), SizeIs(10));
  EXPECT_THAT(choose_finalists(measured, kGpu), SizeIs(6));
  // 20 s are 40 launches of 5 finalists that take 0.1 s each.
  EXPECT_THAT(choose_finalists(measured, {20, 0.2, false}), SizeIs(5));
  // Of slower ones four are taken anyway, or two where one batch tells: 0.5 s are 10 rounds of 20
  // ms.
  EXPECT_THAT(choose_finalists(measured, {20, 40, false}), SizeIs(4));
  EXPECT_THAT(choose_finalists(measured, {0.5, 1e-5, true}), SizeIs(2));
}

TEST(FinalistSeconds, AreAQuarterWithinBounds) {
  EXPECT_EQ(finalist_seconds(40, /*one_batch_tells=*/false), 10);
  EXPECT_EQ(finalist_seconds(4, /*one_batch_tells=*/false), 3);
  EXPECT_EQ(finalist_seconds(4, /*one_batch_tells=*/true), 1);
  EXPECT_EQ(finalist_seconds(600, /*one_batch_tells=*/true), 20);
}

}  // namespace
}  // namespace hone::tune
