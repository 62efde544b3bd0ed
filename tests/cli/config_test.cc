// Defaults of options from files: which file, which key, which value, and who wins.
#include <gmock/gmock.h>

#include "cli/config_file.h"
#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

class Config : public HoneCommand {
 protected:
  // {"value", "from"} of an option in what hone config says.
  nlohmann::json option(const Ran& ran, const std::string& command, const std::string& name) const {
    const auto document = nlohmann::json::parse(ran.out, nullptr, false);
    EXPECT_FALSE(document.is_discarded()) << ran.out << ran.err;
    for (const auto& row : document.value("options", nlohmann::json::array()))
      if (row.at("command") == command && row.at("option") == name)
        return {row.at("value"), row.at("from")};
    ADD_FAILURE() << "no option " << name << " of " << command;
    return {};
  }
  nlohmann::json pair(const char* value, const char* from) const { return {value, from}; }
};

TEST_F(Config, ReadsCommandsBeforeAll) {
  const auto settings = parse_settings("hone.yaml",
                                       "all:\n  seed: 3\ntune:\n  budget: 5m  # each\n"
                                       "spec:\n  check:\n    flag: [--a, --b]\n");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_THAT(*settings,
              testing::ElementsAre(Setting{"tune", "budget", {"5m"}, "hone.yaml:4"},
                                   Setting{"spec check", "flag", {"--a", "--b"}, "hone.yaml:7"},
                                   Setting{"all", "seed", {"3"}, "hone.yaml:2"}));
}

TEST_F(Config, SaysWhereAFileIsWrong) {
  const auto message = [](const char* text) -> std::string {
    const auto settings = parse_settings("c.yaml", text);
    return settings ? "none" : settings.error().message;
  };
  EXPECT_EQ(message("tune:\n  seed: 1\n  seed: 2\n"), "c.yaml:3: 'seed' stands here twice");
  EXPECT_EQ(message("seed: 1\n"),
            "c.yaml:1: 'seed' is no mapping; options stand below their command, or below 'all'");
  EXPECT_EQ(message("tune:\n  seed:\n"), "c.yaml:2: 'seed' has no value");
  EXPECT_EQ(message("- tune\n"), "c.yaml:1: a mapping of commands to their options is expected");
  EXPECT_EQ(message("tune: {seed: [1, [2]]}\n"),
            "c.yaml:1: 'seed' is a list of something other than values");
  EXPECT_THAT(message("tune:\n  seed: 1\n  out: [1\n"), testing::StartsWith("c.yaml:"));
}

TEST_F(Config, AFlagWinsOverTheEnvironmentOverTheProjectOverTheUser) {
  write("hone.yaml", "tune:\n  seed: 3\n  iree: from_file\n  cache: cold\n");
  const std::string user = (folder() / "user").string();
  write("user/hone/config.yaml", "tune:\n  cache: warm\n  strategy: random\n");
  const std::vector<EnvironmentChange> environment{{"XDG_CONFIG_HOME", user},
                                                   {"HONE_IREE", "from_environment"}};
  const Ran ran = hone({"config", "--json", "tune", "x.mlir", "--seed", "9"}, environment);
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(option(ran, "tune", "--seed"), pair("9", "flag"));
  EXPECT_EQ(option(ran, "tune", "--iree"), pair("from_environment", "HONE_IREE"));
  EXPECT_EQ(option(ran, "tune", "--cache"), pair("cold", "hone.yaml:4"));
  EXPECT_EQ(option(ran, "tune", "--strategy"),
            pair("random", (user + "/hone/config.yaml:3").c_str()));
  EXPECT_EQ(option(ran, "tune", "--store"), pair("hone.db", "default"));
  EXPECT_EQ(option(ran, "tune", "--json"), pair("false", "default"));
}

TEST_F(Config, TheFolderAboveCountsUpToTheRepositorysRoot) {
  write("hone.yaml", "all:\n  seed: 1\n");
  write("repository/.git/HEAD", "ref: refs/heads/main\n");
  write("repository/sub/x.txt", "");
  const auto seed_in = [&](const char* inside) {
    Command with = command({"config", "--json", "space"});
    with.folder = folder() / inside;
    with.environment = {{"XDG_CONFIG_HOME", folder().string()}};
    const auto ran = run_process(with);
    EXPECT_TRUE(ran && ran->succeeded());
    return option({0, ran->standard_output.text(), ""}, "space", "--seed")[1];
  };
  EXPECT_EQ(seed_in("repository/sub"), "default");
  write("repository/hone.yaml", "all:\n  seed: 2\n");
  EXPECT_EQ(seed_in("repository/sub"), "../hone.yaml:2");
}

TEST_F(Config, OneThatIsNamedIsTheOnlyOne) {
  write("hone.yaml", "all:\n  seed: 1\n");
  const std::string other = write("other.yaml", "all:\n  seed: 2\n");
  EXPECT_EQ(option(hone({"config", "--json", "--config-file", other, "space"}), "space", "--seed"),
            pair("2", (other + ":2").c_str()));
  EXPECT_EQ(
      option(hone({"config", "--json", "space"}, {{"HONE_CONFIG", other}}), "space", "--seed"),
      pair("2", (other + ":2").c_str()));
  EXPECT_EQ(
      option(hone({"config", "--json", "space"}, {{"HONE_CONFIG", ""}}), "space", "--seed")[1],
      "default");
  EXPECT_EQ(hone({"devices", "--config-file", "missing.yaml"}).exit_code, 2);
}

TEST_F(Config, AWrongKeyOrValueStopsEveryCommandWithItsPlace) {
  const auto message = [&](const char* text) {
    write("hone.yaml", text);
    const Ran ran = hone({"devices"});
    EXPECT_EQ(ran.exit_code, 2);
    return ran.err;
  };
  EXPECT_EQ(message("tune:\n  budgt: 5m\n"),
            "hone: hone.yaml:2: hone tune has no option 'budgt' with a default (did you mean "
            "'budget'?); hone tune --help lists them\n");
  EXPECT_EQ(message("tone:\n  seed: 1\n"),
            "hone: hone.yaml:2: 'tone' is no command of hone (did you mean 'tune' or 'store'?)\n");
  EXPECT_THAT(message("all:\n  sedd: 1\n"), testing::HasSubstr("did you mean 'seed'?"));
  EXPECT_THAT(message("tune:\n  cache: hot\n"),
              testing::AllOf(testing::HasSubstr("hone.yaml:2: cache: "),
                             testing::HasSubstr("hot not in {warm,cold}")));
  EXPECT_THAT(message("tune:\n  seed: many\n"), testing::HasSubstr("hone.yaml:2: seed: "));
  EXPECT_THAT(message("tune:\n  json: perhaps\n"), testing::HasSubstr("hone.yaml:2: json: "));
}

TEST_F(Config, WhatACommandRefusesLaterHasItsPlaceToo) {
  write("hone.yaml", "tune:\n  budget: soon\n");
  const Ran ran = hone({"tune", example("matmul_512.mlir")});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_EQ(ran.err,
            "hone: --budget 'soon' is no duration; write 90s, 10m or 2h (--budget is from "
            "hone.yaml:2)\n");
}

TEST_F(Config, TheValueReachesTheCommand) {
  write("hone.yaml", "all:\n  store: nowhere.db\n");
  const Ran ran = hone({"store", "list"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_NE(ran.err.find("nowhere.db"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace hone::cli
