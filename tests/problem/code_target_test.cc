#include "problem/code_target.h"

#include <elf.h>
#include <gmock/gmock.h>

#include <cstring>

#include "tests/problem/code_object.h"

namespace hone::problem {
namespace {

using test::code_object;

std::string refusal(const std::string& code, std::string_view target) {
  const Status status = check_code_target(code, target);
  return status ? "" : status.error().message;
}

// Flags as Triton 3.9.0's compilers wrote them for these targets.
const std::string kSm80 = code_object(190, 7, 0x500550), kSm86 = code_object(190, 7, 0x560556),
                  kSm90 = code_object(190, 8, 0x0a005a04), kSm100 = code_object(190, 8, 0x0a006402),
                  kGfx942 = code_object(224, 3, 0x54c), kGfx90a = code_object(224, 3, 0x53f),
                  kGfx950 = code_object(224, 3, 0x54f), kGfx1100 = code_object(224, 3, 0x41);

TEST(CodeTarget, IsReadFromTheHeader) {
  EXPECT_EQ(code_target(kSm80), "sm_80");
  EXPECT_EQ(code_target(kSm86), "sm_86");
  EXPECT_EQ(code_target(kSm90), "sm_90");
  EXPECT_EQ(code_target(kSm100), "sm_100");
  EXPECT_EQ(code_target(kGfx942), "gfx942");
  EXPECT_EQ(code_target(kGfx90a), "gfx90a");
  EXPECT_EQ(code_target(kGfx950), "gfx950");
  EXPECT_EQ(code_target(kGfx1100), "gfx1100");
  EXPECT_EQ(code_target(code_object(224, 3, 0x5ff)), "gfx?0xff");
}

TEST(CodeTarget, OtherBytesHaveNone) {
  EXPECT_EQ(code_target(""), std::nullopt);
  EXPECT_EQ(code_target(".version 8.8\n.target sm_90a\n.address_size 64\n// and much more text"),
            std::nullopt);
  EXPECT_EQ(code_target(code_object(62, 0, 0)), std::nullopt);  // x86-64
  EXPECT_EQ(code_target(kSm90.substr(0, 60)), std::nullopt);
}

TEST(CodeTarget, CodeOfAnotherTargetIsRefusedWithBothNames) {
  EXPECT_EQ(refusal(kGfx942, "gfx942"), "");
  EXPECT_EQ(refusal(kGfx90a, "gfx942"), "the code is for gfx90a, not for gfx942");
  EXPECT_EQ(refusal(kGfx942, "sm_90"), "the code is for gfx942, not for sm_90");
  EXPECT_EQ(refusal(kSm90, "gfx942"), "the code is for sm_90, not for gfx942");
  EXPECT_EQ(refusal(kSm90, "sm_90"), "");
  EXPECT_EQ(refusal(kSm100, "sm_90"), "the code is for sm_100, not for sm_90");
  EXPECT_EQ(refusal("PTX is text", "sm_90"), "");
}

TEST(CodeTarget, ACubinRunsOnLaterMinorVersionsOfItsMajorOne) {
  EXPECT_EQ(refusal(kSm80, "sm_86"), "");
  EXPECT_EQ(refusal(kSm86, "sm_80"), "the code is for sm_86, not for sm_80");
  EXPECT_EQ(refusal(kSm80, "sm_90"), "the code is for sm_80, not for sm_90");
}

TEST(CodeTarget, TheRuntimeCanBeToldToTakeAGpuForAnother) {
  EXPECT_EQ(target_under_override("gfx942", "").value(), "gfx942");
  EXPECT_EQ(target_under_override("gfx942", "9.4.0").value(), "gfx940");
  EXPECT_EQ(target_under_override("gfx1101", "11.0.0").value(), "gfx1100");
  EXPECT_EQ(target_under_override("gfx906", "9.0.10").value(), "gfx90a");
  EXPECT_EQ(target_under_override("sm_90", "9.4.0").value(), "sm_90") << "NVIDIA's knows no such";
  for (const char* const wrong : {"9.4", "9.4.0.1", "gfx940", "9.4.x", "9.4.16"})
    EXPECT_FALSE(target_under_override("gfx942", wrong)) << wrong;
  EXPECT_EQ(override_for("gfx940"), "9.4.0");
  EXPECT_EQ(override_for("gfx90a"), "9.0.10");
  EXPECT_EQ(override_for("gfx1030"), "10.3.0");
  EXPECT_EQ(override_for("sm_90"), "");
}

}  // namespace
}  // namespace hone::problem
