#include "bench/replay.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "provider/iree/iree_provider.h"
#include "provider/triton/triton_provider.h"
#include "tests/provider/contractions.h"

namespace hone::bench {
namespace {

using testing::HasSubstr;

// A file's text: its first line, and a row for each configuration.
std::string recorded_text(
    nlohmann::json header, const space::Space& space,
    const std::vector<std::pair<space::Configuration, nlohmann::json>>& rows) {
  for (const space::Knob& knob : space.knobs()) header["knobs"].push_back(knob.name);
  std::string text = header.dump() + "\n";
  for (const auto& [configuration, score] : rows)
    text += nlohmann::json{configuration.values, score}.dump() + "\n";
  return text;
}

problem::Dispatch small_matmul() {
  problem::Dispatch dispatch;
  dispatch.name = "small";
  dispatch.root = iree::matmul(32, 32, 32);
  return dispatch;
}

nlohmann::json small_header() {
  return {{"provider", "iree"}, {"target", iree::avx512(1)}, {"dispatch", small_matmul()}};
}

space::Space small_space() {
  return iree::CpuIreeProvider({}, iree::avx512(1)).space_of(small_matmul()).value();
}

// Scores 1, 2, 3, ... in the space's order, of which every second one failed.
std::vector<std::pair<space::Configuration, nlohmann::json>> numbered(const space::Space& space) {
  std::vector<std::pair<space::Configuration, nlohmann::json>> rows;
  for (std::uint64_t i = 0; i < space.count().value; ++i)
    rows.emplace_back(space.at(i).value(), i % 2 == 0 ? nlohmann::json(1.0 + double(i)) : "wrong");
  return rows;
}

TEST(Replay, CountsFailuresAndComparesWithTheBest) {
  const space::Space space = small_space();
  ASSERT_GE(space.count().value, 4u);
  const Recorded recorded =
      parse_recorded(recorded_text(small_header(), space, numbered(space)), "small").value();
  EXPECT_TRUE(recorded.whole);
  EXPECT_TRUE(recorded.prior);
  EXPECT_EQ(recorded.best, 1);
  // In the space's order the best is the first; then nothing changes.
  const Replay replayed = replay(recorded, {"exhaustive", 1, 8, 5}).value();
  EXPECT_THAT(replayed.regret, testing::Each(0));
  EXPECT_EQ(replayed.measured, std::min<std::uint64_t>(5, space.count().value));
}

TEST(Replay, TakesAPartOfASpaceForTheSpace) {
  const space::Space space = small_space();
  auto rows = numbered(space);
  rows.erase(rows.begin());  // the best: 3 is now
  const Recorded recorded =
      parse_recorded(recorded_text(small_header(), space, rows), "small").value();
  EXPECT_FALSE(recorded.whole);
  EXPECT_EQ(recorded.space.count().value, rows.size());
  EXPECT_EQ(recorded.best, 3);
  // The first one failed, the second is the best of what there is.
  const Replay replayed = replay(recorded, {"exhaustive", 1, 8, 2}).value();
  EXPECT_EQ(replayed.regret.back(), 0);
  for (const char* strategy : {"random", "local", "prior", "model", "auto"})
    EXPECT_EQ(replay(recorded, {strategy, 1, 8, rows.size()}).value().regret.back(), 0) << strategy;
}

TEST(Recorded, ReadsGemmsOfTriton) {
  triton::Gemm gemm;
  gemm.m = gemm.n = gemm.k = 512;
  const problem::Dispatch dispatch = triton::dispatch_of(gemm);
  const triton::TritonProvider provider(triton::gemm_device("sm_90").value(),
                                        triton::SpaceKind::kOwn);
  const space::Space space = provider.space_of(dispatch).value();
  std::vector<std::pair<space::Configuration, nlohmann::json>> rows;
  const std::vector<space::Configuration> samples = space.samples(40, 1).value();
  for (const space::Configuration& each : samples)
    rows.emplace_back(each, 1.0 + double(rows.size()));
  nlohmann::json header{{"provider", "triton"}, {"space", "own"}, {"target", "sm_90"}};
  header["dispatch"] = dispatch;
  header["dispatch"]["source"] = dispatch.source;
  const Recorded recorded = parse_recorded(recorded_text(header, space, rows), "gemm").value();
  EXPECT_EQ(recorded.space.count().value, 40u);
  ASSERT_TRUE(recorded.prior);
  EXPECT_GT(recorded.prior(rows.front().first), 0);
  EXPECT_EQ(replay(recorded, {"prior", 1, 8, 40}).value().regret.back(), 0);
}

TEST(Recorded, SaysWhatIsWrong) {
  const space::Space space = small_space();
  auto rows = numbered(space);
  rows.front().first.values[0] = 31;
  const auto error = [&](const std::string& text) {
    return parse_recorded(text, "small").error().message;
  };
  EXPECT_THAT(error(recorded_text(small_header(), space, rows)), HasSubstr("is not in the space"));
  EXPECT_THAT(error(recorded_text(small_header(), space, {})), HasSubstr("no measurement"));
  nlohmann::json header = small_header();
  header["provider"] = "another";
  EXPECT_THAT(error(recorded_text(header, space, {})), HasSubstr("known: iree, triton"));
  EXPECT_THAT(error("{"), HasSubstr("small: "));
}

TEST(Spread, IsTheMedianAndTheGreatest) {
  EXPECT_EQ(spread({5, 1, 3}).median, 3);
  EXPECT_EQ(spread({5, 1, 3}).worst, 5);
}

}  // namespace
}  // namespace hone::bench
