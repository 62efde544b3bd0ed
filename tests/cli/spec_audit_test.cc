// hone spec audit: which entries of a spec still help, and the spec without the others.
#include <gmock/gmock.h>

#include "tests/cli/hone_command.h"
#include "tests/cli/planted_specs.h"

namespace hone::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Hides the GPUs of the machine.
const std::vector<EnvironmentChange> kNoGpu{{"CUDA_VISIBLE_DEVICES", ""}};

class SpecAudit : public HoneCommand {
 protected:
  std::vector<std::string> audit(const std::vector<PlantedEntry>& entries,
                                 const std::vector<std::string>& more) const {
    std::vector<std::string> all{"spec", "audit", write("spec.mlir", planted_spec(entries)),
                                 "--program", write("program.mlir", square_products({128, 256}))};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

std::vector<std::string> audited_states(const nlohmann::json& document) {
  std::vector<std::string> found;
  for (const auto& entry : document.at("entries"))
    found.push_back(entry.at("state").get<std::string>());
  return found;
}

// No assertion here rests on how much faster something is: one element at a time loses by a factor.
TEST_F(SpecAudit, FindsPlantedDeadShadowedIgnoredEqualAndSlowerEntries) {
  // The compiler's own choice, planted as an entry.
  const auto dispatches =
      json({"dispatches", write("program.mlir", square_products({128, 256})), "--json"})
          .at("dispatches");
  std::string own;
  for (const auto& each : dispatches)
    if (each.at("name").get<std::string>().find("256x256x256") != std::string::npos)
      own = "lowering_config = " + each.at("default_configuration").get<std::string>() +
            ", translation_info = " + each.at("default_translation").get<std::string>();
  ASSERT_FALSE(own.empty()) << dispatches;
  const Ran ran = hone(audit({{"dead", 512, kGoodTiles},
                              {"slower", 128, kTinyTiles},
                              {"shadowed", 128, kGoodTiles},
                              {"equal", 256, own}},
                             {"--json", "--quiet", "-o", "rest.mlir"}));
  const auto document = nlohmann::json::parse(ran.out, nullptr, false);
  ASSERT_FALSE(document.is_discarded()) << ran.out << ran.err;
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(audited_states(document),
              ElementsAre("dead", "slower", "shadowed", "equal to the default"));
  const auto& timed = document.at("entries")[1].at("timed");
  EXPECT_EQ(timed.at("verdict"), "slower") << document;
  EXPECT_LT(timed.at("speedup_high"), 1) << document;
  EXPECT_TRUE(document.at("entries")[0].at("timed").is_null());
  // With no entry left there is no spec.
  EXPECT_TRUE(document.at("written").is_null());
  EXPECT_FALSE(std::filesystem::exists(folder() / "rest.mlir"));
  EXPECT_THAT(document.at("notes")[0].get<std::string>(), HasSubstr("compile without a spec"));
}

TEST_F(SpecAudit, FindsPlantedIgnoredAndIllegalEntriesAndTimesNone) {
  const auto document =
      json(audit({{"ignored", 128, kGoodTiles, "no_such_information"},
                  {"illegal", 256,
                   on_cpu("distribution = [32, 64, 0], vector_common_parallel = [8, 16, 8], "
                          "vector_reduction = [0, 0, 0]")}},
                 {"--json", "--quiet"}));
  EXPECT_THAT(audited_states(document), ElementsAre("ignored", "illegal"));
}

TEST_F(SpecAudit, SaysTheRestWithoutTheTargetsDeviceAndWritesWhatMayHelp) {
  const Ran ran = hone(audit({{"dead", 512, kOnGpu},
                              {"first", 128, kOnGpu},
                              {"shadowed", 128, kOnGpu},
                              {"second", 256, kOnGpu}},
                             {"--target", "sm_80", "--json", "-o", "rest.mlir"}),
                       kNoGpu);
  const auto document = nlohmann::json::parse(ran.out, nullptr, false);
  ASSERT_FALSE(document.is_discarded()) << ran.out << ran.err;
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(audited_states(document),
              ElementsAre("dead", "not measured", "shadowed", "not measured"));
  EXPECT_FALSE(document.at("not_measured").is_null());
  EXPECT_EQ(document.at("written"), "rest.mlir");
  const std::string rest = read_file(folder() / "rest.mlir").value_or("");
  EXPECT_THAT(rest, AllOf(HasSubstr("@first ->"), HasSubstr("@second ->"), Not(HasSubstr("@dead")),
                          Not(HasSubstr("@shadowed"))));
  // The rest has nothing to find fault with.
  const Ran again = hone(
      {"spec", "audit", "rest.mlir", "--program", "program.mlir", "--target", "sm_80"}, kNoGpu);
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  EXPECT_THAT(again.out, AllOf(HasSubstr("2 not measured"), HasSubstr("speed is not measured: ")));
}

TEST_F(SpecAudit, RefusesWhatItCannotRead) {
  const std::string program = write("program.mlir", square_products({128}));
  const auto refused = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"spec", "audit"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Ran ran = hone(all);
    EXPECT_EQ(ran.exit_code, 2) << ran.err;
    return ran.err;
  };
  EXPECT_THAT(refused({"nowhere.mlir", "--program", program}), HasSubstr("nowhere.mlir"));
  EXPECT_THAT(refused({write("empty.mlir", "module {}"), "--program", program}),
              HasSubstr("has no transform.named_sequence @__kernel_config"));
  std::filesystem::create_directory(folder() / "empty");
  EXPECT_THAT(refused({"empty", "--program", program}), HasSubstr("has no compile_flags.txt"));
  EXPECT_THAT(refused({write("spec.mlir", planted_spec({{"good", 128, kGoodTiles}})), "--program",
                       program, "-o", "empty"}),
              HasSubstr("'empty' is a folder; name a file"));
}

}  // namespace
}  // namespace hone::cli
