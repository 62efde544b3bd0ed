// A kernel of Triton's in the place of IREE's for gfx942, called by IREE's own HIP runtime on the
// emulating HIP library (tests/amd).
#ifdef HONE_FAKE_HIP
#include <cstring>

#include "provider/iree/compiler/runtime_tools.h"
#include "provider/iree/gpu/executable.h"
#include "provider/iree/iree_spec_writer.h"
#include "provider/iree/whole_program.h"
#include "provider/triton/triton_provider.h"
#include "tests/provider_iree_gpu/child.h"
#include "tests/provider_iree_gpu/programs.h"
#include "tests/triton_compiler/compile_workers.h"

namespace hone::triton {
namespace {

using iree::gpu::flags_for;
using iree::gpu::in_child;
using testing::ElementsAre;

constexpr int kRows = 16, kColumns = 32, kDepth = 1024;

// Small integers, whose sums are exact.
float element(int row, int column) {
  return static_cast<float>((row * 7 + column * 3) % 11 - 5);
}

problem::Array matrix(int rows, int columns) {
  problem::Array array =
      problem::zeros_of({.element = problem::ElementType::kF32, .shape = {rows, columns}});
  std::vector<float> values;
  for (int i = 0; i < rows * columns; ++i) values.push_back(element(i / columns, i % columns));
  std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

std::vector<float> sums() {
  std::vector<float> sums;
  for (int i = 0; i < kRows * kColumns; ++i) {
    float sum = 0;
    for (int k = 0; k < kDepth; ++k) sum += element(i / kColumns, k) * element(k, i % kColumns);
    sums.push_back(sum);
  }
  return sums;
}

// Eight programs share each of two tiles: they meet in memory of the kernel's own.
TEST(ReplacedOnAmd, AProductWithScratchMemoryIsRunByIreesRuntime) {
  const std::string program = iree::gpu::matmul(kRows, kColumns, kDepth, "f32");
  const std::string json = in_child([&]() -> std::string {
    const auto loaded =
        load_program(iree::compiler(), "main.mlir", program, flags_for("gfx942"), {});
    return loaded ? nlohmann::json(loaded->dispatches.front()).dump() : loaded.error().message;
  });
  const auto dispatch = nlohmann::json::parse(json).get<problem::Dispatch>();
  problem::Dispatch stated = dispatch;
  stated.source = problem::statement_text(dispatch.statement);
  const auto compiled = shared_workers().one(stated, "gfx942",
                                             {{"BLOCK_M", 16},
                                              {"BLOCK_N", 16},
                                              {"BLOCK_K", 32},
                                              {"SPLIT_K", 8},
                                              {"num_warps", 1},
                                              {"num_stages", 2},
                                              {"waves_per_eu", 2},
                                              {"matrix_instr_nonkdim", 16},
                                              {"kpack", 1}});
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_EQ(compiled->launch.entry, dispatch.name);
  EXPECT_THAT(compiled->launch.grid, ElementsAre(2, 1, 8));
  EXPECT_THAT(compiled->launch.block, ElementsAre(64, 1, 1));
  EXPECT_EQ(compiled->launch.shared_bytes, 0u) << "it has a fixed size in the code";

  const iree::IreeSpecWriter specs("", "gfx942", iree::kSpecFlag);
  const auto file = specs.replaced(dispatch, {}, compiled->code, compiled->launch);
  ASSERT_TRUE(file) << file.error().message;
  const auto read = specs.read_replaced(file->text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->code, compiled->code);
  const TemporaryFolder folder = TemporaryFolder::create("hone-test-").value();
  ASSERT_TRUE(write_file_atomically(folder.path() / (file->executable + ".mlir"), file->text));
  const std::filesystem::path module = folder.path() / "main.vmfb";
  const std::string held = in_child([&]() -> std::string {
    const auto made = compile_program(iree::compiler(), "main.mlir", program,
                                      specs.with_replaced(flags_for("gfx942"), folder.path()));
    if (!made) return made.error().message;
    if (!write_file_atomically(module, *made)) return "not written";
    const auto kernel = iree::kernel_in_module(*made, dispatch.name);
    return kernel ? kernel->code : "no such kernel";
  });
  EXPECT_TRUE(held == compiled->code) << held.substr(0, 300);

  provider::ProgramCall call;
  call.module = module;
  call.function.name = "main";
  call.device = {.kind = "hip", .index = 0, .library = HONE_FAKE_HIP};
  for (const auto& [name, array] :
       {std::pair{"a.npy", matrix(kRows, kDepth)}, {"b.npy", matrix(kDepth, kColumns)}}) {
    call.inputs.push_back(folder.path() / name);
    ASSERT_TRUE(write_file_atomically(call.inputs.back(), problem::to_npy(array)));
  }
  const auto installation = iree::find_installation(HONE_SOURCE_DIR "/.venv");
  ASSERT_TRUE(installation) << installation.error().message;
  const auto results = iree::run_module(*installation, call, 1);
  ASSERT_TRUE(results) << results.error().message;
  std::vector<float> got(kRows * kColumns);
  ASSERT_EQ(results->front().bytes.size(), got.size() * sizeof(float));
  std::memcpy(got.data(), results->front().bytes.data(), results->front().bytes.size());
  EXPECT_EQ(got, sums());
}

}  // namespace
}  // namespace hone::triton
#endif
