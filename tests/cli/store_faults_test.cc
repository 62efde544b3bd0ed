// Stores that cannot be written, are damaged, or are on a disk that gets full.
#include <sys/stat.h>

#include "tests/cli/running_tune.h"

namespace hone::cli {
namespace {

class StoreFaults : public RunningTune {
 protected:
  // As `arguments`, for a user whose rights are those that the files say: root's are dropped.
  Ran without_privileges(const std::vector<std::string>& arguments) const {
    Command with = command(arguments);
    with.environment = environment();
    if (::geteuid() == 0)
      with.arguments.insert(with.arguments.begin(),
                            {"setpriv", "--bounding-set=-all", "--inh-caps=-all"});
    const auto result = run_process(with, {.seconds = 240});
    EXPECT_TRUE(result) << result.error().message;
    return {result->exit_code, result->standard_output.text(), result->standard_error.text()};
  }
  void tune_once() const {
    const Ran ran = hone(arguments(2), environment());
    ASSERT_LE(ran.exit_code, 1) << ran.err;
  }
};

TEST_F(StoreFaults, AReadOnlyStoreIsOneMessageAndStaysAsItIs) {
  tune_once();
  const std::string path = folder() / "hone.db";
  const auto before = read_file(path);
  ASSERT_EQ(::chmod(path.c_str(), 0444), 0);
  const Ran ran = without_privileges(arguments(4));
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_EQ(ran.err, "hone: the store '" + path +
                         "' cannot be written: give write permission to it, or name another with "
                         "--store\n");
  EXPECT_EQ(*read_file(path), *before);
  EXPECT_EQ(without_privileges({"store", "list", "hone.db"}).exit_code, 0);
}

TEST_F(StoreFaults, AFolderThatCannotBeWrittenIsOneMessage) {
  ASSERT_TRUE(std::filesystem::create_directory(folder() / "kept"));
  ASSERT_EQ(::chmod((folder() / "kept").c_str(), 0555), 0);
  std::vector<std::string> there = arguments(2);
  there.insert(there.end(), {"--store", "kept/hone.db"});
  const Ran ran = without_privileges(there);
  EXPECT_EQ(ran.exit_code, 3);
  EXPECT_NE(ran.err.find("kept/hone.db"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << ran.err;
}

TEST_F(StoreFaults, AStoreWithoutItsLastPagesIsRefusedAndNamed) {
  tune_once();
  const std::filesystem::path path = folder() / "hone.db";
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const Ran ran = hone(arguments(4), environment());
  EXPECT_GE(ran.exit_code, 1);
  EXPECT_NE(ran.err.find("hone store check"), std::string::npos) << ran.err;
  EXPECT_NE(hone({"store", "check", "hone.db"}).exit_code, 0);
}

// A file system of its own that is as large as a store of a few candidates.
TEST_F(StoreFaults, AFullDiskIsOneMessage) {
  const std::string own = "mount -t tmpfs -o size=400k none disk";
  std::filesystem::create_directory(folder() / "disk");
  const auto shell = [&](const std::string& line) {
    Command with = command({});
    with.arguments = {"unshare", "--user", "--map-root-user", "--mount", "sh", "-c", line};
    with.environment = environment();
    const auto result = run_process(with, {.seconds = 240});
    EXPECT_TRUE(result) << result.error().message;
    return Ran{result->exit_code, result->standard_output.text(), result->standard_error.text()};
  };
  if (shell(own).exit_code != 0) GTEST_SKIP() << "this machine gives no user a file system";
  std::string line = own + " && exec " + HONE_BINARY;
  for (const std::string& argument : arguments(60)) line += " '" + argument + "'";
  const Ran ran = shell(line + " --store disk/hone.db");
  EXPECT_EQ(ran.exit_code, 3) << ran.out << ran.err;
  EXPECT_EQ(ran.err.find('\n'), ran.err.size() - 1) << ran.err;
  EXPECT_NE(ran.err.find("no space left on the disk"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace hone::cli
