// Manifests of users' own kernels: what the examples say, and what is said of mistakes.
#include "provider/external/external_kernel.h"

#include <gmock/gmock.h>

#include "base/file.h"
#include "provider/external/external_provider.h"

namespace hone::external {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kFolder = HONE_SOURCE_DIR "/tests/provider/external/";

// The product's manifest with a part replaced, beside its PTX.
class EditedManifest {
 public:
  EditedManifest(const std::string& from, const std::string& to) {
    std::string text = read_file(kFolder + "product.yaml").value();
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const std::string ptx = read_file(kFolder + "product.ptx").value();
    EXPECT_TRUE(write_file_atomically(folder_.path() / "product.ptx", ptx));
    EXPECT_TRUE(write_file_atomically(folder_.path() / "my.yaml", text));
  }

  Result<ExternalKernel> read() const {
    return read_external_kernel((folder_.path() / "my.yaml").string());
  }
  std::string error() const {
    const auto kernel = read();
    if (kernel) return "none";
    const std::string& message = kernel.error().message;
    const auto name = message.find("my.yaml");
    return name == std::string::npos ? message : message.substr(name);
  }

 private:
  TemporaryFolder folder_ = TemporaryFolder::create("hone-test-").value();
};

std::string error_of(const std::string& from, const std::string& to) {
  return EditedManifest(from, to).error();
}

TEST(ExternalKernel, SaysWhatItComputesAndHowItIsLaunched) {
  const auto kernel = read_external_kernel(kFolder + "product.yaml");
  ASSERT_TRUE(kernel) << kernel.error().message;
  EXPECT_EQ(kernel->name(), "product");
  EXPECT_FALSE(kernel->convolution);
  ASSERT_EQ(kernel->operands.size(), 3u);
  EXPECT_EQ(kernel->operands[1].name, "B");
  EXPECT_EQ(kernel->operands[1].type, problem::ElementType::kF16);
  EXPECT_THAT(kernel->operands[1].layout, ElementsAre("K", "N"));
  EXPECT_EQ(kernel->grid.size(), 2u);
  EXPECT_TRUE(kernel->build.empty());
}

// From a source, with a bias and a gelu: words of the command, folded over two lines.
TEST(ExternalKernel, ExamplesCanBeRead) {
  for (const char* const name : {"linear.yaml", "linear_gelu.yaml"}) {
    const auto kernel =
        read_external_kernel(HONE_SOURCE_DIR "/examples/external/" + std::string(name));
    ASSERT_TRUE(kernel) << kernel.error().message;
    EXPECT_EQ(kernel->build.front().text, "nvcc");
    EXPECT_EQ(kernel->build.back().text, "{object}");
    EXPECT_EQ(kernel->operands.size(), 4u);
    EXPECT_EQ(kernel->rules.size(), 5u);
  }
}

TEST(ExternalKernel, AnotherFileBehindTheManifestIsAnotherKernel) {
  const auto once = EditedManifest("THREADS: 64", "THREADS: 64").read();
  const auto again = EditedManifest("THREADS: 64", "THREADS: 64").read();
  const auto edited = EditedManifest("THREADS: 64", "THREADS: 32").read();
  ASSERT_TRUE(once && again && edited);
  EXPECT_EQ(once->content, again->content);
  EXPECT_NE(once->content, edited->content);
}

TEST(ExternalKernel, MistakesAreNamedWithTheirLine) {
  EXPECT_THAT(error_of("operation: matmul", "operation: matmull"),
              HasSubstr("my.yaml:2: operation is 'matmull'; it must be matmul or convolution"));
  EXPECT_THAT(error_of("type: f32", "type: float"),
              HasSubstr("my.yaml:6: operands: C: type is 'float'"));
  EXPECT_THAT(error_of("layout: [K, N]", "layout: [K, L]"),
              HasSubstr("my.yaml:5: operands: B: there is no dimension 'L'"));
  EXPECT_THAT(error_of("layout: [K, N]", "layout: [K, K]"),
              HasSubstr("my.yaml:5: operands: B: K is in the layout twice"));
  EXPECT_THAT(error_of("object: product.ptx", "object: prduct.ptx"),
              StartsWith("my.yaml:7: object: "));
  EXPECT_THAT(error_of("object: product.ptx\n", ""), HasSubstr("object is missing"));
  EXPECT_THAT(error_of("object:", "source:"), HasSubstr("build is missing"));
  EXPECT_THAT(error_of("[A, B, C, N, K, M]", "[A, B, C, N, K, ROWS]"),
              HasSubstr("my.yaml:8: arguments: "));
  EXPECT_THAT(error_of("[A, B, C, N, K, M]", "[A, B, N, K, M]"),
              HasSubstr("my.yaml:6: arguments: none is C"));
  EXPECT_THAT(error_of("block: THREADS", "block: THREADS\nzeroed: [A]"),
              HasSubstr("my.yaml:11: zeroed: 'A'; what can be zeroed is the result, C"));
  EXPECT_THAT(
      error_of("[A, B, C, N, K, M]", "[A, B, C, scratch, K, M]"),
      HasSubstr("my.yaml:8: arguments: one is scratch, and the key scratch, its bytes, is"));
  EXPECT_THAT(error_of("block: THREADS", "block: THREADS\nscratch: M * N * 4"),
              HasSubstr("my.yaml:11: arguments: none is scratch"));
  EXPECT_THAT(error_of("  B: {type", "  N: {type"),
              HasSubstr("my.yaml:5: operands: 'N' is a size; call the operand another name"));
  EXPECT_THAT(error_of("block: THREADS", "block: THREDS"), HasSubstr("my.yaml:10: block: "));
  EXPECT_THAT(error_of("THREADS: 64", "THREADS: 96"),
              HasSubstr("my.yaml:13: default: THREADS is 96; its values are 32, 64, 256"));
  EXPECT_THAT(error_of("kernel: product", "kernel: product_{TILE}"), HasSubstr("my.yaml:1: "));
  EXPECT_THAT(error_of("  A: {type: f16, layout: [M, K]}\n", ""),
              HasSubstr("operands: A is missing"));
  EXPECT_THAT(error_of("grid:", "grids:"), HasSubstr("my.yaml:9: 'grids' is no key of a manifest"));
}

}  // namespace
}  // namespace hone::external
