// What the wheel makes of each of hone's kernels, and how hone launches it. Figures are those of
// Triton 3.9.0.
#include "problem/code_target.h"
#include "provider/resources.h"
#include "tests/triton_compiler/compile_workers.h"

namespace hone::triton {
namespace {

using problem::LaunchArgument;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

using Knobs = std::map<std::string, std::int64_t>;

// 64 x 64 x 32 in tiles: 8 x 4 of C, 16 steps of k.
Knobs knobs(std::int64_t structure, const Knobs& more = {}) {
  Knobs knobs{{"STRUCTURE", structure}, {"BLOCK_M", 64},  {"BLOCK_N", 64},   {"BLOCK_K", 32},
              {"GROUP_M", 4},           {"num_warps", 4}, {"num_stages", 3}, {"SPLIT_K", 1}};
  for (const auto& [name, value] : more) knobs[name] = value;
  return knobs;
}

Gemm product(problem::ElementType c = problem::ElementType::kF16) {
  Gemm product = gemm(512, 256, 512);
  product.c = c;
  return product;
}

// One letter for each argument: Binding, Scratch, Integer, Map.
std::string kinds(const problem::Launch& launch) {
  std::string kinds;
  for (const LaunchArgument& argument : launch.arguments)
    kinds += "BSIM"[static_cast<int>(argument.kind)];
  return kinds;
}

std::string described(const problem::Launch& launch) {
  return fmt::format("{} grid {} block {} shared {} arguments {} + {} scratch {}", launch.entry,
                     fmt::join(launch.grid, "x"), fmt::join(launch.block, "x"), launch.shared_bytes,
                     kinds(launch), launch.hidden_pointers, launch.scratch_bytes);
}

std::vector<std::string> steps(const Compiled& compiled) {
  std::vector<std::string> steps;
  for (const auto& part : problem::kernels_of(compiled.launch, compiled.code))
    steps.push_back(described(*part.launch));
  return steps;
}

std::vector<std::string> targets(const Compiled& compiled) {
  std::vector<std::string> targets;
  for (const auto& part : problem::kernels_of(compiled.launch, compiled.code))
    targets.push_back(problem::code_target(part.code).value_or("none"));
  return targets;
}

// `ptxas -v --gpu-name=sm_90a` of the kernel's PTX: "Used 64 registers, used 1 barriers".
TEST(Structures, SayWhatTheyTakeOfAnNvidiaGpu) {
  CompileWorkers& workers = shared_workers();
  workers.submit(0, dispatch_of(product()), "sm_90", knobs(0));
  auto compiled = workers.all();
  ASSERT_TRUE(compiled.at(0)) << compiled.at(0).error().message;
  const std::string& code = compiled.at(0)->code;
  const auto resources = provider::cubin_resources(code, "gemm_blocked");
  ASSERT_TRUE(resources);
  EXPECT_EQ(resources->registers, 64);
  EXPECT_EQ(resources->private_bytes, 0);
  EXPECT_EQ(resources->subgroup_size, 32);
  EXPECT_FALSE(provider::cubin_resources(code, "gemm"));
  EXPECT_FALSE(provider::cubin_resources(code.substr(0, code.size() / 2), "gemm_blocked"));
}

// Shared memory: 3 stages of (64 + 64) * 32 * 2 bytes, in structure 4 also a tile of C and a
// barrier of 8 bytes per stage. Scratch: tiles of 64 * 64 * 4 bytes (32 tiles of 4 parts; two for
// each of 132 programs) and in stream-K a counter of 4 bytes for each tile of C.
TEST(Structures, CompileForAnH200) {
  CompileWorkers& workers = shared_workers();
  const auto f16 = dispatch_of(product()), f32 = dispatch_of(product(problem::ElementType::kF32));
  workers.submit(0, f16, "sm_90", knobs(0));
  workers.submit(1, f32, "sm_90", knobs(1, {{"SPLIT_K", 4}}));
  workers.submit(2, f16, "sm_90", knobs(2, {{"SPLIT_K", 4}}));
  workers.submit(3, f16, "sm_90", knobs(3));
  workers.submit(4, f16, "sm_90", knobs(4));
  auto compiled = workers.all();
  for (const auto& [id, each] : compiled) ASSERT_TRUE(each) << id << ": " << each.error().message;
  EXPECT_THAT(
      steps(*compiled.at(0)),
      ElementsAre(
          "gemm_blocked grid 32x1x1 block 128x1x1 shared 24576 arguments BBBIIII + 2 scratch 0"));
  EXPECT_THAT(
      steps(*compiled.at(1)),
      ElementsAre("fill_zero grid 128x1x1 block 128x1x1 shared 0 arguments BI + 2 scratch 0",
                  "gemm_split_k_atomic grid 32x4x1 block 128x1x1 shared 24576 arguments BBBIIIII + "
                  "2 scratch 0"));
  EXPECT_THAT(
      steps(*compiled.at(2)),
      ElementsAre(
          "gemm_split_k_parts grid 32x4x1 block 128x1x1 shared 24576 arguments BBSIIIII + 2 "
          "scratch 2097152",
          "sum_parts grid 32x1x1 block 128x1x1 shared 0 arguments SBIIII + 2 scratch 2097152"));
  EXPECT_THAT(steps(*compiled.at(3)), ElementsAre("gemm_stream_k grid 132x1x1 block 128x1x1 shared "
                                                  "24576 arguments BBBSSIIII + 2 scratch 4325504"));
  EXPECT_THAT(steps(*compiled.at(4)), ElementsAre("gemm_persistent grid 32x1x1 block 128x1x1 "
                                                  "shared 32792 arguments MMMIIII + 2 scratch 0"));
  for (const auto& [id, each] : compiled) EXPECT_THAT(targets(*each), testing::Each("sm_90"));
}

// Boxes are what the compiler asks for: rows of at most 128 bytes.
TEST(Structures, TensorMapsHaveTheCompilersBoxes) {
  CompileWorkers& workers = shared_workers();
  const auto f16 = dispatch_of(product());
  workers.submit(0, f16, "sm_90",
                 knobs(4, {{"BLOCK_N", 128}, {"BLOCK_K", 64}, {"SPLIT_STORE", 1}}));
  workers.submit(5, f16, "sm_90", knobs(5, {{"SPLIT_K", 2}}));
  workers.submit(6, f16, "sm_90", knobs(6));
  workers.submit(7, f16, "sm_90", knobs(7, {{"MORE_N", 32}}));
  workers.submit(8, f16, "sm_90", knobs(8, {{"BLOCK_M", 128}, {"BLOCK_K", 64}}));
  auto compiled = workers.all();
  for (const auto& [id, each] : compiled) ASSERT_TRUE(each) << id << ": " << each.error().message;
  const auto& arguments = compiled.at(0)->launch.arguments;
  const problem::TensorMap a = arguments.at(0).map, b = arguments.at(1).map,
                           c = arguments.at(2).map;
  EXPECT_THAT(a.shape, ElementsAre(512, 512));
  EXPECT_THAT(a.strides, ElementsAre(512, 1));
  EXPECT_THAT(a.box, ElementsAre(64, 64));
  EXPECT_EQ(a.element_type, 6);  // CU_TENSOR_MAP_DATA_TYPE_FLOAT16
  EXPECT_EQ(a.element_bytes, 2);
  EXPECT_EQ(a.swizzle, 3);  // CU_TENSOR_MAP_SWIZZLE_128B
  EXPECT_THAT(b.shape, ElementsAre(512, 256));
  EXPECT_THAT(b.box, ElementsAre(64, 64));
  EXPECT_THAT(c.shape, ElementsAre(512, 256));
  EXPECT_THAT(c.box, ElementsAre(64, 64));
  EXPECT_THAT(steps(*compiled.at(5)),
              ElementsAre("gemm_tiles_tma grid 32x2x1 block 128x1x1 shared 24600 arguments "
                          "MMMSSIIIII + 2 scratch 1048704"));
  EXPECT_THAT(steps(*compiled.at(6)),
              ElementsAre("gemm_stream_k_tma grid 132x1x1 block 128x1x1 shared 24600 arguments "
                          "MMMSSIIIII + 2 scratch 4325504"));
  EXPECT_THAT(steps(*compiled.at(7)), ElementsAre("gemm_wide_tma grid 24x1x1 block 128x1x1 shared "
                                                  "30744 arguments MMMMMIIII + 2 scratch 0"));
  // Four warps compute, four more (of which one is busy) fetch.
  EXPECT_THAT(steps(*compiled.at(8)), ElementsAre("gemm_warp_specialized grid 16x1x1 block 256x1x1 "
                                                  "shared 90172 arguments MMMIIII + 2 scratch 0"));
}

// Of 2 stages one lies in shared memory: (64 + 64) * 32 * 2 bytes; where C is f32, a tile of it on
// its way to memory needs more: 64 * 64 * 4.
TEST(Structures, CompileForAnMi300x) {
  CompileWorkers& workers = shared_workers();
  const auto f16 = dispatch_of(product()), f32 = dispatch_of(product(problem::ElementType::kF32));
  const Knobs amd{
      {"num_stages", 2}, {"waves_per_eu", 0}, {"matrix_instr_nonkdim", 16}, {"kpack", 1}};
  const auto with = [&](Knobs more) {
    more.insert(amd.begin(), amd.end());
    return more;
  };
  workers.submit(0, f16, "gfx942", knobs(0, amd));
  workers.submit(1, f32, "gfx942", knobs(1, with({{"SPLIT_K", 4}})));
  workers.submit(2, f16, "gfx942", knobs(2, with({{"SPLIT_K", 4}})));
  workers.submit(3, f16, "gfx942", knobs(3, amd));
  workers.submit(4, f16, "gfx942", knobs(4, amd));
  auto compiled = workers.all();
  ASSERT_FALSE(compiled.at(4));
  EXPECT_EQ(compiled.at(4).error().kind, provider::FailureKind::kCompileError);
  EXPECT_EQ(compiled.at(4).error().message, "tensor descriptors need NVIDIA sm_90 or later");
  compiled.erase(4);
  for (const auto& [id, each] : compiled) ASSERT_TRUE(each) << id << ": " << each.error().message;
  EXPECT_THAT(
      steps(*compiled.at(0)),
      ElementsAre(
          "gemm_blocked grid 32x1x1 block 256x1x1 shared 8192 arguments BBBIIII + 2 scratch 0"));
  EXPECT_THAT(
      steps(*compiled.at(1)),
      ElementsAre("fill_zero grid 128x1x1 block 256x1x1 shared 0 arguments BI + 2 scratch 0",
                  "gemm_split_k_atomic grid 32x4x1 block 256x1x1 shared 16384 arguments BBBIIIII + "
                  "2 scratch 0"));
  EXPECT_THAT(
      steps(*compiled.at(2)),
      ElementsAre(
          "gemm_split_k_parts grid 32x4x1 block 256x1x1 shared 8192 arguments BBSIIIII + 2 scratch "
          "2097152",
          "sum_parts grid 32x1x1 block 256x1x1 shared 0 arguments SBIIII + 2 scratch 2097152"));
  EXPECT_THAT(steps(*compiled.at(3)), ElementsAre("gemm_stream_k grid 304x1x1 block 256x1x1 shared "
                                                  "8192 arguments BBBSSIIII + 2 scratch 9961600"));
  for (const auto& [id, each] : compiled) EXPECT_THAT(targets(*each), testing::Each("gfx942"));
}

// GROUP_M is an argument while searching, so that candidates share a compile, and a constant of
// what ships.
TEST(Structures, OneCompileServesEveryGroupOfRows) {
  CompileWorkers& workers = shared_workers();
  const auto f16 = dispatch_of(product());
  workers.submit(4, f16, "sm_90", knobs(0));
  workers.submit(8, f16, "sm_90", knobs(0, {{"GROUP_M", 8}}));
  workers.submit(9, f16, "sm_90", knobs(0, {{"GROUP_M", 8}, {"FIXED", 1}}));
  const auto compiled = workers.all();
  ASSERT_TRUE(compiled.at(4) && compiled.at(8) && compiled.at(9));
  EXPECT_EQ(compiled.at(4)->code, compiled.at(8)->code);
  EXPECT_EQ(compiled.at(4)->launch.arguments.back().value, 4);
  EXPECT_EQ(compiled.at(8)->launch.arguments.back().value, 8);
  EXPECT_NE(compiled.at(8)->code, compiled.at(9)->code);
  EXPECT_EQ(kinds(compiled.at(8)->launch), "BBBIIII");
  EXPECT_EQ(kinds(compiled.at(9)->launch), "BBBIII");
}

TEST(Structures, MoreSharedMemoryThanThereIsIsACandidatesFailure) {
  const auto refused = shared_workers().one(dispatch_of(product()), "gfx942",
                                            knobs(0, {{"BLOCK_M", 128},
                                                      {"BLOCK_N", 128},
                                                      {"BLOCK_K", 128},
                                                      {"num_stages", 3},
                                                      {"num_warps", 8}}));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "131072 bytes of shared memory; a workgroup may have 65536");
}

}  // namespace
}  // namespace hone::triton
