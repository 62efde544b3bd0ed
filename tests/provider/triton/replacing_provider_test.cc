// The spaces of Triton kernels in the place of the compiler's, by what dispatches state.

#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "provider/triton/stated_spaces.h"
#include "provider/triton/triton_provider.h"
#include "space/configuration.h"
#include "tests/space/broken_rules.h"

namespace hone::triton {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

problem::Dispatch stated(const json& statement) {
  problem::Dispatch dispatch;
  dispatch.name = "main_dispatch_0";
  dispatch.statement = problem::statement_from(statement.dump());
  return dispatch;
}

// 20 x queries x keys, heads of `depth`.
json attention(int queries, int keys, int depth, const std::string& type = "f16") {
  json said = json::parse(R"({
    "kind": "attention", "entry": "kernel", "bindings": 1, "constants": 0, "scale": 1.0,
    "views": [{"binding": 0, "offset": 0, "words": [], "multiple": 64}]})");
  for (const auto& [role, size] :
       {std::pair("batch", 20), {"m", queries}, {"n", depth}, {"k1", depth}, {"k2", keys}})
    said["loops"].push_back({{"role", role}, {"size", size}});
  const json use = {{"view", 0}, {"type", type}, {"offset", 0}, {"strides", {0, 0, 0, 0, 0}}};
  for (const char* operand : {"query", "key", "value"}) said[operand] = use;
  said["values"] = {{{"op", "root"}, {"type", "f32"}, {"operands", json::array()}}};
  said["stores"] = {use};
  said["stores"][0]["value"] = 0;
  return said;
}

json product(int m, int n, int k) {
  json said = json::parse(R"({
    "kind": "contraction", "entry": "kernel", "bindings": 3, "constants": 0, "start": 0.0,
    "views": [{"binding": 0, "offset": 0, "words": [], "multiple": 64},
              {"binding": 1, "offset": 0, "words": [], "multiple": 64},
              {"binding": 2, "offset": 0, "words": [], "multiple": 64}],
    "values": [{"op": "root", "type": "f32", "operands": []},
               {"op": "arith.truncf", "type": "f16", "operands": [0]}]})");
  for (const auto& [role, size] : {std::pair("m", m), {"n", n}, {"k", k}})
    said["loops"].push_back({{"role", role}, {"size", size}});
  said["lhs"] = {{"type", "f16"}, {"view", 0}, {"offset", 0}, {"strides", {k, 0, 1}}};
  said["rhs"] = {{"type", "f16"}, {"view", 1}, {"offset", 0}, {"strides", {0, 1, n}}};
  said["stores"] = {
      {{"type", "f16"}, {"view", 2}, {"offset", 0}, {"strides", {n, 1, 0}}, {"value", 1}}};
  return said;
}

ReplacingProvider provider(std::string_view target) {
  return {gemm_device(target).value(), "3.9.0"};
}

// Of attention.
std::set<std::string> broken(const space::Space& space, int block_m, int block_n, int warps,
                             int stages, int split_k = 1) {
  return broken(space, fmt::format("BLOCK_M={},BLOCK_N={},SPLIT_K={},num_warps={},num_stages={}",
                                   block_m, block_n, split_k, warps, stages));
}

std::vector<std::string> knobs_of(const space::Space& space) {
  std::vector<std::string> knobs;
  for (const space::Knob& knob : space.knobs()) knobs.push_back(knob.name);
  return knobs;
}

TEST(ReplacingProvider, TakesAStatementByItsKind) {
  const ReplacingProvider triton = provider("sm_90");
  EXPECT_EQ(triton.name(), "triton@3.9.0");
  EXPECT_TRUE(triton.space_of(stated(product(512, 256, 640)))->knob_index("BLOCK_K"));
  const space::Space space = triton.space_of(stated(attention(4096, 4096, 64))).value();
  EXPECT_THAT(knobs_of(space),
              ElementsAre("BLOCK_M", "BLOCK_N", "SPLIT_K", "num_warps", "num_stages"));
}

TEST(ReplacingProvider, HasAmdsKnobsForAmd) {
  const ReplacingProvider triton = provider("gfx942");
  EXPECT_THAT(knobs_of(triton.space_of(stated(attention(4096, 4096, 64))).value()),
              ElementsAre("BLOCK_M", "BLOCK_N", "SPLIT_K", "num_warps", "num_stages",
                          "waves_per_eu", "matrix_instr_nonkdim", "kpack"));
  const space::Space space = triton.space_of(stated(product(512, 256, 640))).value();
  for (const char* knob : {"waves_per_eu", "matrix_instr_nonkdim", "kpack"})
    EXPECT_TRUE(space.knob_index(knob)) << knob;
  EXPECT_EQ(space.knobs()[*space.knob_index("STRUCTURE")].values.size(), 1u);
}

TEST(ReplacingProvider, SaysWhyNot) {
  const ReplacingProvider triton = provider("sm_80");
  EXPECT_EQ(triton.why_no_space(stated(attention(4096, 77, 64, "bf16"))), "");
  EXPECT_EQ(triton.why_no_space({}), "nobody has stated what it computes");
  EXPECT_EQ(triton.why_no_space(stated({{"why_not", "it is odd"}})), "it is odd");
  EXPECT_EQ(triton.why_no_space(stated(attention(64, 64, 64, "f64"))),
            "Triton's attention is for f16, bf16 and f32, not f64");
  EXPECT_THAT(triton.why_no_space(stated(attention(4096, 8, 64))),
              HasSubstr("attention of 8 keys with heads of 64 and 64 is too small"));
  EXPECT_THAT(triton.why_no_space(stated({{"kind", "attention"}})), HasSubstr("cannot be read"));
}

// Of one row or column the other side is what matters; of both there is no product to speak of.
TEST(ContractionSpace, TakesVectors) {
  const ReplacingProvider triton = provider("sm_90");
  for (const auto& [m, n] : {std::pair(1, 4096), {4096, 1}, {8, 4096}}) {
    const space::Space space = triton.space_of(stated(product(m, n, 4096))).value();
    EXPECT_GT(space.count().value, 50u);
    EXPECT_THAT(
        broken(space, fmt::format("STRUCTURE=0,{},BLOCK_K=128,GROUP_M=1,SPLIT_K=8,PER_UNIT=1,"
                                  "MORE_N=0,num_warps=4,num_stages=4",
                                  m < n ? "BLOCK_M=16,BLOCK_N=128" : "BLOCK_M=128,BLOCK_N=16")),
        IsEmpty())
        << m << " x " << n;
  }
  EXPECT_EQ(triton.why_no_space(stated(product(8, 8, 4096))),
            "a product of 8 x 8 x 4096 is too small for matrix instructions");
  EXPECT_THAT(triton.why_no_space(stated(product(512, 512, 9))), HasSubstr("too small"));
}

constexpr char kWide[] =
    "STRUCTURE={},BLOCK_M=64,BLOCK_N=256,BLOCK_K=64,GROUP_M=1,SPLIT_K={},PER_UNIT={},MORE_N={},num_"
    "warps=4,"
    "num_stages=4";

// 2048 x 1280 in tiles of 64 x (256 + 64) are 128 for the 132 multiprocessors of an H200.
TEST(ContractionSpace, OffersTensorDescriptorsForMatrices) {
  const space::Space space = provider("sm_90").space_of(stated(product(2048, 1280, 5120))).value();
  EXPECT_THAT(broken(space, fmt::format(kWide, 5, 1, 1, 64)), IsEmpty());
  EXPECT_THAT(broken(space, fmt::format(kWide, 0, 1, 1, 64)), ElementsAre("more_n_structure"));
  EXPECT_THAT(broken(space, fmt::format(kWide, 5, 2, 1, 64)), Contains("more_n_structure"));
  EXPECT_THAT(broken(space, fmt::format(kWide, 5, 1, 2, 64)), Contains("per_unit_structure"));
  // There is a program for each tile already, so none walks them.
  EXPECT_THAT(broken(space, fmt::format(kWide, 4, 1, 1, 64)), ElementsAre("tiles_to_walk"));
  EXPECT_THAT(broken(space, fmt::format(kWide, 4, 2, 1, 0)), Contains("split_k_structure"));
}

std::size_t structures(std::string_view target, const json& said) {
  const space::Space space = provider(target).space_of(stated(said)).value();
  return space.knobs()[space.knob_index("STRUCTURE").value()].values.size();
}

TEST(ContractionSpace, HasNoDescriptorsForWhatTheyCannotLoad) {
  const json plain = product(2048, 1280, 5120);
  EXPECT_EQ(structures("sm_90", plain), 3u);
  EXPECT_EQ(structures("sm_80", plain), 1u);  // which has none
  json view = plain;
  view["views"][1]["offset"] = 8;
  EXPECT_EQ(structures("sm_90", view), 1u);
  json rows = plain;
  rows["lhs"]["strides"][0] = 5124;  // 10,248 bytes: no multiple of 16
  EXPECT_EQ(structures("sm_90", rows), 1u);
  json columns = plain;
  columns["rhs"]["strides"] = {0, 2, 2560};
  EXPECT_EQ(structures("sm_90", columns), 1u);
}

// `stride` x `stride` apart, of images with a border of two pixels; channels last, filters by taps.
json convolution(int images, int rows, int columns, int channels, int filters, int stride = 1) {
  const int width = stride * columns + 2, row = width * channels;
  json said = product(1, 1, 1);
  said["loops"].clear();
  for (const auto& [role, size] : {std::pair("m", images),
                                   {"m", rows},
                                   {"m", columns},
                                   {"n", filters},
                                   {"k", 3},
                                   {"k", 3},
                                   {"k", channels}})
    said["loops"].push_back({{"role", role}, {"size", size}});
  said["lhs"]["strides"] = {
      (stride * rows + 2) * row, stride * row, stride * channels, 0, row, channels, 1};
  said["rhs"]["strides"] = {0, 0, 0, 1, 3 * channels * filters, channels * filters, filters};
  said["stores"][0]["strides"] = {rows * columns * filters, columns * filters, filters, 1, 0, 0, 0};
  return said;
}

constexpr char kBoxes[] =
    "STRUCTURE={},BLOCK_M=128,BLOCK_N=256,BLOCK_K={},GROUP_M=1,SPLIT_K={},PER_UNIT=1,MORE_N={},"
    "SWAP={},num_warps=8,num_stages=3";

TEST(ContractionSpace, LoadsImagesInBoxesAsTheSecondOperand) {
  for (const int stride : {1, 2}) {
    const space::Space space =
        provider("sm_90").space_of(stated(convolution(2, 64, 64, 320, 640, stride))).value();
    EXPECT_THAT(broken(space, fmt::format(kBoxes, 5, 64, 1, 0, 1)), IsEmpty());
    EXPECT_THAT(broken(space, fmt::format(kBoxes, 5, 64, 1, 0, 0)), ElementsAre("swap_structure"));
    EXPECT_THAT(broken(space, fmt::format(kBoxes, 0, 64, 1, 0, 0)), IsEmpty());
    EXPECT_THAT(broken(space, fmt::format(kBoxes, 0, 64, 1, 0, 1)), ElementsAre("swap_structure"));
    // 3 x 320 elements of an image and of a filter's row lie side by side; 128 do not divide them.
    EXPECT_THAT(broken(space, fmt::format(kBoxes, 5, 128, 1, 0, 1)), Contains("tap_steps"));
    // 2 x 64 x 64 pixels are 32 boxes of 256, with 640 filters 160 tiles for 132 multiprocessors.
    EXPECT_THAT(broken(space, fmt::format(kBoxes, 4, 64, 1, 0, 1)), IsEmpty());
  }
  json image = convolution(2, 64, 64, 320, 640);
  EXPECT_EQ(structures("sm_90", image), 3u);
  EXPECT_EQ(structures("sm_80", image), 1u);
  json odd = convolution(2, 64, 64, 84, 640);  // pixels of 168 bytes
  EXPECT_EQ(structures("sm_90", odd), 1u);
  json wide = image;
  for (const char* operand : {"lhs", "rhs"}) wide[operand]["type"] = "f32";
  EXPECT_EQ(structures("sm_90", wide), 1u);
  // Without a border and a filter the pixels follow one another, as a matrix's rows do.
  json matrix = image;
  matrix["lhs"]["strides"] = {64 * 64 * 320, 64 * 320, 320, 0, 0, 0, 1};
  matrix["loops"][4]["size"] = matrix["loops"][5]["size"] = 1;
  matrix["rhs"]["strides"] = {0, 0, 0, 1, 0, 0, 640};
  const space::Space space = provider("sm_90").space_of(stated(matrix)).value();
  EXPECT_FALSE(space.knob_index("SWAP"));
  EXPECT_EQ(structures("sm_90", matrix), 3u);
}

// Of the UNet's convolution of 1280 to 1280 channels on 64 x 64 pixels, four stages of 57,344 bytes
// and a quarter of the sums do not fit in 232,448 bytes; three do. A kernel for each tile passes
// its sums through the buffers.
TEST(ContractionSpace, AWalkOverAnImageNeedsRoomForItsSums) {
  const space::Space space =
      provider("sm_90").space_of(stated(convolution(2, 64, 64, 1280, 1280))).value();
  const auto with = [](int structure, int stages) {
    return fmt::format(
        "STRUCTURE={},BLOCK_M=128,BLOCK_N=256,BLOCK_K=64,GROUP_M=1,SPLIT_K=1,PER_UNIT=1,MORE_N=64,"
        "SWAP=1,num_warps=8,num_stages={}",
        structure, stages);
  };
  EXPECT_THAT(broken(space, with(4, 4)), ElementsAre("walked_sums"));
  EXPECT_THAT(broken(space, with(4, 3)), IsEmpty());
  EXPECT_THAT(broken(space, with(5, 4)), IsEmpty());
}

TEST(ContractionSpace, BoxesCoverAnImageInTheFewestTiles) {
  EXPECT_EQ(image_tiles({2, 32, 32}, 256, 0), 8);    // 8 x 32 pixels
  EXPECT_EQ(image_tiles({56, 56}, 64, 0), 49);       // 8 x 8
  EXPECT_EQ(image_tiles({56, 56}, 128, 0), 28);      // 8 x 16: half of the last ones is outside
  EXPECT_EQ(image_tiles({7, 7}, 64, 0), 1);          // 8 x 8
  EXPECT_EQ(image_tiles({8, 7, 7}, 128, 0), 4);      // of two images
  EXPECT_EQ(image_tiles({2, 64, 64}, 256, 64), 26);  // 5 x 64: 13 of each image
  EXPECT_EQ(image_tiles({100}, 32, 0), 4);
  EXPECT_EQ(image_tiles({100}, 32, 16), 3);
}

// The estimate knows that an image is read once and not for each of nine taps, and prefers what the
// measured products do: descriptors, and tiles that fill the multiprocessors.
TEST(ContractionSpace, TriesDescriptorsOfImagesFirst) {
  const problem::Dispatch dispatch = stated(convolution(2, 64, 64, 640, 640));
  const space::Space space = provider("sm_90").space_of(dispatch).value();
  const auto seconds = provider("sm_90").prior(dispatch, space);
  const auto of = [&](const std::string& text) {
    return seconds(space::parse_configuration(space, text).value());
  };
  EXPECT_LT(of(fmt::format(kBoxes, 5, 64, 1, 0, 1)), of(fmt::format(kBoxes, 0, 64, 1, 0, 0)));
  // 260 tiles of 64 x (256 + 64) for 132 multiprocessors, two for each, and not 320 of 64 x 256.
  const std::string narrow =
      "STRUCTURE=5,BLOCK_M=64,BLOCK_N=256,BLOCK_K=64,GROUP_M=1,SPLIT_K=1,PER_UNIT=1,MORE_N={},"
      "SWAP=1,num_warps=4,num_stages=3";
  EXPECT_LT(of(fmt::format(fmt::runtime(narrow), 64)), of(fmt::format(fmt::runtime(narrow), 0)));
}

// 4096 x 4096 sums of four bytes are 64 MiB: of one part.
TEST(ContractionSpace, ScratchMemoryIsBounded) {
  const space::Space large = provider("sm_90").space_of(stated(product(4096, 4096, 4096))).value();
  EXPECT_THAT(broken(large, fmt::format(kWide, 5, 2, 1, 0)), Contains("scratch"));
  const space::Space small = provider("sm_90").space_of(stated(product(64, 2048, 8192))).value();
  EXPECT_THAT(broken(small, fmt::format(kWide, 5, 8, 1, 0)), IsEmpty());
}

// 128 x 128 elements of four warps are 128 of each thread, with an error function of 33
// instructions 4,224 of them beside the rest; of eight warps half as many.
TEST(ContractionSpace, CodeBehindTheSumsIsBounded) {
  json said = product(2048, 5120, 1280);
  said["values"].push_back({{"op", "math.erf"}, {"type", "f16"}, {"operands", {1}}});
  const space::Space space = provider("sm_90").space_of(stated(said)).value();
  const auto of_warps = [&](int warps) {
    return broken(space,
                  fmt::format("STRUCTURE=0,BLOCK_M=128,BLOCK_N=128,BLOCK_K=64,GROUP_M=1,SPLIT_K=1,"
                              "PER_UNIT=1,MORE_N=0,num_warps={},num_stages=3",
                              warps));
  };
  EXPECT_THAT(of_warps(4), ElementsAre("unrolled_behind"));
  EXPECT_THAT(of_warps(8), IsEmpty());
}

// Products in parts have 64 sums of a thread at most, and Hopper's instructions; of two parts they
// would be wrong, and are not offered.
TEST(ContractionSpace, OfF32HasAPrecision) {
  json said = product(2048, 2048, 2048);
  for (const char* operand : {"lhs", "rhs"}) said[operand]["type"] = "f32";
  const space::Space space = provider("sm_90").space_of(stated(said)).value();
  const auto of = [&](int block_n, int precision, int warps) {
    return broken(space, fmt::format("STRUCTURE=0,BLOCK_M=128,BLOCK_N={},BLOCK_K=32,GROUP_M=1,"
                                     "SPLIT_K=1,PER_UNIT=1,MORE_N=0,PRECISION={},num_warps={},"
                                     "num_stages=3",
                                     block_n, precision, warps));
  };
  EXPECT_THAT(of(128, 0, 8), IsEmpty());
  EXPECT_THAT(of(128, 1, 8), IsEmpty());
  EXPECT_THAT(of(256, 1, 8), ElementsAre("accumulators"));
  EXPECT_THAT(of(64, 1, 2), Contains("warpgroups"));
  EXPECT_EQ(space.knobs()[space.knob_index("PRECISION").value()].values,
            (std::vector<space::Value>{0, 1}));
  EXPECT_FALSE(provider("sm_90").space_of(stated(product(512, 512, 512)))->knob_index("PRECISION"));
}

TEST(AttentionSpace, HasTheDefaultOfItsKernels) {
  for (const char* target : {"sm_80", "sm_86", "sm_90"})
    for (const auto& [queries, keys] : {std::pair(4096, 4096), {4096, 77}, {512, 512}})
      for (const int depth : {40, 64, 80, 128}) {
        const space::Space space =
            provider(target).space_of(stated(attention(queries, keys, depth))).value();
        EXPECT_THAT(broken(space, 64, 32, 4, 2), IsEmpty()) << target << ' ' << keys;
        EXPECT_GT(space.count().value, 20u);
        EXPECT_LT(space.count().value, 300u);
      }
}

// Heads of 512 elements of two bytes: 64 queries take 64 KiB, a step of 32 keys and values 64 KiB.
// An sm_80 has 163 KiB for a workgroup; its instructions read registers, so of two stages one has a
// buffer. Those of sm_90, which has 227 KiB, read both from shared memory.
TEST(AttentionSpace, SharedMemoryIsThatOfQueriesAndThePipeline) {
  const auto shape = attention(4096, 4096, 512);
  const space::Space sm_80 = provider("sm_80").space_of(stated(shape)).value();
  EXPECT_THAT(broken(sm_80, 64, 32, 8, 2), IsEmpty());                       // 64 + 64
  EXPECT_THAT(broken(sm_80, 64, 32, 8, 3), Contains("shared_memory"));       // 64 + 128
  EXPECT_THAT(broken(sm_80, 32, 32, 8, 3), Not(Contains("shared_memory")));  // 32 + 128
  EXPECT_THAT(broken(sm_80, 64, 64, 8, 1), Not(Contains("shared_memory")));  // 64 + 64
  EXPECT_THAT(broken(sm_80, 128, 64, 8, 1), Contains("shared_memory"));      // 128 + 64
  const space::Space sm_90 = provider("sm_90").space_of(stated(shape)).value();
  EXPECT_THAT(broken(sm_90, 64, 32, 8, 2), IsEmpty());                        // 64 + 128
  EXPECT_THAT(broken(sm_90, 64, 32, 8, 3), Contains("shared_memory"));        // 64 + 192
  EXPECT_THAT(broken(sm_90, 128, 64, 8, 1), Not(Contains("shared_memory")));  // 128 + 64
}

TEST(AttentionSpace, LeavesOutWhatOnlyWastes) {
  const space::Space space = provider("sm_90").space_of(stated(attention(4096, 77, 64))).value();
  // 128 x (128 + 64) sums and scores are 192 registers of each of 128 threads, 256 x (64 + 64) are
  // 256.
  EXPECT_THAT(broken(space, 128, 128, 4, 1), IsEmpty());
  EXPECT_THAT(broken(space, 256, 64, 4, 1), ElementsAre("accumulators"));
  EXPECT_THAT(broken(space, 64, 64, 8, 1), ElementsAre("warps_fed"));
  EXPECT_THAT(broken(space, 32, 64, 2, 1), ElementsAre("warpgroups"));
  // 77 keys are one whole step of 64 and two of 32.
  EXPECT_THAT(broken(space, 64, 64, 4, 2), ElementsAre("stages"));
  EXPECT_THAT(broken(space, 64, 32, 4, 2), IsEmpty());
  const space::Space small = provider("sm_80").space_of(stated(attention(20, 20, 64))).value();
  EXPECT_THAT(broken(small, 64, 32, 4, 1), ElementsAre("waste_m"));
  EXPECT_THAT(broken(small, 32, 64, 2, 1), ElementsAre("waste_n"));
}

// Of f32 a number takes twice the bytes, and products are made in one of three ways: 64 queries of
// 64 elements take 16 KiB and a step of 32 keys and values 16 KiB.
TEST(AttentionSpace, OfF32HasAPrecision) {
  const space::Space space =
      provider("sm_90").space_of(stated(attention(1024, 1024, 64, "f32"))).value();
  EXPECT_THAT(knobs_of(space),
              ElementsAre("BLOCK_M", "BLOCK_N", "SPLIT_K", "PRECISION", "num_warps", "num_stages"));
  const auto of = [&](int block_m, int block_n, int precision, int warps, int stages) {
    return broken(space, fmt::format("BLOCK_M={},BLOCK_N={},SPLIT_K=1,PRECISION={},num_warps={},"
                                     "num_stages={}",
                                     block_m, block_n, precision, warps, stages));
  };
  for (const int precision : {0, 1, 2}) EXPECT_THAT(of(64, 32, precision, 4, 2), IsEmpty());
  // 64 x (128 + 64) sums and scores are 96 registers of each of 128 threads, 128 x (64 + 64) are
  // 128, of which numbers in parts leave too few; without parts 8,192 multiply-adds are a step.
  EXPECT_THAT(of(64, 128, 1, 4, 1), IsEmpty());
  EXPECT_THAT(of(128, 64, 1, 4, 1), ElementsAre("accumulators"));
  EXPECT_THAT(of(64, 128, 0, 4, 1), ElementsAre("unrolled_code"));
  // What is not on matrix units has no warpgroups.
  EXPECT_THAT(of(32, 32, 0, 2, 2), IsEmpty());
  EXPECT_THAT(of(32, 32, 1, 2, 2), ElementsAre("warpgroups"));
  const problem::Dispatch dispatch = stated(attention(1024, 1024, 64, "f32"));
  const auto seconds = provider("sm_90").prior(dispatch, space);
  const auto estimated = [&](int precision) {
    return seconds(space::parse_configuration(
                       space, fmt::format("BLOCK_M=64,BLOCK_N=32,SPLIT_K=1,PRECISION={},"
                                          "num_warps=4,num_stages=2",
                                          precision))
                       .value());
  };
  EXPECT_LT(estimated(1), estimated(0));
  EXPECT_LE(estimated(1), estimated(2));
}

// A step of decoding: one query, of which no block but the smallest makes sense, read by any warps.
TEST(AttentionSpace, OfOneQueryHasTheSmallestBlockAndAnyWarps) {
  const space::Space space = provider("sm_90").space_of(stated(attention(1, 4096, 128))).value();
  for (const int warps : {1, 4, 8}) EXPECT_THAT(broken(space, 16, 64, warps, 3), IsEmpty());
  EXPECT_THAT(broken(space, 32, 64, 4, 3), ElementsAre("waste_m"));
}

// 20 heads are 20 programs; a GPU of 132 multiprocessors has room for six times as many, and more.
TEST(AttentionSpace, OfFewQueriesSplitsTheKeys) {
  const space::Space space = provider("sm_90").space_of(stated(attention(1, 4096, 128))).value();
  EXPECT_THAT(broken(space, 16, 64, 4, 3, 6), IsEmpty());
  EXPECT_THAT(broken(space, 16, 64, 4, 3, 32), ElementsAre("split_k_fills"));
  EXPECT_THAT(broken(space, 16, 128, 4, 3, 24), Contains("split_k_deep"));
  const space::Space short_text = provider("sm_90").space_of(stated(attention(1, 77, 128))).value();
  EXPECT_THAT(broken(short_text, 16, 64, 4, 1, 2), Contains("split_k_parts"));
  const problem::Dispatch dispatch = stated(attention(1, 4096, 128));
  const auto seconds = provider("sm_90").prior(dispatch, space);
  const auto of = [&](int split_k) {
    return seconds(space::parse_configuration(
                       space, fmt::format("BLOCK_M=16,BLOCK_N=64,SPLIT_K={},num_warps=4,"
                                          "num_stages=3",
                                          split_k))
                       .value());
  };
  EXPECT_LT(of(6), of(1) / 2);
}

// By the prior alone: four warps of 64 rows or eight of 128, never a warp with few rows and a
// pipeline without stages.
TEST(AttentionSpace, TriesFirstWhatFeedsTheMatrixUnits) {
  for (const char* target : {"sm_80", "sm_90"}) {
    const problem::Dispatch dispatch = stated(attention(4096, 4096, 64));
    const ReplacingProvider triton = provider(target);
    const space::Space space = triton.space_of(dispatch).value();
    const auto seconds = triton.prior(dispatch, space);
    std::vector<std::pair<double, space::Configuration>> all;
    space::Enumerator enumerator = space.enumerate();
    while (const auto each = enumerator.next()) all.emplace_back(seconds(*each), *each);
    std::ranges::sort(all);
    const auto& best = all.front().second.values;
    EXPECT_GE(best[0], 64) << target;
    EXPECT_GE(best[1], 32) << target;
    EXPECT_GE(best[4], 2) << target;
    // 4 x 20 x 4096 x 4096 x 64 operations at the makers' figures: 312 and 989 TFLOP/s.
    const double least = 4.0 * 20 * 4096 * 4096 * 64 / (target[3] == '8' ? 312e12 : 989e12);
    EXPECT_GT(all.front().first, least);
    EXPECT_LT(all.front().first, 5 * least);
  }
}

// x + 0 for m x n elements; or, if it reduces, the sum of each row of n. `transposes`: x is stored
// column by column.
json elements(int m, int n, bool reduces, bool transposes = false) {
  json said = json::parse(R"({
    "kind": "elementwise", "entry": "kernel", "bindings": 2, "constants": 0,
    "views": [{"binding": 0, "offset": 0, "words": [], "multiple": 64},
              {"binding": 1, "offset": 0, "words": [], "multiple": 64}]})");
  said["loops"] = {{{"role", "m"}, {"size", m}}, {{"role", reduces ? "k" : "n"}, {"size", n}}};
  const json x = {
      {"op", "load"}, {"type", "f32"}, {"view", 0}, {"offset", 0}, {"operands", json::array()}};
  said["values"] = {x};
  said["values"][0]["strides"] = transposes ? json{1, m} : json{n, 1};
  if (reduces)
    said["values"].push_back({{"op", "reduce"},
                              {"type", "f32"},
                              {"operands", {0}},
                              {"combines", "arith.addf"},
                              {"start", 0.0}});
  said["stores"] = {{{"type", "f32"},
                     {"view", 1},
                     {"offset", 0},
                     {"strides", reduces ? json{1, 0} : json{n, 1}},
                     {"value", reduces ? 1 : 0}}};
  return said;
}

std::vector<std::string> all_of(const space::Space& space) {
  std::vector<std::string> all;
  space::Enumerator enumerator = space.enumerate();
  while (const auto each = enumerator.next()) all.push_back(space::to_string(space, *each));
  return all;
}

TEST(ElementSpace, HasFewConfigurationsForEachShape) {
  for (const char* target : {"sm_80", "sm_90", "gfx942"})
    for (const int m : {1, 7, 33, 257, 4096})
      for (const int n : {1, 31, 127, 1000, 16384, 100000})
        for (const bool reduces : {false, true})
          for (const bool transposes : {false, true}) {
            const auto space =
                provider(target).space_of(stated(elements(m, n, reduces, transposes)));
            ASSERT_TRUE(space) << space.error().message;
            const auto count = all_of(*space).size();
            EXPECT_GE(count, 1u) << target << ' ' << m << ' ' << n << ' ' << reduces << transposes;
            EXPECT_LE(count, 13u) << target << ' ' << m << ' ' << n << ' ' << reduces << transposes;
          }
}

TEST(ElementSpace, BlocksFitWhatIsContiguous) {
  const auto knobs = [](const json& said) {
    return provider("sm_90").space_of(stated(said))->knobs();
  };
  const auto rows = knobs(elements(4096, 4096, false));
  EXPECT_EQ(rows[0].values, (std::vector<space::Value>{1, 2, 4}));
  EXPECT_EQ(rows[1].values, (std::vector<space::Value>{1024, 2048}));
  const auto transposed = knobs(elements(4096, 4096, false, true));
  EXPECT_EQ(transposed[0].values, (std::vector<space::Value>{32, 64}));
  EXPECT_EQ(transposed[1].values, (std::vector<space::Value>{32, 64}));
  // Rows of up to 32,768 elements are kept, longer ones and columns are walked.
  const auto sums = knobs(elements(4096, 1000, true));
  EXPECT_EQ(sums[0].values, (std::vector<space::Value>{1, 2, 4}));
  EXPECT_EQ(sums[1].values, (std::vector<space::Value>{1024}));
  json with_means = elements(4096, 1000, true);  // a value of each row, read beside its elements
  with_means["values"].push_back(with_means["values"][0]);
  with_means["values"][2]["strides"] = {1, 0};
  EXPECT_EQ(knobs(with_means)[1].values, (std::vector<space::Value>{1024}));
  EXPECT_EQ(knobs(elements(4096, 40000, true))[1].values,
            (std::vector<space::Value>{4096, 8192, 16384}));
  const auto columns = knobs(elements(4096, 5000, true, true));
  EXPECT_EQ(columns[0].values, (std::vector<space::Value>{32, 64}));
  EXPECT_EQ(columns[1].values, (std::vector<space::Value>{32, 64}));
}

TEST(ReplacingProvider, SaysHowItsKernelsAddUp) {
  const ReplacingProvider on_h100 = provider("sm_90");
  const auto told = [&](const json& statement, const std::map<std::string, std::int64_t>& knobs) {
    return on_h100.summation(stated(statement), payload_of(knobs));
  };
  EXPECT_EQ(told(product(512, 512, 512), {{"BLOCK_K", 64}, {"SPLIT_K", 1}}), "f32, 64 at a time");
  EXPECT_EQ(told(product(512, 512, 512), {{"BLOCK_K", 32}, {"SPLIT_K", 4}}),
            "f32, 32 at a time, in 4 parts");
  EXPECT_EQ(told(attention(256, 4096, 64, "f32"), {{"BLOCK_N", 64}, {"PRECISION", 2}}),
            "f32, 64 keys at a time, of three products of tf32");
  EXPECT_EQ(told(elements(512, 512, true), {{"BLOCK_N", 512}}), "f32, 512 at a time");
  EXPECT_EQ(told(elements(512, 512, false), {}), "");
  EXPECT_EQ(on_h100.summation(stated(product(512, 512, 512)), std::nullopt), "")
      << "the default is not its own";
}

}  // namespace
}  // namespace hone::triton
