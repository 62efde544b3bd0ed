// A store of somebody else's is data: its machine code is not run, its words are no commands.
#include <sys/stat.h>

#include "problem/dispatch.h"
#include "problem/launch.h"
#include "store/store.h"
#include "tests/cli/hone_command.h"
#include "tests/device/kernel_library.h"

namespace hone::cli {
namespace {

class ForeignStore : public HoneCommand {
 protected:
  static constexpr store::SealKey kStranger{1, 2};

  void SetUp() override {
    HoneCommand::SetUp();
    program_ = write("product.mlir", matmul_program("64"));
  }
  std::vector<std::string> tuning(const std::string& store) const {
    return {"tune",      program_,   "--store", store,          "--candidates",
            "1",         "--budget", "20s",     "--no-program", "--no-baselines",
            "--threads", "1",        "--quiet"};
  }
  store::Store open_as_stranger(const std::string& name) const {
    store::StoreOptions options;
    options.seal_key = kStranger;
    return *store::Store::open(folder() / name, store::Mode::kReadWrite, options);
  }
  // A store as a stranger would make it: every code is one that crashes, under their own seal.
  void make_theirs(const std::string& name) const {
    ASSERT_LE(hone(tuning(name)).exit_code, 1);
    const std::string crash = test::kernel_library("*(volatile int*)8 = 1;", {.bindings = 3});
    store::Store store = open_as_stranger(name);
    const auto rows = store.candidate_rows();
    ASSERT_TRUE(rows);
    for (const store::CandidateView& row : *rows) {
      if (row.provider != "iree") continue;
      store::ArtifactRow artifact = *store.load_artifact(row.candidate, store::Trust::kAnyone);
      artifact.code = crash;
      artifact.launch = R"({"entry":"kernel","ordinal":0,"grid":[1,1,1],"block":[1,1,1],)"
                        R"("shared_bytes":0,"constants":[]})";
      ASSERT_TRUE(store.record(artifact));
    }
  }

 private:
  std::string program_;
};

TEST_F(ForeignStore, ItsCodeIsCompiledAgain) {
  make_theirs("theirs.db");
  ASSERT_EQ(hone({"store", "merge", "merged.db", "theirs.db"}).exit_code, 0);
  const Ran tuned = hone(tuning("merged.db"));
  EXPECT_LE(tuned.exit_code, 1) << tuned.out << tuned.err;
  {
    auto store = store::Store::open(folder() / "merged.db", store::Mode::kReadOnly);
    ASSERT_TRUE(store);
    const auto rows = store->candidate_rows();
    ASSERT_TRUE(rows);
    for (const store::CandidateView& row : *rows) {
      EXPECT_NE(row.state, store::CandidateState::kFailed) << row.failure_message;
      if (row.is_default && row.provider == "iree") {
        EXPECT_TRUE(*store->is_own(row.candidate));
      }
    }
  }
  const std::vector<std::string> compare{"compare", "merged.db", "theirs.db", "--threads",
                                         "1",       "--alpha",   "0.001",     "--threshold",
                                         "0.5",     "--find",    "0.9",       "--json"};
  const Ran ran = hone(compare);
  EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  std::vector<std::string> trusting = compare;
  trusting.push_back("--trust");
  const Ran trusted = hone(trusting);
  EXPECT_EQ(trusted.exit_code, 1) << trusted.out << trusted.err;
  EXPECT_NE(trusted.out.find("SIGSEGV"), std::string::npos) << trusted.out;
}

// Names, flags and formats of a store go into a script that its reader runs.
TEST_F(ForeignStore, ItsWordsAreQuotedWhereTheyAreWrittenIntoAScript) {
  const std::vector<std::string> flags{"--iree-x=$(touch pwned)", "it's; touch pwned", "a b"};
  store::Id candidate = 0;
  {
    store::Store store = *store::Store::open(folder() / "hone.db", store::Mode::kReadWrite);
    problem::Dispatch dispatch;
    dispatch.name = "name\ntouch pwned #";
    const store::Id dispatch_id =
        *store.intern(store::DispatchRow{.fingerprint = "d",
                                         .name = dispatch.name,
                                         .source = "",
                                         .json = nlohmann::json(dispatch).dump()});
    const store::Id build = *store.intern(
        store::BuildRow{.compiler = "iree", .flags = nlohmann::json(flags).dump(), .target = "{}"});
    candidate = *store.add_candidate(
        {.dispatch = dispatch_id, .build = build, .provider = "iree", .configuration = "{}"});
    ASSERT_TRUE(store.record(store::ArtifactRow{.candidate = candidate,
                                                .identity = "e",
                                                .format = "elf; touch pwned",
                                                .launch = nlohmann::json(problem::Launch{}).dump(),
                                                .code = "code"}));
  }
  const Ran shown = hone({"show", std::to_string(candidate), "--out", "shown"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  // The tools, of which only the words they are given are wanted.
  for (const char* tool : {"iree-compile", "iree-benchmark-executable"}) {
    const std::string path = write(tool, "#!/bin/sh\nprintf '%s\\n' \"$@\"\n");
    ASSERT_EQ(::chmod(path.c_str(), 0755), 0);
  }
  Command script{
      {"sh", "shown/reproduce.sh"}, {{"PATH", folder().string() + ":/usr/bin:/bin"}}, {}};
  script.folder = folder();
  const auto ran = run_process(script);
  ASSERT_TRUE(ran);
  EXPECT_EQ(ran->exit_code, 0) << ran->standard_error.text();
  const std::string words = ran->standard_output.text();
  for (const std::string& flag : flags) EXPECT_NE(words.find(flag + "\n"), std::string::npos);
  EXPECT_NE(words.find("--executable_format=elf; touch pwned\n"), std::string::npos) << words;
  EXPECT_FALSE(std::filesystem::exists(folder() / "pwned"));
}

}  // namespace
}  // namespace hone::cli
