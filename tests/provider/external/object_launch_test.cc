// Machine code in the place of an operation: MISA's convolution of examples/external, on a code
// object that says of itself what MISA's says.
#include "provider/external/object_launch.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "tests/provider/code_object_file.h"

namespace hone::external {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

constexpr std::uint8_t kGfx940 = 0x40, kGfx942 = 0x4c;

// The manifest of the example with a part replaced, beside an object.
class Misa {
 public:
  explicit Misa(const std::string& from = {}, const std::string& to = {},
                const json& kernel = test::misa_kernel(), std::uint8_t processor = kGfx942) {
    std::string text = read_file(HONE_SOURCE_DIR "/examples/external/misa_conv.yaml").value();
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    EXPECT_TRUE(write_file_atomically(folder_.path() / "misa_conv.yaml", text));
    EXPECT_TRUE(write_file_atomically(folder_.path() / "misa_conv.hsaco",
                                      test::code_object_file(processor, {kernel})));
  }

  ExternalKernel kernel() const {
    return read_external_kernel((folder_.path() / "misa_conv.yaml").string()).value();
  }

  // Of two images of 32 x 32 pixels, 3 x 3, 1280 channels in and out.
  Result<ObjectLaunch> launch(const ObjectDevice& device = {"gfx942", "gfx942", 65536},
                              std::int64_t images = 2) const {
    DispatchForm form;
    form.sizes = {{"N", images},    {"H", 34},       {"W", 34},       {"C", 1280},
                  {"O", 1280},      {"HO", 32},      {"WO", 32},      {"KH", 3},
                  {"KW", 3},        {"stride_h", 1}, {"stride_w", 1}, {"dilation_h", 1},
                  {"dilation_w", 1}};
    form.operands = {{"image", {0, 0, {}}}, {"filter", {1, 0, {}}}, {"output", {2, 0, {}}}};
    return object_launch(kernel(), form, device);
  }
  std::string error(const ObjectDevice& device = {"gfx942", "gfx942", 65536}) const {
    const auto launched = launch(device);
    if (launched) return "none";
    const std::string& message = launched.error().message;
    return message.substr(std::min(message.find("misa_conv.yaml"), message.size()));
  }

 private:
  TemporaryFolder folder_ = TemporaryFolder::create("hone-test-").value();
};

// hi, wi, n, k, c, ho, wo, strides, dilations, pads, y, x, group, magic_0 to magic_5, shift_pack_0
// and 1, ks as MISA's driver printed them for this convolution, and the last four of 128 bytes.
TEST(ObjectLaunch, HasTheArgumentsThatMisaPrinted) {
  const auto launch = Misa().launch();
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_THAT(launch->operands, ElementsAre("image", "filter", "output"));
  EXPECT_THAT(launch->bindings, ElementsAre(0, 1, 2));
  EXPECT_THAT(launch->launch.constants,
              ElementsAre(34, 34, 2, 1280, 1280, 32, 32, 1, 1, 1, 1, 0, 0, 3, 3, 1, 2576980378, 1,
                          1, 2576980378, 4, 30475536, 134547972, 16, 0, 0));
  EXPECT_EQ(launch->argument_bytes(), 128);
  EXPECT_THAT(launch->launch.grid, ElementsAre(160, 1, 1));  // 2048 x 1280 by 128 x 128
  EXPECT_THAT(launch->launch.block, ElementsAre(256, 1, 1));
  EXPECT_TRUE(launch->zeroed);
  EXPECT_EQ(launch->subgroup_size, 64);
}

// One manifest serves other shapes: 8 images are 8 * 1024 / 128 * 10 = 640 tiles, and their
// divisor's magic number is 2**32 * (1024 - 640) / 640 + 1, its shift 10.
TEST(ObjectLaunch, FollowsTheShape) {
  const auto launch = Misa().launch({"gfx942", "gfx942", 65536}, 8);
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_THAT(launch->launch.grid, ElementsAre(640, 1, 1));
  EXPECT_EQ(launch->launch.constants[2], 8u);
  EXPECT_EQ(launch->launch.constants[19], 2576980378u);
  EXPECT_EQ(launch->launch.constants[22], 4u + (10u << 8) + (5u << 16) + (10u << 24));
}

TEST(ObjectLaunch, AnObjectForAnotherGpuIsNamed) {
  const Misa old({}, {}, test::misa_kernel(), kGfx940);
  EXPECT_EQ(old.error(),
            "misa_conv.yaml:9: the code is for gfx940, not for gfx942; gfx942 has its "
            "instructions: 'processor: gfx942' in the manifest places a copy that names it");
  EXPECT_EQ(old.error({"gfx942", "gfx940", 65536}), "none");
  EXPECT_THAT(old.error({"gfx950", "gfx950", 65536}),
              HasSubstr("not for gfx950; --env HSA_OVERRIDE_GFX_VERSION=9.4.0"));
  EXPECT_EQ(Misa().error({"gfx942", "gfx940", 65536}),
            "misa_conv.yaml:9: the code is for gfx942, not for gfx940, which "
            "HSA_OVERRIDE_GFX_VERSION makes of gfx942");
}

TEST(ObjectLaunch, AnObjectForGfx940IsPlacedAsOneForGfx942) {
  const Misa copied("block: 256", "block: 256\nprocessor: gfx942", test::misa_kernel(), kGfx940);
  const auto launch = copied.launch();
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->code, test::code_object_file(kGfx942, {test::misa_kernel()}));
  const Misa other("block: 256", "block: 256\nprocessor: gfx90a", test::misa_kernel(), kGfx940);
  EXPECT_EQ(other.error(),
            "misa_conv.yaml:24: processor: the code is for gfx940, whose instructions 'gfx90a' "
            "need not have");
}

TEST(ObjectLaunch, WhatTheObjectSaysOtherwiseIsNamed) {
  EXPECT_EQ(
      Misa("16, 0, 0]", "16, 0]").error(),
      "misa_conv.yaml:11: arguments: 3 addresses of 8 bytes and 25 numbers of 4 bytes are 124 "
      "bytes, and the object's kernel reads 128");
  EXPECT_EQ(Misa("block: 256", "block: 512").error(),
            "misa_conv.yaml:23: block: it has 512 threads, and the object's kernel may have 256");
  EXPECT_EQ(
      Misa("block: 256", "block: 128").error(),
      "misa_conv.yaml:23: block: it is 128 x 1 x 1, and the object's kernel must have 256 x 1 "
      "x 1");
  EXPECT_THAT(Misa("_gkgs\n", "_gks\n").error(), HasSubstr("kernel: the object has no 'igemm"));
  EXPECT_THAT(
      Misa("block: 256", "block: 256\nshared_memory: 64").error(),
      HasSubstr("shared_memory: a launch in a program has none on AMD GPUs; give the kernel 64 "
                "bytes of fixed size"));
  EXPECT_THAT(Misa().error({"gfx942", "gfx942", 8192}),
              HasSubstr("object: its 16384 bytes of local memory are more than the 8192"));
}

// HIP copies the arguments that the metadata lists, and no other ones.
TEST(ObjectLaunch, AnObjectThatListsNoArgumentsIsRefused) {
  json kernel = test::misa_kernel();
  kernel.erase(".args");
  EXPECT_EQ(Misa({}, {}, kernel).error(),
            "misa_conv.yaml:9: object: it lists no arguments for its kernel, so HIP passes none; "
            "list them as .args in the .amdgpu_metadata of its assembly");
}

TEST(ObjectLaunch, ArgumentsAreComparedOneByOne) {
  json kernel = test::misa_kernel();
  const auto argument = [](const char* name, int offset, int size) {
    return json{{".name", name},
                {".offset", offset},
                {".size", size},
                {".value_kind", size == 8 ? "global_buffer" : "by_value"}};
  };
  kernel[".args"] = {argument("p_in", 0, 8), argument("p_wei", 8, 8), argument("p_out", 16, 8),
                     argument("hi", 24, 4)};
  EXPECT_EQ(Misa({}, {}, kernel).error(), "none");
  kernel[".args"][1] = argument("splits", 8, 4);
  EXPECT_EQ(
      Misa({}, {}, kernel).error(),
      "misa_conv.yaml:11: arguments: 'filter' is an address at byte 8, and the object's splits "
      "there is a value of 4 bytes at byte 8");
  // What the runtime adds is not the caller's.
  kernel[".args"][1] = argument("p_wei", 8, 8);
  kernel[".kernarg_segment_size"] = 384;
  kernel[".args"].push_back(
      {{".offset", 128}, {".size", 4}, {".value_kind", "hidden_block_count_x"}});
  EXPECT_EQ(Misa({}, {}, kernel).error(), "none");
}

TEST(ObjectLaunch, ArgumentsThatNoLaunchPassesAreNamed) {
  EXPECT_THAT(Misa("[image, filter, output, H,", "[image, filter, H, output,").error(),
              HasSubstr("output is an address behind numbers"));
  EXPECT_THAT(Misa("30475536,", "30475536 * 1000,").error(),
              HasSubstr("'30475536 * 1000' is 30475536000; a constant of a launch has 32 bits"));
}

TEST(ObjectLaunch, ConstraintsAreAskedForEachOperation) {
  const ExternalKernel kernel = Misa("C % 32 == 0", "C % 32 == 1").kernel();
  DispatchForm form;
  form.sizes = {{"C", 1280}, {"O", 1280}};
  const Status holds = check_constraints(kernel, form, {"gfx942", "gfx942", 65536});
  ASSERT_FALSE(holds);
  EXPECT_THAT(
      holds.error().message,
      EndsWith("misa_conv.yaml:26: constraints: whole_slices does not hold here: the kernel "
               "reads 32 channels at a time"));
}

}  // namespace
}  // namespace hone::external
