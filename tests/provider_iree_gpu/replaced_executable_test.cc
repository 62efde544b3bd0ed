// A kernel in the place of IREE's, read back from the compiled program.
#include <gmock/gmock.h>

#include "base/file.h"
#include "provider/iree/gpu/executable.h"
#include "provider/iree/iree_spec_writer.h"
#include "provider/iree/whole_program.h"
#include "tests/provider_iree_gpu/child.h"
#include "tests/provider_iree_gpu/programs.h"

namespace hone::iree::gpu {
namespace {

using testing::HasSubstr;

const IreeSpecWriter& specs() {
  static const IreeSpecWriter made("", "", kCudaSpecFlag);
  return made;
}

// It does nothing, in the way that IREE launches kernels: three bindings, no constants.
std::string kernel(const std::string& name) {
  return fmt::format(
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry {}(.param .u64 a, "
      ".param .u64 b, .param .u64 c)\n{{\nret; // in the place\n}}\n",
      name);
}

problem::Launch launch() {
  problem::Launch launch;
  launch.grid = {12, 3, 1};
  launch.block = {96, 1, 1};
  launch.shared_bytes = 34304;
  return launch;
}

problem::Dispatch dispatch() {
  return load_program(compiler(), "main.mlir", matmul(64, 48, 32), flags_for("sm_80"), {})
      ->dispatches.front();
}

// In a process of its own: the flag is one that a process keeps.
TEST(ReplacedExecutable, IsWhatTheProgramHolds) {
  const problem::Dispatch replaced = dispatch();
  const auto file = specs().replaced(replaced, {}, kernel(replaced.name), launch());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->executable, "main_dispatch_0");
  const TemporaryFolder folder = TemporaryFolder::create("hone-test-").value();
  ASSERT_TRUE(write_file_atomically(folder.path() / "main_dispatch_0.mlir", file->text));
  const std::string found = in_child([&]() -> std::string {
    std::vector<std::string> flags = flags_for("sm_80");
    flags = specs().with_replaced(std::move(flags), folder.path());
    const auto module = compile_program(compiler(), "main.mlir", matmul(64, 48, 32), flags);
    if (!module) return module.error().message;
    const auto held = kernel_in_module(*module, replaced.name);
    return held ? held->code : "no such kernel";
  });
  EXPECT_THAT(found, HasSubstr("ret; // in the place"));
}

// At O3 the block has four dispatches, and six without: a process that has flags of its own must
// not lose the level.
TEST(ReplacedExecutable, LeavesTheOptimizationLevelAsItIs) {
  const auto dispatches = [](const std::vector<std::string>& more) {
    return in_child([&]() -> std::string {
      std::vector<std::string> flags = flags_for("sm_80");
      flags.insert(flags.end(), more.begin(), more.end());
      const auto program = load_program(compiler(), "attention_block.mlir",
                                        example("attention_block.mlir"), flags, {});
      return program ? std::to_string(program->dispatches.size()) : program.error().message;
    });
  };
  const TemporaryFolder empty = TemporaryFolder::create("hone-test-").value();
  EXPECT_EQ(dispatches({}), "6");
  EXPECT_EQ(dispatches({"--iree-opt-level=O3"}), "4");
  EXPECT_EQ(dispatches(specs().with_replaced({"--iree-opt-level=O3"}, empty.path())), "4");
}

TEST(ReplacedExecutable, CanBeReadBack) {
  const problem::Dispatch replaced = dispatch();
  const auto file = specs().replaced(replaced, {}, kernel(replaced.name), launch());
  ASSERT_TRUE(file) << file.error().message;
  const auto read = specs().read_replaced(file->text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->dispatch, replaced.name);
  EXPECT_EQ(read->code, kernel(replaced.name));
  EXPECT_EQ(read->launch, replaced.statement->layout);
  EXPECT_THAT(read->launch, HasSubstr("#hal.pipeline.layout<bindings = ["));
  EXPECT_FALSE(specs().read_replaced("module {}"));
}

TEST(ReplacedExecutable, RefusesWhatIsNotTheDispatchsKernel) {
  const problem::Dispatch replaced = dispatch();
  EXPECT_THAT(specs().replaced(replaced, {}, kernel("another"), launch()).error().message,
              HasSubstr("has no kernel of that name"));
  problem::Dispatch unstated = replaced;
  unstated.statement.reset();
  EXPECT_THAT(specs().replaced(unstated, {}, kernel(replaced.name), launch()).error().message,
              HasSubstr("is not stated"));
}

}  // namespace
}  // namespace hone::iree::gpu
