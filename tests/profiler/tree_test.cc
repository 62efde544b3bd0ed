// The old layout of files, and what lies in it.
#include "profiler/tree.h"

#include <gmock/gmock.h>

#include "base/file.h"

namespace hone::profiler {
namespace {

using testing::HasSubstr;

constexpr std::string_view kName = "matmul_64x64x4096_f16t_f16t_f16t";

NamedOperation operation_named(std::string_view name) {
  return parse_operation(name).value();
}

class TreeTest : public testing::Test {
 protected:
  void write(std::string_view name, std::string_view text) {
    const NamedOperation operation = operation_named(name);
    ASSERT_TRUE(write_file_atomically(OperationFiles(dir(), operation).source(), text));
  }
  std::filesystem::path dir() const { return folder_.path(); }
  TemporaryFolder folder_ = TemporaryFolder::create("tree").value();
};

TEST_F(TreeTest, LaysFilesAsTheOldTool) {
  const OperationFiles files(".", operation_named(kName));
  const std::string folder = "./generated/linalg/matmul/matmul_64x64x4096_f16t_f16t_f16t";
  EXPECT_EQ(files.folder(), folder);
  EXPECT_EQ(files.source(), folder + "/matmul_64x64x4096_f16t_f16t_f16t.mlir");
  EXPECT_EQ(files.verify_module(), folder + "/matmul_64x64x4096_f16t_f16t_f16t_verify.vmfb");
  EXPECT_EQ(files.profile_module(), folder + "/matmul_64x64x4096_f16t_f16t_f16t_profile.vmfb");
  EXPECT_EQ(files.compiler_output(), folder + "/iree_compile_cmd_stdout.mlir");
  EXPECT_EQ(files.reference_folder(),
            "./generated/reference_cache/matmul_64x64x4096_f16t_f16t_f16t");
}

TEST_F(TreeTest, IsItsOwnIndex) {
  for (const std::string_view name :
       {"matmul_128x64x64_f16t_f16t_f16t", "matmul_64x64x64_f16t_f16t_f16t",
        "attention_2x64x64x64_f16t_f16t_f16t", "batch_matmul_2x8x8x8_f32t_f32t_f32t"})
    write(name, "func.func @f()");
  ASSERT_TRUE(write_file_atomically(dir() / "generated/linalg/matmul/notes/notes.mlir", "x"));
  ASSERT_TRUE(write_file_atomically(
      dir() / "generated/linalg/matmul/matmul_1x1x1_f16t_f16t_f16t/other.txt", "x"));
  const auto tree = read_tree(dir());
  ASSERT_TRUE(tree) << tree.error().message;
  std::vector<std::string> names;
  for (const NamedOperation& operation : tree->operations) names.push_back(operation.name());
  EXPECT_THAT(names, testing::ElementsAre("matmul_64x64x64_f16t_f16t_f16t",
                                          "matmul_128x64x64_f16t_f16t_f16t",
                                          "batch_matmul_2x8x8x8_f32t_f32t_f32t",
                                          "attention_2x64x64x64_f16t_f16t_f16t"));
  EXPECT_THAT(tree->strangers, testing::ElementsAre(HasSubstr("'notes' is no operation's name")));
}

TEST_F(TreeTest, SaysThatThereIsNone) {
  EXPECT_THAT(read_tree(dir()).error().message,
              HasSubstr("generated/linalg': --generated-dir names the folder"));
}

TEST_F(TreeTest, ReadsDispatchesFromFunctions) {
  write(kName,
        "// func.func @not_this_one(\n#a = 1\n"
        "func.func @matmul_64x64x4096_f16t_f16t_f16t_tile_config_64x64_64x5_tensorcore_mmasync(\n  "
        "%lhs: x) {\n}\n"
        "func.func @matmul_64x64x4096_f16t_f16t_f16t_tile_config_default(\n");
  const auto dispatches = dispatches_of(dir(), operation_named(kName));
  ASSERT_TRUE(dispatches) << dispatches.error().message;
  ASSERT_EQ(dispatches->size(), 2U);
  EXPECT_EQ((*dispatches)[0].configuration, "tile_config_64x64_64x5_tensorcore_mmasync");
  EXPECT_EQ((*dispatches)[1].name(), "matmul_64x64x4096_f16t_f16t_f16t_tile_config_default");
  EXPECT_EQ((*dispatches)[1].operation, operation_named(kName));
}

TEST_F(TreeTest, RefusesFilesThatAreNotTheOperations) {
  write(kName, "func.func @matmul_1x1x1_f16t_f16t_f16t_tile_config_default() {}\n");
  EXPECT_THAT(dispatches_of(dir(), operation_named(kName)).error().message,
              HasSubstr("is none of this operation"));
  write(kName, "#half_written");
  EXPECT_THAT(dispatches_of(dir(), operation_named(kName)).error().message,
              HasSubstr("there is no function"));
}

}  // namespace
}  // namespace hone::profiler
