// hipBLASLt on a machine without it, and how products are put to it, by a library that multiplies
// matrices on the host. AMD's own was never run.
#include "device/hip/hipblaslt.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "device/hip/gpu.h"
#include "device/hip/kind.h"
#include "tests/device/fake_hip.h"
#include "tests/device/lt_library.h"
#include "tests/device/matmul.h"

namespace hone::device::hip {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// The library of cuBLASLt's tests with hipBLASLt's prefix and numbers.
std::string library_source() {
  std::string source = test::kLtLibrary;
  const auto replace = [&](const std::string& from, const std::string& to) {
    for (std::size_t at = source.find(from); at != std::string::npos;
         at = source.find(from, at + to.size()))
      source.replace(at, from.size(), to);
  };
  replace("cublasLt", "hipblasLt");
  replace("u64 hipblasLtGetVersion() { return VERSION; }",
          "int hipblasLtGetVersion(void* handle, int* version) { *version = 100202; return 0; }");
  replace("compute == 68", "compute == 2");  // HIPBLAS_COMPUTE_32F
  replace("if (which == 3) m->a = *value; else m->b = *value;",
          "int t = *value == 112; if (which == 0) m->a = t; else m->b = t;");  // HIPBLAS_OP_T
  replace("if (which == 5)", "if (which == 0)");
  replace("u64 algorithm[8], workspace;", "u64 algorithm[3], workspace;");
  return source;
}

TEST(HipblasLtTest, IsDoneWithoutWhereItIsMissing) {
  const auto library = open_hipblaslt({"libhipblaslt-of-no-machine.so"});
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(library.error().message, HasSubstr("hipBLASLt is not on this machine"));
  EXPECT_THAT(library.error().message, HasSubstr("HONE_HIPBLASLT names the file"));
}

TEST(HipblasLtTest, TheUserNamesTheFile) {
  setenv("HONE_HIPBLASLT", "/opt/mine/libhipblaslt.so", 1);
  EXPECT_THAT(hipblaslt_names(), ElementsAre("/opt/mine/libhipblaslt.so"));
  unsetenv("HONE_HIPBLASLT");
  EXPECT_THAT(hipblaslt_names(), testing::Contains("libhipblaslt.so"));
}

// [1 2 3; 4 5 6] [1 0; 0 1; 2 2] = [1+6 2+6; 4+12 5+12]
TEST(HipblasLtTest, IsALibraryOfAmdsDevices) {
  const test::FakeLibrary fake(library_source());
  const test::FakeHip runtime(test::one_mi300x());
  const auto driver = open_driver(runtime.library()).value();
  const auto facts = list_devices(*driver).value();
  const auto device = gpu::open_device(vendor(), driver, facts.at(0)).value();
  setenv("HONE_HIPBLASLT", fake.path().c_str(), 1);
  const std::unique_ptr<Library> library = hipblaslt();
  EXPECT_EQ(library->device_kind(), device->kind());
  const auto found = library->kernels(test::matmul(2, 2, 3), *device, {});
  unsetenv("HONE_HIPBLASLT");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->library, "hipBLASLt 1.2.2");
  ASSERT_THAT(found->kernels, SizeIs(2));  // the library's second algorithm does not work
  EXPECT_EQ(found->kernels[0].algorithm, "workspace 0 bytes");
  std::vector<float> a{1, 2, 3, 4, 5, 6}, b{1, 0, 0, 1, 2, 2}, c(4);
  const std::vector<Buffer> bindings{{a.data(), 0}, {b.data(), 0}, {c.data(), 0}};
  EXPECT_TRUE(found->kernels.front().kernel->launch(bindings));
  EXPECT_THAT(c, ElementsAre(7, 8, 16, 17));
}

}  // namespace
}  // namespace hone::device::hip
