// Kernels in the place of a program's own: what the wheel makes of a dispatch's statement, and that
// it is launched as IREE launches its kernels. Figures are those of Triton 3.9.0.
#include "provider/resources.h"
#include "tests/triton_compiler/compile_workers.h"

namespace hone::triton {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// tanh(A B + bias), whose operands lie where the launch says.
constexpr char kMatmul[] = R"({
  "kind": "contraction", "entry": "main$async_dispatch_0_matmul", "bindings": 3, "constants": 3,
  "views": [{"binding": 0, "offset": 0, "words": [0], "multiple": 524288},
            {"binding": 1, "offset": 128, "words": [1, 2], "multiple": 64},
            {"binding": 2, "offset": 0, "words": [], "multiple": 64}],
  "loops": [{"size": 512, "role": "m"}, {"size": 256, "role": "n"}, {"size": 640, "role": "k"}],
  "lhs": {"view": 0, "type": "f16", "offset": 0, "strides": [640, 0, 1]},
  "rhs": {"view": 1, "type": "f16", "offset": 0, "strides": [0, 1, 256]},
  "accumulator": "f32", "start": 0.0,
  "values": [{"op": "root", "type": "f32", "operands": []},
             {"op": "load", "type": "f16", "view": 1, "offset": 163840, "strides": [0, 1, 0], "operands": []},
             {"op": "arith.truncf", "type": "f16", "operands": [0]},
             {"op": "arith.addf", "type": "f16", "operands": [2, 1]},
             {"op": "math.tanh", "type": "f16", "operands": [3]}],
  "stores": [{"view": 2, "type": "f16", "offset": 0, "strides": [256, 1, 0], "value": 4}]})";

// 3 x 3 over an image of 34 x 34 x 64, 96 filters.
constexpr char kConvolution[] = R"({
  "kind": "contraction", "entry": "conv", "bindings": 3, "constants": 0,
  "views": [{"binding": 0, "offset": 0, "words": [], "multiple": 64},
            {"binding": 1, "offset": 0, "words": [], "multiple": 64},
            {"binding": 2, "offset": 0, "words": [], "multiple": 64}],
  "loops": [{"size": 32, "role": "m"}, {"size": 32, "role": "m"}, {"size": 96, "role": "n"},
            {"size": 3, "role": "k"}, {"size": 3, "role": "k"}, {"size": 64, "role": "k"}],
  "lhs": {"view": 0, "type": "f16", "offset": 0, "strides": [2176, 64, 0, 2176, 64, 1]},
  "rhs": {"view": 1, "type": "f16", "offset": 0, "strides": [0, 0, 1, 18432, 6144, 96]},
  "accumulator": "f32", "start": 0.0,
  "values": [{"op": "root", "type": "f32", "operands": []}],
  "stores": [{"view": 2, "type": "f32", "offset": 0, "strides": [3072, 96, 1, 0, 0, 0], "value": 0}]})";

problem::Dispatch stated(const std::string& contraction) {
  problem::Dispatch dispatch;
  dispatch.source = contraction;
  return dispatch;
}

const std::map<std::string, std::int64_t> kKnobs{{"BLOCK_M", 64},  {"BLOCK_N", 64},
                                                 {"BLOCK_K", 64},  {"GROUP_M", 8},
                                                 {"num_warps", 4}, {"num_stages", 3}};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(Contractions, AreLaunchedAsIreesKernelsAre) {
  CompileWorkers& workers = shared_workers();
  workers.submit(0, stated(kMatmul), "sm_90", kKnobs);
  const auto compiled = workers.all();
  ASSERT_TRUE(compiled.at(0)) << compiled.at(0).error().message;
  const problem::Launch& launch = compiled.at(0)->launch;
  // What IREE makes of '$', and the runtime looks for.
  EXPECT_EQ(launch.entry, "main_async_dispatch_0_matmul");
  EXPECT_THAT(launch.grid, ElementsAre(8 * 4, 1, 1));
  EXPECT_THAT(launch.block, ElementsAre(128, 1, 1));
  // Three stages of 64 x 64 elements of A and of B.
  EXPECT_EQ(launch.shared_bytes, 3u * 2 * 64 * 64 * 2);
  EXPECT_EQ(launch.constants.size(), 3u);
  EXPECT_TRUE(launch.arguments.empty());
  EXPECT_EQ(launch.hidden_pointers, 0);
  const std::string& ptx = compiled.at(0)->code;
  EXPECT_THAT(ptx, HasSubstr(".entry main_async_dispatch_0_matmul("));
  EXPECT_EQ(count(ptx, ".param .u64"), 3u) << "no pointers of Triton's own";
  EXPECT_EQ(count(ptx, ".param .u32"), 3u);
  EXPECT_THAT(ptx, HasSubstr("wgmma.mma_async"));
  // Copies of 16 bytes, ahead of their use: what is known of where views begin is not lost.
  EXPECT_THAT(ptx, HasSubstr("cp.async.cg.shared.global"));
}

TEST(Contractions, AConvolutionIsAProductThatReadsItsImageInPlace) {
  CompileWorkers& workers = shared_workers();
  workers.submit(0, stated(kConvolution), "sm_90", kKnobs);
  const auto compiled = workers.all();
  ASSERT_TRUE(compiled.at(0)) << compiled.at(0).error().message;
  // 32 x 32 results of an image are 16 tiles, 96 filters 2.
  EXPECT_THAT(compiled.at(0)->launch.grid, ElementsAre(32, 1, 1));
  EXPECT_THAT(compiled.at(0)->code, HasSubstr("wgmma.mma_async"));
  EXPECT_THAT(compiled.at(0)->code, HasSubstr("cp.async.cg.shared.global"));
}

std::map<std::string, std::int64_t> with(std::map<std::string, std::int64_t> knobs) {
  knobs.insert(kKnobs.begin(), kKnobs.end());
  return knobs;
}

// 32 tiles in four parts, each of 64 x 64 sums of four bytes, and a counter for each tile.
TEST(Contractions, WhoSplitKMeetInAVariableOfTheirModule) {
  CompileWorkers& workers = shared_workers();
  for (const char* statement : {kMatmul, kConvolution}) {
    const auto compiled = workers.one(stated(statement), "sm_90", with({{"SPLIT_K", 4}}));
    ASSERT_TRUE(compiled) << compiled.error().message;
    EXPECT_THAT(compiled->launch.grid, ElementsAre(32, 1, 4));
    EXPECT_EQ(compiled->launch.scratch_bytes, 0);  // nothing that a launch would have to give
    EXPECT_EQ(count(compiled->code, ".param .u64"), 3u);
    EXPECT_EQ(
        count(compiled->code, ".global .align 128 .b8 " + compiled->launch.entry + "_memory0[" +
                                  std::to_string(32 * (4 * 4096 + 1) * 4) + "];"),
        1u);
    EXPECT_EQ(count(compiled->code, "_memory0;"), 1u) << "read in the parameter's place";
    EXPECT_THAT(compiled->code, HasSubstr("atom.global.gpu.acq_rel.add.u32"));
  }
}

// 256 biases, two in a word.
TEST(Contractions, ATableOfConstantsIsInTheirModule) {
  CompileWorkers& workers = shared_workers();
  nlohmann::json said = nlohmann::json::parse(kMatmul);
  nlohmann::json& bias = said["values"][1];
  bias["op"] = "table";
  bias.erase("view");
  bias["offset"] = 0;
  for (int word = 0; word < 128; ++word) bias["words"].push_back(0x3C003800 + word);
  const auto compiled = workers.one(stated(said.dump()), "sm_90", with({{"SPLIT_K", 2}}));
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_EQ(count(compiled->code, ".param .u64"), 3u);
  EXPECT_THAT(compiled->code, HasSubstr("_memory0[128] = {1006647296, 1006647297, 1006647298, "));
  EXPECT_THAT(compiled->code, HasSubstr("_memory1[" + std::to_string(32 * (2 * 4096 + 1) * 4)));
  EXPECT_EQ(count(compiled->code, "_memory0;"), 1u);
}

// A B1 beside kMatmul's A B, both with a result of their own, or `joined` to one.
nlohmann::json two_products(bool joined) {
  nlohmann::json said = nlohmann::json::parse(kMatmul);
  said["bindings"] = 5;
  said["views"].push_back(
      {{"binding", 3}, {"offset", 0}, {"words", nlohmann::json::array()}, {"multiple", 64}});
  said["views"].push_back(
      {{"binding", 4}, {"offset", 0}, {"words", nlohmann::json::array()}, {"multiple", 64}});
  said["rhs1"] = said["rhs"];
  said["rhs1"]["view"] = 3;
  said["values"].push_back(
      {{"op", "root"}, {"type", "f32"}, {"operands", nlohmann::json::array()}, {"product", 1}});
  said["values"].push_back({{"op", "arith.truncf"}, {"type", "f16"}, {"operands", {5}}});
  if (joined)
    said["values"].push_back({{"op", "arith.mulf"}, {"type", "f16"}, {"operands", {4, 6}}});
  said["stores"].push_back(said["stores"][0]);
  said["stores"][1]["view"] = 4;
  said["stores"][1]["value"] = joined ? 7 : 6;
  return said;
}

TEST(Contractions, AProgramComputesATileOfOneOfSeveralProducts) {
  CompileWorkers& workers = shared_workers();
  for (const std::int64_t structure : {0, 5}) {
    const auto compiled = workers.one(stated(two_products(false).dump()), "sm_90",
                                      with({{"STRUCTURE", structure}, {"SPLIT_K", 2}}));
    ASSERT_TRUE(compiled) << compiled.error().message;
    EXPECT_THAT(compiled->launch.grid, ElementsAre(2 * 8 * 4, 1, 2));
    EXPECT_EQ(count(compiled->code, ".param .u64"), 5u);
    // Both parts of each tile of both products, and a counter for each tile.
    EXPECT_THAT(compiled->code, HasSubstr("_memory0[" + std::to_string(64 * (2 * 4096 + 1) * 4)));
    EXPECT_THAT(compiled->code, HasSubstr("wgmma.mma_async"));
  }
  EXPECT_THAT(workers.one(stated(two_products(false).dump()), "sm_90", with({{"STRUCTURE", 4}}))
                  .error()
                  .message,
              HasSubstr("a program that walks the tiles is for one product"));
}

TEST(Contractions, AProgramComputesATileOfAllProductsThatAResultIsMadeOf) {
  CompileWorkers& workers = shared_workers();
  const auto alone = workers.one(stated(kMatmul), "sm_90", with({}));
  ASSERT_TRUE(alone) << alone.error().message;
  for (const std::int64_t structure : {0, 5}) {
    const auto compiled =
        workers.one(stated(two_products(true).dump()), "sm_90", with({{"STRUCTURE", structure}}));
    ASSERT_TRUE(compiled) << compiled.error().message;
    EXPECT_THAT(compiled->launch.grid, ElementsAre(8 * 4, 1, 1));
    // Three stages of 64 x 64 elements of A and of two right operands.
    EXPECT_GE(compiled->launch.shared_bytes, 3u * 3 * 64 * 64 * 2);
    if (structure == 0) {
      EXPECT_EQ(count(compiled->code, "wgmma.mma_async"),
                2 * count(alone->code, "wgmma.mma_async"));
    }
  }
  EXPECT_THAT(workers.one(stated(two_products(true).dump()), "sm_90", with({{"SPLIT_K", 2}}))
                  .error()
                  .message,
              HasSubstr("for results of one product each"));
}

// Two descriptors of 128 bytes for each of 32 programs, where Triton has them made.
TEST(Contractions, MatricesAreLoadedByDescriptorsMadeInPlace) {
  CompileWorkers& workers = shared_workers();
  const auto compiled = workers.one(stated(kMatmul), "sm_90", with({{"STRUCTURE", 5}}));
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_THAT(compiled->launch.grid, ElementsAre(32, 1, 1));
  EXPECT_EQ(count(compiled->code, ".param .u64"), 3u);
  EXPECT_THAT(compiled->code, HasSubstr("_memory0[" + std::to_string(32 * 2 * 128) + "];"));
  EXPECT_THAT(compiled->code, HasSubstr("cp.async.bulk.tensor.2d"));
  EXPECT_THAT(compiled->code, Not(HasSubstr("cp.async.cg.shared.global")));

  // 256 columns are one tile of 128 and 64, and a part of another.
  const auto wide = workers.one(stated(kMatmul), "sm_90",
                                with({{"STRUCTURE", 5}, {"BLOCK_N", 128}, {"MORE_N", 64}}));
  ASSERT_TRUE(wide) << wide.error().message;
  EXPECT_THAT(wide->launch.grid, ElementsAre(8 * 2, 1, 1));
  EXPECT_GE(wide->launch.shared_bytes, 3u * 64 * (64 + 128 + 64) * 2);
}

// 96 filters are 2 tiles of 64. Of 32 x 32 pixels boxes of 64 are 2 rows; boxes of 128 with 64
// behind them 6 rows, of which the last tile has 2, so that 6 x 2 tiles cover all.
TEST(Contractions, AnImageIsLoadedInBoxes) {
  CompileWorkers& workers = shared_workers();
  const auto compiled =
      workers.one(stated(kConvolution), "sm_90", with({{"STRUCTURE", 5}, {"SWAP", 1}}));
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_THAT(compiled->launch.grid, ElementsAre(2 * 16, 1, 1));
  EXPECT_THAT(compiled->code, HasSubstr("cp.async.bulk.tensor.3d"));
  EXPECT_THAT(compiled->code, HasSubstr("wgmma.mma_async"));
  EXPECT_THAT(compiled->code, Not(HasSubstr("cp.async.cg.shared.global")));
  EXPECT_THAT(compiled->code, Not(HasSubstr("ldmatrix"))) << "no detour through registers";
  const auto wide =
      workers.one(stated(kConvolution), "sm_90",
                  with({{"STRUCTURE", 5}, {"SWAP", 1}, {"BLOCK_N", 128}, {"MORE_N", 64}}));
  ASSERT_TRUE(wide) << wide.error().message;
  EXPECT_THAT(wide->launch.grid, ElementsAre(2 * 6, 1, 1));
}

// The GPU has 132 multiprocessors, and 64 x 16 tiles of 32 x 32 keep two programs of each busy.
TEST(Contractions, ProgramsThatWalkTheTilesAreAsManyAsRunAtATime) {
  CompileWorkers& workers = shared_workers();
  std::string large = kMatmul;
  large.replace(large.find("\"size\": 512"), 11, "\"size\": 2048");
  const auto compiled = workers.one(stated(large), "sm_90",
                                    {{"STRUCTURE", 4},
                                     {"BLOCK_M", 32},
                                     {"BLOCK_N", 16},
                                     {"BLOCK_K", 64},
                                     {"GROUP_M", 8},
                                     {"PER_UNIT", 2},
                                     {"num_warps", 4},
                                     {"num_stages", 3}});
  ASSERT_TRUE(compiled) << compiled.error().message;
  EXPECT_THAT(compiled->launch.grid, ElementsAre(2 * 132, 1, 1));
}

TEST(Contractions, SayWhatTheyHaveNoWordsFor) {
  CompileWorkers& workers = shared_workers();
  std::string unknown = kMatmul;
  unknown.replace(unknown.find("math.tanh"), 9, "math.nothing");
  workers.submit(0, stated(unknown), "sm_90", kKnobs);
  const auto compiled = workers.all();
  ASSERT_FALSE(compiled.at(0));
  EXPECT_THAT(compiled.at(0).error().message,
              testing::AllOf(HasSubstr("math.nothing"), Not(HasSubstr("Traceback"))));
}

}  // namespace
}  // namespace hone::triton
