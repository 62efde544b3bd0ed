// Candidates whose compile is shared: what one's compile shows is taken for the others'.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "provider/triton/triton_provider.h"

namespace hone::triton {
namespace {

std::string name(std::string_view backend,
                 const nlohmann::json& changed = nlohmann::json::object()) {
  GemmDevice device;
  device.backend = backend;
  nlohmann::json knobs = {{"STRUCTURE", 5}, {"BLOCK_M", 64}, {"GROUP_M", 1},
                          {"SPLIT_K", 1},   {"FIXED", 0},    {"kpack", 1}};
  knobs.update(changed);
  provider::Payload payload;
  payload.json["knobs"] = knobs;
  return code_of(device, payload);
}

TEST(CodeOf, LeavesOutWhatIsAnArgument) {
  EXPECT_EQ(name("cuda", {{"GROUP_M", 8}}), name("cuda"));
  EXPECT_EQ(name("cuda", {{"SPLIT_K", 4}}), name("cuda", {{"SPLIT_K", 2}}));
  EXPECT_NE(name("cuda", {{"BLOCK_M", 128}}), name("cuda"));
}

TEST(CodeOf, TellsOnePartOfKFromSeveral) {
  EXPECT_NE(name("cuda", {{"SPLIT_K", 2}}), name("cuda"));
}

TEST(CodeOf, HoldsWhatIsFixed) {
  EXPECT_NE(name("cuda", {{"FIXED", 1}, {"GROUP_M", 8}}), name("cuda", {{"FIXED", 1}}));
  EXPECT_NE(name("cuda", {{"FIXED", 1}, {"SPLIT_K", 4}}),
            name("cuda", {{"FIXED", 1}, {"SPLIT_K", 2}}));
}

TEST(CodeOf, LeavesOutWhatTheBackendDoesNotRead) {
  EXPECT_EQ(name("cuda", {{"kpack", 2}}), name("cuda"));
  EXPECT_NE(name("hip", {{"kpack", 2}}), name("hip"));
}

// The store has it by its knobs, as versions before wrote it.
TEST(ShippedForm, IsTheCandidateWithItsArgumentsFixed) {
  const TritonProvider provider({}, SpaceKind::kOwn);
  const auto shipped = provider.as_shipped(payload_of({{"STRUCTURE", 5}, {"GROUP_M", 4}}));
  ASSERT_TRUE(shipped);
  EXPECT_EQ(shipped->payload.json.dump(), R"({"knobs":{"FIXED":1,"GROUP_M":4,"STRUCTURE":5}})");
  EXPECT_EQ(shipped->configuration, R"({"FIXED":1,"GROUP_M":4,"STRUCTURE":5})");
}

}  // namespace
}  // namespace hone::triton
