// PTX under another kernel's parameters. product.ptx is nvcc's.
#include "provider/external/ptx_entry.h"

#include <gmock/gmock.h>

#include "base/file.h"

namespace hone::external {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string product_ptx() {
  return read_file(HONE_SOURCE_DIR "/tests/provider/external/product.ptx").value();
}

// A begins at binding 0, B 528 bytes and two constants behind binding 1, C one constant behind 2.
const std::vector<Argument> kArguments{OperandPlace{0, 0, {}},  OperandPlace{1, 528, {1, 2}},
                                       OperandPlace{2, 0, {0}}, std::int64_t{256},
                                       std::int64_t{640},       std::int64_t{1} << 40};

TEST(PtxEntry, IsLaunchedAsTheKernelThatItReplaces) {
  const auto fitted =
      with_launch(product_ptx(), "product", "main_dispatch_0", kArguments, 3, 3, 64);
  ASSERT_TRUE(fitted) << fitted.error().message;
  EXPECT_THAT(*fitted, HasSubstr(".entry main_dispatch_0(\n"
                                 "\t.param .u64 main_dispatch_0_param_0,\n"
                                 "\t.param .u64 main_dispatch_0_param_1,\n"
                                 "\t.param .u64 main_dispatch_0_param_2,\n"
                                 "\t.param .u32 main_dispatch_0_param_3,\n"
                                 "\t.param .u32 main_dispatch_0_param_4,\n"
                                 "\t.param .u32 main_dispatch_0_param_5\n)"));
  EXPECT_THAT(*fitted, HasSubstr("ld.param.u64 \t%rd21, [main_dispatch_0_param_0];\n"));
  EXPECT_THAT(*fitted, HasSubstr("ld.param.u64 \t%rd22, [main_dispatch_0_param_1];\n"
                                 "\tadd.s64 \t%rd22, %rd22, 528;\n"
                                 "\tld.param.u32 \t%_hone_word, [main_dispatch_0_param_4];\n"));
  EXPECT_THAT(*fitted, HasSubstr("shl.b64 \t%_hone_wide, %_hone_wide, 32;"));
  EXPECT_THAT(*fitted, HasSubstr("ld.param.u64 \t%rd20, [main_dispatch_0_param_2];\n"
                                 "\tld.param.u32 \t%_hone_word, [main_dispatch_0_param_3];\n"));
  EXPECT_THAT(*fitted, HasSubstr("mov.b32 \t%r11, 256;"));
  EXPECT_THAT(*fitted, HasSubstr("mov.b32 \t%r12, 640;"));
  EXPECT_THAT(*fitted, HasSubstr("mov.b64 \t%rd23, 1099511627776;"));
  EXPECT_THAT(*fitted, Not(HasSubstr("product_param"))) << "none of its own is read any more";
  EXPECT_THAT(*fitted, HasSubstr(".maxntid 256, 1, 1"));
}

// As if the sizes' place were memory: the variable is the module's, its address a generic one
// behind a guard of a page: 4096 + 2 x 4096 bytes.
TEST(PtxEntry, ScratchMemoryIsAVariableOfTheModule) {
  std::vector<Argument> arguments = kArguments;
  arguments[2] = Scratch{4096};
  const auto fitted = with_launch(product_ptx(), "product", "main_dispatch_0", arguments, 2, 3, 64);
  ASSERT_TRUE(fitted) << fitted.error().message;
  EXPECT_THAT(*fitted, HasSubstr(".visible .global .align 128 .b8 main_dispatch_0_scratch[12288];\n"
                                 ".visible .entry main_dispatch_0("));
  EXPECT_THAT(*fitted, HasSubstr("mov.u64 \t%rd20, main_dispatch_0_scratch;\n"
                                 "\tcvta.global.u64 \t%rd20, %rd20;\n"
                                 "\tadd.s64 \t%rd20, %rd20, 4096;"));
  arguments[3] = Scratch{4096};
  const auto number = with_launch(product_ptx(), "product", "e", arguments, 2, 3, 64);
  ASSERT_FALSE(number);
  EXPECT_EQ(number.error().message,
            "arguments: number 4 is scratch memory, and the kernel's parameter product_param_3 is "
            ".u32, no address");
}

TEST(PtxEntry, WhatDoesNotFitIsNamed) {
  const auto error = [](const std::string& function, std::vector<Argument> arguments,
                        std::int64_t threads = 64) {
    const auto fitted = with_launch(product_ptx(), function, "e", arguments, 3, 3, threads);
    return fitted ? "none" : fitted.error().message;
  };
  EXPECT_THAT(error("produkt", kArguments), HasSubstr("no kernel 'produkt' in the PTX"));
  EXPECT_THAT(error("produkt", kArguments), HasSubstr("it has product"));
  EXPECT_EQ(error("product", {OperandPlace{}, OperandPlace{}, OperandPlace{}}),
            "arguments: there are 3, and the kernel has 6 parameters");
  EXPECT_EQ(error("product", kArguments, 512),
            "a block has 512 threads, and the kernel is compiled for 256 at most");
  std::vector<Argument> other = kArguments;
  other[3] = OperandPlace{};
  EXPECT_EQ(error("product", other),
            "arguments: number 4 is an operand, and the kernel's parameter product_param_3 is "
            ".u32, no address");
  other = kArguments;
  other[4] = std::int64_t{1} << 33;
  EXPECT_THAT(error("product", other), HasSubstr("number 5 is 8589934592"));
}

TEST(PtxEntry, AParameterThatIsMoreThanReadIsRefused) {
  std::string ptx = product_ptx();
  const std::string read = "ld.param.u64 \t%rd21, [product_param_0];";
  ptx.replace(ptx.find(read), read.size(), "mov.b64 \t%rd21, product_param_0;");
  const auto fitted = with_launch(ptx, "product", "e", kArguments, 3, 3, 64);
  ASSERT_FALSE(fitted);
  EXPECT_THAT(fitted.error().message, HasSubstr("in a way that cannot be replaced"));
}

TEST(PtxEntry, CodeOfAnotherArchitectureIsNamed) {
  EXPECT_THAT(ptx_entries(product_ptx()), ElementsAre("product"));
  EXPECT_TRUE(check_target(product_ptx(), "sm_80"));
  EXPECT_TRUE(check_target(product_ptx(), "sm_90"));
  EXPECT_EQ(check_target(product_ptx(), "sm_75").error().message,
            "the PTX is for sm_80, and this GPU is sm_75");
  EXPECT_TRUE(check_target(".target sm_90a\n", "sm_90"));
  EXPECT_FALSE(check_target(".target sm_90a\n", "sm_100"));
  EXPECT_THAT(check_target("\x7f"
                           "ELF",
                           "sm_80")
                  .error()
                  .message,
              HasSubstr("this is no PTX"));
}

}  // namespace
}  // namespace hone::external
