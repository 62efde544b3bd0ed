#include "problem/npy.h"

#include <gtest/gtest.h>

namespace hone::problem {
namespace {

TEST(Npy, WritesTheBytesThatNumpyWrites) {
  // numpy.save of array([[1, 2]], dtype=int32) with NumPy's padding to 64 bytes.
  const std::string file =
      to_npy({{ElementType::kI32, {1, 2}}, std::string("\1\0\0\0\2\0\0\0", 8)});
  EXPECT_EQ(file.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ(file.size() % 64, 8u);
  EXPECT_EQ(file.substr(10, 55), "{'descr': '<i4', 'fortran_order': False, 'shape': (1,2,");
  EXPECT_EQ(file[file.size() - 9], '\n');
}

TEST(Npy, RoundTrips) {
  for (const ElementType element : {ElementType::kI8, ElementType::kF16, ElementType::kF32,
                                    ElementType::kF64, ElementType::kI64}) {
    const TensorType type{element, {2, 3}};
    const std::string bytes(static_cast<std::size_t>(6 * byte_size(element)), 'x');
    const auto array = from_npy(to_npy({type, bytes}));
    ASSERT_TRUE(array) << array.error().message;
    EXPECT_EQ(array->type, type);
    EXPECT_EQ(array->bytes, bytes);
  }
}

TEST(Npy, ReadsAScalarAndAnEmptyArray) {
  EXPECT_EQ(from_npy(to_npy({{ElementType::kF32, {}}, "abcd"}))->bytes, "abcd");
  EXPECT_EQ(from_npy(to_npy({{ElementType::kF32, {0, 4}}, ""}))->type.shape[0], 0);
}

TEST(Npy, SaysWhatIsWrong) {
  EXPECT_EQ(from_npy("hello").error().message,
            "not a .npy file: it does not begin with NumPy's magic bytes");
  std::string file = to_npy({{ElementType::kF32, {2}}, "12345678"});
  EXPECT_EQ(from_npy(std::string_view(file).substr(0, 40)).error().message,
            "not a .npy file that can be read: its header is cut off");
  EXPECT_EQ(from_npy(std::string_view(file).substr(0, file.size() - 1)).error().message,
            "this .npy file of 2xf32 holds 7 bytes of data, too few");
  std::string big_endian = file;
  big_endian.replace(big_endian.find("<f4"), 3, ">f4");
  EXPECT_FALSE(from_npy(big_endian));
  std::string fortran = file;
  fortran.replace(fortran.find("False"), 5, "True ");
  EXPECT_EQ(from_npy(fortran).error().message,
            "this .npy file is in Fortran order; save numpy.ascontiguousarray(x)");
  std::string huge = file;
  huge.replace(huge.find("(2,)"), 4, "(9e)");
  EXPECT_FALSE(from_npy(huge));
}

}  // namespace
}  // namespace hone::problem
