// hone spec check of a folder of kernels that take the place of the compiler's.
#include <gmock/gmock.h>

#include "provider/iree/iree_spec_writer.h"
#include "tests/cli/hone_command.h"

namespace hone::cli {
namespace {

using ::testing::HasSubstr;

class ReplacedCheck : public HoneCommand {
 protected:
  void SetUp() override {
    HoneCommand::SetUp();
    const auto listed =
        json({"dispatches", example("matmul_f16.mlir"), "--target", "sm_80", "--json"});
    const auto& only = listed.at("dispatches").at(0);
    dispatch_.name = only.at("name");
    dispatch_.executable = "matmul_f16_dispatch_0";
    dispatch_.statement = only.at("statement").get<problem::Statement>();
    std::filesystem::create_directory(folder() / "kernels");
  }

  // A kernel that does nothing, for `dispatch`.
  static std::string file_for(const problem::Dispatch& dispatch) {
    problem::Launch launch;
    launch.grid = {1, 1, 1};
    launch.block = {32, 1, 1};
    const auto file =
        iree::IreeSpecWriter("", "", iree::kCudaSpecFlag)
            .replaced(
                dispatch, {},
                fmt::format(
                    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry {}(.param .u64 "
                    "a, .param .u64 b, .param .u64 c)\n{{\nret;\n}}\n",
                    dispatch.name),
                launch);
    EXPECT_TRUE(file) << file.error().message;
    return file->text;
  }

  nlohmann::json checked() const {
    return json({"spec", "check", "kernels", "--program", example("matmul_f16.mlir"), "--target",
                 "sm_80", "--json"})
        .at("kernels");
  }

  problem::Dispatch dispatch_;
};

TEST_F(ReplacedCheck, IsReadFromTheCompiledProgram) {
  write("kernels/matmul_f16_dispatch_0.mlir", file_for(dispatch_));
  const auto kernels = checked();
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].at("effect"), "applied") << kernels;
  EXPECT_EQ(kernels[0].at("dispatch"), dispatch_.name);
}

TEST_F(ReplacedCheck, WhatDoesNothingOrDoesNotFitIsNamedAndNotCompiled) {
  write("kernels/matmul_f16_dispatch_7.mlir", file_for(dispatch_));
  problem::Dispatch other = dispatch_;
  std::string& layout = other.statement->layout;
  layout.replace(layout.find("bindings = ["), 12, "constants = 2, bindings = [");
  write("kernels/matmul_f16_dispatch_0.mlir", file_for(other));
  write("kernels/notes.mlir", "module {}");
  const auto kernels = checked();
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].at("effect"), "does not fit");
  EXPECT_THAT(kernels[0].at("note").get<std::string>(), HasSubstr("constants = 2"));
  EXPECT_EQ(kernels[1].at("effect"), "does nothing");
  EXPECT_EQ(kernels[1].at("note"),
            "under these flags the program has no executable 'matmul_f16_dispatch_7' (did you mean "
            "'matmul_f16_dispatch_0'?)");
  EXPECT_EQ(kernels[2].at("effect"), "not read");
}

TEST_F(ReplacedCheck, AFolderWithoutKernelsIsAMistake) {
  const Ran ran = hone(
      {"spec", "check", "kernels", "--program", example("matmul_f16.mlir"), "--target", "sm_80"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("'kernels' holds no kernels"));
}

}  // namespace
}  // namespace hone::cli
