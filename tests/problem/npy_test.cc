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
                                    ElementType::kF64, ElementType::kI64, ElementType::kI1,
                                    ElementType::kI16, ElementType::kI32, ElementType::kBF16}) {
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

// A file with this header dictionary and payload, version 1.0.
std::string file_of(std::string header, const std::string& payload) {
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  return file + header + payload;
}

std::string message_of(const std::string& header, const std::string& payload = "") {
  const auto array = from_npy(file_of(header, payload));
  return array ? "read" : array.error().message;
}

TEST(Npy, GivesFortranOrderBackRowMajor) {
  // numpy.asfortranarray([[1, 2, 3], [4, 5, 6]], dtype=int8): column after column.
  const auto array = from_npy(
      file_of("{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }", "\1\4\2\5\3\6"));
  ASSERT_TRUE(array) << array.error().message;
  EXPECT_EQ(array->bytes, "\1\2\3\4\5\6");
  // Element (i, j, k) of shape (2, 1, 2) lies at i + 2 j + 2 k.
  const auto cube = from_npy(
      file_of("{'descr': '<i2', 'fortran_order': True, 'shape': (2, 1, 2), }", "aabbccdd"));
  EXPECT_EQ(cube->bytes, "aaccbbdd");
}

TEST(Npy, ReadsWhatStandsForTypesThatNumpyLacks) {
  // ml_dtypes.bfloat16 saves as '<V2', as iree-run-module does.
  EXPECT_EQ(to_npy({{ElementType::kBF16, {1}}, "ab"}).substr(11, 14), "'descr': '<V2'");
  const TensorType bf16{ElementType::kBF16, {2}}, fp8{ElementType::kF8E4M3, {2}},
      truth{ElementType::kI1, {2}};
  const auto read = [](const std::string& descr, const std::string& payload) {
    return from_npy(file_of("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (2,), }",
                            payload))
        .value();
  };
  EXPECT_EQ(read("<V2", "abcd").type, bf16);
  EXPECT_EQ(as_tensor(read("<u2", "abcd"), bf16)->bytes, "abcd");
  EXPECT_EQ(as_tensor(read("|V1", "ab"), fp8)->type, fp8);
  EXPECT_EQ(as_tensor(read("|u1", "\1\1"), truth)->type, truth);
  EXPECT_EQ(as_tensor(read("<f2", "abcd"), bf16).error().message,
            "it holds 2xf16, but 2xbf16 is wanted: another element type");
  EXPECT_EQ(as_tensor(read("<f4", "abcdefgh"), {ElementType::kF32, {2, 1}}).error().message,
            "it holds 2xf32, but 2x1xf32 is wanted: another shape");
}

TEST(Npy, ReadsHeadersAsOtherProgramsWriteThem) {
  EXPECT_EQ(message_of(R"({"shape": (1L,), "fortran_order": False, "descr": "<f2"})", "ab"),
            "read");
  EXPECT_EQ(message_of("{'descr':'=f4','fortran_order':False,'shape':()}", "abcd"), "read");
  // Version 2.0: a header of any length.
  std::string long_header = "{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }";
  long_header.resize(70000, ' ');
  std::string file("\x93NUMPY\x02\x00", 8);
  for (const std::size_t shift : {0u, 8u, 16u, 24u})
    file += static_cast<char>(long_header.size() >> shift & 0xff);
  EXPECT_EQ(from_npy(file + long_header + "x")->bytes, "x");
}

TEST(Npy, RefusesMalformedHeaders) {
  EXPECT_EQ(message_of("{'descr': '<f4', 'shape': (1,)}", "abcd"),
            "not a .npy file that can be read: it has no 'fortran_order' (header, character 32)");
  EXPECT_EQ(message_of("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}"),
            "not a .npy file that can be read: bad extent in its 'shape' (header, character 51)");
  EXPECT_EQ(message_of("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}"),
            "this .npy file holds records, not a plain array");
  EXPECT_EQ(message_of("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "abcdefgh"),
            "this .npy file holds elements of type '<c8'; readable are little-endian bool, int, "
            "uint and float");
  EXPECT_EQ(message_of("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}").substr(0, 45),
            "this .npy file holds elements of type '|O'; r");
  for (const char* header :
       {"", "{", "}", "[]", "{'descr'", "{'descr': '<f4'", "{'descr': '<f4}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': ()} + 1",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'more': 1}"})
    EXPECT_NE(message_of(header, "abcd"), "read") << header;
  std::string version_9 = file_of("{}", "");
  version_9[6] = 9;
  EXPECT_EQ(from_npy(version_9).error().message,
            "this .npy file has version 9; versions 1 to 3 can be read");
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
  std::string huge = file;
  huge.replace(huge.find("(2,)"), 4, "(9e)");
  EXPECT_FALSE(from_npy(huge));
}

}  // namespace
}  // namespace hone::problem
