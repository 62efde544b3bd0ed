// cuBLASLt on a machine without it, and how products are put to it, by a library that multiplies
// matrices on the host as cuBLASLt's documentation says. NVIDIA's own runs in tests/gpu.
#include "device/cuda/cublaslt.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "device/cpu/kind.h"
#include "device/cpu/target.h"
#include "device/cuda/kind.h"
#include "device/cuda/toolkit.h"
#include "tests/device/fake_driver.h"
#include "tests/device/lt_library.h"
#include "tests/device/matmul.h"

namespace hone::device::cuda {
namespace {

using gpu::ColumnMajor;
using gpu::kLtF16;
using gpu::kLtF32;
using gpu::kLtReduceInF32;
using gpu::kLtReduceInOutput;
using problem::ElementType;
using test::FakeDriver;
using test::FakeLibrary;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string library_of_version(const std::string& version) {
  std::string source = test::kLtLibrary;
  return source.replace(source.find("VERSION"), 7, version);
}

TEST(CublasLtTest, IsDoneWithoutWhereItIsMissing) {
  const auto library = open_cublaslt({"libcublasLt-of-no-machine.so"});
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(library.error().message, HasSubstr("cuBLASLt is not on this machine"));
  EXPECT_THAT(library.error().message, HasSubstr("libcublasLt-of-no-machine.so"));
  EXPECT_THAT(library.error().message, HasSubstr("HONE_CUBLASLT names the file"));
}

TEST(CublasLtTest, AnOldOneIsNamedWithItsVersion) {
  const FakeLibrary old(library_of_version("11111"));
  const auto library = open_cublaslt({old.path()});
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(library.error().message,
              HasSubstr(old.path() + " is too old: version 11111, hone needs 120000 (CUDA 12.0)"));
}

TEST(CublasLtTest, AnotherLibraryIsToldByItsFunctions) {
  const FakeLibrary other("int cublasLtCreate() { return 0; }");
  const auto library = open_cublaslt({other.path()});
  ASSERT_FALSE(library);
  EXPECT_THAT(library.error().message, HasSubstr("has no function cublasLtDestroy"));
}

TEST(CublasLtTest, OpensTheFirstThatIsThere) {
  const FakeLibrary there(library_of_version("130002"));
  const auto library = open_cublaslt({"libcublasLt-of-no-machine.so", there.path()});
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ((*library)->name, "cuBLASLt 13.0.2");
  EXPECT_EQ((*library)->check(15, "multiplying").error().message,
            "multiplying: cuBLASLt says CUBLAS_STATUS_NOT_SUPPORTED");
}

TEST(CublasLtTest, TheUserNamesTheFile) {
  setenv("HONE_CUBLASLT", "/opt/mine/libcublasLt.so", 1);
  EXPECT_THAT(cublaslt_names(), ElementsAre("/opt/mine/libcublasLt.so"));
  unsetenv("HONE_CUBLASLT");
  EXPECT_EQ(cublaslt_names().front(), "libcublasLt.so.13");
}

TEST(CublasLtTest, IsFoundBesideTorchInItsWheels) {
  const auto folder = TemporaryFolder::create("hone-wheels-");
  const auto lib = folder->path() / "lib/python3.12/site-packages/nvidia/cublas/lib";
  std::filesystem::create_directories(lib);
  ASSERT_TRUE(write_file_atomically(lib / "libcublasLt.so.12", ""));
  setenv("VIRTUAL_ENV", folder->path().c_str(), 1);
  const std::vector<std::string> names = cublaslt_names();
  unsetenv("VIRTUAL_ENV");
  EXPECT_THAT(names, testing::Contains((lib / "libcublasLt.so.12").string()));
}

// A is 3 x 5 and B 5 x 2, rows one after the other, as the dispatch has them.
TEST(ColumnMajorTest, ARowMajorProductIsThatOfTheSwappedOperands) {
  const auto columns = gpu::column_major(
      {.m = 3, .n = 2, .k = 5, .input = ElementType::kF16, .bindings = {4, 5, 6}}, "cuBLASLt");
  ASSERT_TRUE(columns);
  EXPECT_EQ(columns->first, (ColumnMajor{5, kLtF16, 2, 5, 2, 10, false}));   // B' is 2 x 5
  EXPECT_EQ(columns->second, (ColumnMajor{4, kLtF16, 5, 3, 5, 15, false}));  // A' is 5 x 3
  EXPECT_EQ(columns->output, (ColumnMajor{6, kLtF32, 2, 3, 2, 6, false}));   // C' is 2 x 3
  EXPECT_EQ(columns->beta, 0);
}

TEST(ColumnMajorTest, ATransposedOperandKeepsTheLayoutItHas) {
  const auto columns =
      gpu::column_major({.m = 3, .n = 2, .k = 5, .batches = 7, .transpose_b = true}, "cuBLASLt");
  ASSERT_TRUE(columns);
  EXPECT_EQ(columns->first, (ColumnMajor{1, kLtF32, 5, 2, 5, 10, true}));  // B is stored 2 x 5
  EXPECT_EQ(columns->batches, 7);
}

TEST(ColumnMajorTest, SumsAreNeverRoundedTo16BitsOnTheWay) {
  Product product{
      .m = 3, .n = 2, .k = 5, .input = ElementType::kBF16, .output = ElementType::kBF16};
  EXPECT_EQ(gpu::column_major(product, "cuBLASLt")->reductions, kLtReduceInF32);
  product.output = ElementType::kF32;
  EXPECT_EQ(gpu::column_major(product, "cuBLASLt")->reductions, kLtReduceInF32 | kLtReduceInOutput);
}

TEST(ColumnMajorTest, RefusesTypesThatAreNotAddedUpInF32) {
  EXPECT_EQ(gpu::column_major({.m = 1, .n = 1, .k = 1, .input = ElementType::kI8}, "cuBLASLt")
                .error()
                .message,
            "cuBLASLt does not multiply i8 into f32 with sums in f32");
  EXPECT_FALSE(gpu::column_major(
      {.m = 1, .n = 1, .k = 1, .input = ElementType::kF16, .output = ElementType::kBF16},
      "cuBLASLt"));
}

class CublasLtKernelsTest : public testing::Test {
 protected:
  LibraryKernels kernels(const Product& product, std::size_t most = 32) {
    auto library = open_cublaslt({fake_.path()});
    auto session = gpu::GpuContext::open(open_driver(driver_.library()).value(), GpuFacts{});
    auto kernels = gpu::lt_kernels(session.value(), library.value(), product, most);
    EXPECT_TRUE(kernels) << kernels.error().message;
    return std::move(*kernels);
  }
  // C of the product of these, rows one after the other.
  std::vector<float> product(const Product& product, std::vector<float> a, std::vector<float> b,
                             std::vector<float> c) {
    const std::vector<Buffer> bindings{{a.data(), 0}, {b.data(), 0}, {c.data(), 0}};
    EXPECT_TRUE(kernels(product).kernels.front().kernel->launch(bindings));
    return c;
  }

  FakeLibrary fake_{library_of_version("130002")};
  FakeDriver driver_{{{"cuDriverGetVersion", "(int* version) { *version = 13000; return 0; }"}}};
};

TEST_F(CublasLtKernelsTest, LeavesOutWhatTheLibraryCannotRun) {
  const LibraryKernels found = kernels({.m = 1, .n = 1, .k = 1});
  EXPECT_EQ(found.library, "cuBLASLt 13.0.2");
  ASSERT_THAT(found.kernels, SizeIs(2));
  EXPECT_EQ(found.kernels[0].algorithm,
            "algorithm 60, tile 1, stages 6, split-K 2, workspace 0 bytes");
  EXPECT_THAT(found.kernels[1].algorithm, HasSubstr("algorithm 62"));
  EXPECT_THAT(kernels({.m = 1, .n = 1, .k = 1}, 1).kernels, SizeIs(1));
}

// [1 2 3; 4 5 6] [1 0; 0 1; 2 2] = [1+6 2+6; 4+12 5+12]
TEST_F(CublasLtKernelsTest, MultipliesRowMajorMatrices) {
  EXPECT_THAT(
      product({.m = 2, .n = 2, .k = 3}, {1, 2, 3, 4, 5, 6}, {1, 0, 0, 1, 2, 2}, {9, 9, 9, 9}),
      ElementsAre(7, 8, 16, 17));
}

TEST_F(CublasLtKernelsTest, TakesEitherOperandTransposed) {
  EXPECT_THAT(product({.m = 2, .n = 2, .k = 3, .transpose_b = true}, {1, 2, 3, 4, 5, 6},
                      {1, 0, 2, 0, 1, 2}, {9, 9, 9, 9}),
              ElementsAre(7, 8, 16, 17));
  EXPECT_THAT(product({.m = 2, .n = 2, .k = 3, .transpose_a = true}, {1, 4, 2, 5, 3, 6},
                      {1, 0, 0, 1, 2, 2}, {9, 9, 9, 9}),
              ElementsAre(7, 8, 16, 17));
}

TEST_F(CublasLtKernelsTest, AddsToTheOutputWhereTheDispatchDoes) {
  EXPECT_THAT(product({.m = 2, .n = 2, .k = 3, .accumulate = true}, {1, 2, 3, 4, 5, 6},
                      {1, 0, 0, 1, 2, 2}, {100, 200, 300, 400}),
              ElementsAre(107, 208, 316, 417));
}

// Two products of 1 x 2 by 2 x 3: [1 2] [1 2 3; 4 5 6] and [3 4] [1 0 1; 0 1 1].
TEST_F(CublasLtKernelsTest, MultipliesABatch) {
  EXPECT_THAT(product({.m = 1, .n = 3, .k = 2, .batches = 2}, {1, 2, 3, 4},
                      {1, 2, 3, 4, 5, 6, 1, 0, 1, 0, 1, 1}, std::vector<float>(6)),
              ElementsAre(9, 12, 15, 3, 4, 7));
}

// Bindings in the order of the dispatch, not of the operands.
TEST_F(CublasLtKernelsTest, FindsTheOperandsInTheDispatchsBindings) {
  std::vector<float> a{2}, b{3}, c{0};
  const std::vector<Buffer> bindings{{c.data(), 0}, {b.data(), 0}, {a.data(), 0}};
  const LibraryKernels found = kernels({.m = 1, .n = 1, .k = 1, .bindings = {2, 1, 0}});
  EXPECT_TRUE(found.kernels.front().kernel->launch(bindings));
  EXPECT_EQ(c[0], 6);
}

// What the runner is given: it makes of a dispatch what the calls above make of a product.
TEST_F(CublasLtKernelsTest, IsALibraryOfNvidiasDevices) {
  setenv("HONE_CUBLASLT", fake_.path().c_str(), 1);
  const auto gpu = gpu::open_device(vendor(), open_driver(driver_.library()).value(), GpuFacts{});
  ASSERT_TRUE(gpu) << gpu.error().message;
  const std::unique_ptr<Library> library = cublaslt();
  EXPECT_EQ(library->device_kind(), (*gpu)->kind());
  problem::Dispatch dispatch = test::matmul(2, 2, 3);
  const auto found = library->kernels(dispatch, **gpu, {});
  unsetenv("HONE_CUBLASLT");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->library.substr(0, found->library.find(' ')), library->title());
  EXPECT_FALSE(found->problem);  // it runs over the candidates' own buffers
  ASSERT_THAT(found->kernels, SizeIs(2));
  std::vector<float> a{1, 2, 3, 4, 5, 6}, b{1, 0, 0, 1, 2, 2}, c(4);
  const std::vector<Buffer> bindings{{a.data(), 0}, {b.data(), 0}, {c.data(), 0}};
  EXPECT_TRUE(found->kernels.front().kernel->launch(bindings));
  EXPECT_THAT(c, ElementsAre(7, 8, 16, 17));

  dispatch.fused = {"fill", "elementwise(math.erf)"};
  EXPECT_THAT(library->kernels(dispatch, **gpu, {}).error().message, HasSubstr("fused with fill"));
  const int core = cpu::available_cores().front();
  const auto cores = cpu::open_device({&core, 1});
  EXPECT_FALSE(library->kernels(test::matmul(2, 2, 3), **cores, {}));
}

}  // namespace
}  // namespace hone::device::cuda
