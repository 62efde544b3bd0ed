#include "problem/argument_form.h"

#include <gmock/gmock.h>

#include <cstring>

namespace hone::problem {
namespace {

std::string bytes_of(std::initializer_list<int> values) {
  std::string bytes;
  for (const int value : values) bytes += static_cast<char>(value);
  return bytes;
}

Array floats(std::vector<float> values) {
  Array array{{ElementType::kF32, {std::ssize(values)}}, std::string(4 * values.size(), '\0')};
  std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

TEST(ArgumentForm, IsReadFromWhatAFunctionDeclares) {
  const auto text = [](std::string_view tensor) {
    const auto type = argument_type_from(tensor);
    return type ? text_of(*type) + " in " + to_string(type->carrier) : "none";
  };
  EXPECT_EQ(text("64x8xi4"), "64x8xi4 in 64x8xi8");
  EXPECT_EQ(text("8xi2"), "8xi2 in 8xi8");
  EXPECT_EQ(text("8xf8E4M3FN"), "8xf8E4M3FN in 8xf8E4M3FN");
  EXPECT_EQ(text("8xf8E5M2FNUZ"), "8xf8E5M2FNUZ in 8xf32");
  EXPECT_EQ(text("4xcomplex<f32>"), "4xcf64 in 4x2xf32");
  EXPECT_EQ(text("complex<f64>"), "cf128 in 2xf64");
  EXPECT_EQ(text("4xf32"), "4xf32 in 4xf32");
  EXPECT_EQ(text("f32"), "f32 in f32");
  EXPECT_EQ(text("4xi7"), "none");
}

// As iree-run-module takes them: 21 43 is 1, 2, 3, 4.
TEST(ArgumentForm, PacksIntegersFromTheLowestBitsOn) {
  const Array array{{ElementType::kI8, {5}}, bytes_of({1, 2, 3, 4, -1})};
  EXPECT_EQ(in_form(array, ArgumentForm::kI4), bytes_of({0x21, 0x43, 0x0F}));
  EXPECT_EQ(in_form(array, ArgumentForm::kI2), bytes_of({0b00111001, 0b11}));
  const auto back = from_form(bytes_of({0x21, 0x43, 0x0F}), {array.type, ArgumentForm::kI4});
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->bytes, array.bytes);
  EXPECT_FALSE(from_form(bytes_of({0x21, 0x43}), {array.type, ArgumentForm::kI4}));
}

TEST(ArgumentForm, RoundsToFloatsWithoutNegativeZero) {
  const Array array = floats({0.5f, -0.5f, -0.0f, 1000.0f, 1.0625f});
  const std::string e4m3 = in_form(array, ArgumentForm::kF8E4M3FNUZ);
  // 240 is the largest; 1.0625 lies between 1 and 1.125, of which 1 is even.
  EXPECT_EQ(e4m3, bytes_of({0x38, 0xB8, 0x00, 0x7F, 0x40}));
  const auto back = from_form(e4m3, {array.type, ArgumentForm::kF8E4M3FNUZ});
  ASSERT_TRUE(back);
  EXPECT_EQ(back->bytes, floats({0.5f, -0.5f, 0.0f, 240.0f, 1.0f}).bytes);
  EXPECT_EQ(in_form(floats({0.25f}), ArgumentForm::kF8E5M2FNUZ), bytes_of({0x38}));
}

TEST(ArgumentForm, WritesAScalarAsText) {
  EXPECT_EQ(
      in_form({{ElementType::kI64, {}}, bytes_of({3, 0, 0, 0, 0, 0, 0, 0})}, ArgumentForm::kScalar),
      "3");
  EXPECT_EQ(in_form(floats({0.25f}), ArgumentForm::kScalar), "0.25");
}

}  // namespace
}  // namespace hone::problem
