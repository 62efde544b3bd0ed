// Which of a store's Triton results are emitted.
#include "session/found_gemms.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "provider/triton/gemm.h"
#include "trial/records.h"

namespace hone::session {
namespace {

using testing::HasSubstr;

class FoundGemmsOfAStore : public testing::Test {
 protected:
  store::Id build(const std::string& target) {
    return store_
        .intern(store::BuildRow{
            .compiler = "Triton 3.9.0", .flags = "[]", .target = R"({"gpu":")" + target + "\"}"})
        .value();
  }
  store::Id device(const std::string& name) {
    return store_.intern(store::DeviceRow{.name = name, .protocol = "{}"}).value();
  }
  store::Id dispatch(std::int64_t m) {
    triton::Gemm gemm;
    gemm.m = m;
    gemm.n = gemm.k = 64;
    const problem::Dispatch dispatch = triton::dispatch_of(gemm);
    const auto operation = store_.intern(trial::operation_row(dispatch.root));
    return store_.intern(trial::dispatch_row(dispatch, *operation)).value();
  }
  // A blocked kernel of tiles of `block` rows, with code and a time.
  store::Id candidate(store::Id dispatch, store::Id build, store::Id device, int block,
                      const std::string& configuration) {
    const auto id = store_.add_candidate({.dispatch = dispatch,
                                          .build = build,
                                          .provider = "triton",
                                          .configuration = configuration});
    provider::Artifact artifact;
    artifact.format = "cuda-cubin";
    artifact.code = "code " + configuration;
    artifact.launch.entry = "gemm_blocked";
    artifact.launch.arguments = {{problem::LaunchArgument::Kind::kBinding, 0}};
    artifact.configured = nlohmann::json{{"STRUCTURE", 0}, {"BLOCK_M", block}, {"BLOCK_N", 64},
                                         {"BLOCK_K", 32},  {"GROUP_M", 8},     {"SPLIT_K", 1},
                                         {"num_warps", 4}, {"num_stages", 3},  {"FIXED", 1}}
                              .dump();
    const store::ArtifactRow row = trial::artifact_row(*id, artifact, 0.1);
    EXPECT_TRUE(store_.record(row));
    EXPECT_TRUE(store_.record(store::Measurement{.dispatch = dispatch,
                                                 .identity = row.identity,
                                                 .device = device,
                                                 .phase = store::Phase::kFinalist,
                                                 .timing = {.samples = {1e-5}, .median = 1e-5}}));
    return *id;
  }
  void select(store::Id dispatch, store::Id build, store::Id device,
              std::optional<store::Id> winner) {
    store::SelectionRow selection;
    selection.dispatch = dispatch;
    selection.build = build;
    selection.device = device;
    selection.winner = winner;
    selection.reason = "test";
    EXPECT_TRUE(store_.record(selection));
  }
  std::string refusal(const WantedGemms& wanted) {
    const auto found = found_gemms(store_, wanted);
    return found ? "" : found.error().message;
  }

  TemporaryFolder folder_ = std::move(TemporaryFolder::create("hone-found-").value());
  store::Store store_ =
      std::move(store::Store::open(folder_.path() / "a.db", store::Mode::kReadWrite).value());
};

TEST_F(FoundGemmsOfAStore, AreTheLastSelectedOrTheDefaultThatWasKept) {
  const store::Id b = build("sm_90"), h200 = device("NVIDIA H200");
  const store::Id first = dispatch(32), second = dispatch(48);
  const store::Id slow = candidate(first, b, h200, 16, R"({"BLOCK_M":16})");
  const store::Id fast = candidate(first, b, h200, 32, R"({"BLOCK_M":32})");
  candidate(second, b, h200, 128, "{}");
  select(first, b, h200, slow);
  select(first, b, h200, fast);
  select(second, b, h200, std::nullopt);
  const auto found = found_gemms(store_, {});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->made, "NVIDIA H200 (sm_90), Triton 3.9.0");
  ASSERT_EQ(found->gemms.size(), 2u);
  EXPECT_EQ(found->gemms[0].entry.configuration.at("BLOCK_SIZE_M"), 32);
  EXPECT_EQ(found->gemms[0].seconds, 1e-5);
  EXPECT_EQ(found->codes[0], R"(code {"BLOCK_M":32})");
  EXPECT_EQ(found->gemms[1].entry.configuration.at("BLOCK_SIZE_M"), 128);
  EXPECT_EQ(found->gemms[1].entry.gemm.m, 48);
}

TEST_F(FoundGemmsOfAStore, AreCandidatesThatAreNamedOneForEachGemm) {
  const store::Id b = build("sm_90"), h200 = device("NVIDIA H200"), d = dispatch(32);
  const store::Id slow = candidate(d, b, h200, 16, R"({"BLOCK_M":16})");
  const store::Id fast = candidate(d, b, h200, 32, R"({"BLOCK_M":32})");
  const auto found =
      found_gemms(store_, {.target = {}, .device = {}, .candidates = {slow}, .trust = false});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->gemms.at(0).entry.configuration.at("BLOCK_SIZE_M"), 16);
  EXPECT_EQ(found->made, "sm_90, Triton 3.9.0");
  EXPECT_EQ(refusal({.target = {}, .device = {}, .candidates = {slow, fast}}),
            "candidate " + std::to_string(fast) +
                " is the second of gemm_32x64x64_f16_f16_f16_nn; one of each is emitted");
}

TEST_F(FoundGemmsOfAStore, AreOfOneTargetAndDevice) {
  const store::Id d = dispatch(32);
  for (const auto& [target, name, block] :
       {std::tuple("sm_80", "NVIDIA A100", 16), std::tuple("sm_90", "NVIDIA H100", 32),
        std::tuple("sm_90", "NVIDIA H200", 64)}) {
    const store::Id b = build(target), gpu = device(name);
    select(d, b, gpu, candidate(d, b, gpu, block, "{\"BLOCK_M\":" + std::to_string(block) + "}"));
  }
  EXPECT_THAT(refusal({}),
              HasSubstr("has results of NVIDIA A100 (sm_80), NVIDIA H100 (sm_90), "
                        "NVIDIA H200 (sm_90): name one with --target or --device-name"));
  EXPECT_THAT(refusal({.target = "sm_90", .device = {}, .candidates = {}, .trust = false}),
              HasSubstr("has results of NVIDIA H100 (sm_90), NVIDIA H200 (sm_90)"));
  EXPECT_THAT(refusal({.target = "sm_86", .device = {}, .candidates = {}}),
              HasSubstr("has no GEMM tuned by Triton there"));
  const auto found = found_gemms(store_, {.target = {}, .device = "NVIDIA H100", .candidates = {}});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->gemms.at(0).entry.configuration.at("BLOCK_SIZE_M"), 32);
}

}  // namespace
}  // namespace hone::session
