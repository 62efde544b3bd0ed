#include "problem/types.h"

#include <gtest/gtest.h>

namespace hone::problem {
namespace {

TEST(TensorText, IsWhatToStringWrites) {
  for (const char* text : {"f32", "4x8xf32", "?x3xbf16", "1x1x2xi64", "7xf8E4M3FN"}) {
    const auto type = tensor_type_from(text);
    ASSERT_TRUE(type) << text;
    EXPECT_EQ(to_string(*type), text);
  }
}

TEST(TensorText, OtherTextIsNone) {
  for (const char* text : {"", "4x8", "4x8xq32", "4xx8xf32", "-4xf32", "4 xf32", "f32 ", "??xf32"})
    EXPECT_FALSE(tensor_type_from(text)) << text;
}

}  // namespace
}  // namespace hone::problem
