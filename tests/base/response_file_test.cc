#include <gtest/gtest.h>

#include "base/text.h"

namespace hone {
namespace {

TEST(ResponseFile, HoldsOneArgumentInEachLine) {
  EXPECT_EQ(response_file({"--iree-opt-data-tiling", "--target=host"}),
            "--iree-opt-data-tiling\n--target=host\n");
  EXPECT_EQ(response_file({}), "");
}

TEST(ResponseFile, QuotesWhatWouldEndOrChangeAnArgument) {
  EXPECT_EQ(response_file({"--pipeline=builtin.module(a, b)"}),
            "\"--pipeline=builtin.module(a, b)\"\n");
  EXPECT_EQ(response_file({R"(--x=a"b)"}), "\"--x=a\\\"b\"\n");
  EXPECT_EQ(response_file({R"(--x=C:\d)"}), "\"--x=C:\\\\d\"\n");
  EXPECT_EQ(response_file({""}), "\"\"\n");
}

}  // namespace
}  // namespace hone
