#include "provider/triton/user_kernel.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "provider/triton/gemm.h"
#include "provider/triton/triton_provider.h"
#include "tests/provider/triton/gemms.h"

namespace hone::triton {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kManifest = R"yaml(kernel: product
arguments:
  a: A
  b: B
  c: C
  rows: M
  stride_a: A.stride(0)
constants:
  EVEN_K: K % BLOCK_K == 0
  ACTIVATION: "relu"
  SUMS: tl.float32
  ALPHA: 0.5
  NOTHING: null
grid: ["cdiv(M, BLOCK_M)", batch]
knobs:
  BLOCK_M: [16, 32, 64]
  BLOCK_K: [16, 32]
  num_warps: [4, 8]
  waves_per_eu: [0, 2]
constraints:
  - name: fits
    rule: BLOCK_M * BLOCK_K * 2 <= shared_bytes // 64
    reason: a tile of A is a 64th of shared memory
  - {name: wide, rule: BLOCK_M >= 32, reason: small tiles are slow, soft: true}
default: {BLOCK_M: 32, BLOCK_K: 16, num_warps: 4, waves_per_eu: 0}
)yaml";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kManifest;
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Result<UserKernel> read(const std::string& manifest) {
  return read_user_kernel("my.yaml", manifest, "folder/my.py", "import triton\n");
}

UserKernel kernel(const std::string& manifest = kManifest) {
  auto kernel = read(manifest);
  EXPECT_TRUE(kernel) << kernel.error().message;
  return std::move(*kernel);
}

std::string manifest_refusal(const std::string& manifest) {
  const auto kernel = read(manifest);
  EXPECT_FALSE(kernel) << manifest;
  if (kernel) return "";
  EXPECT_EQ(kernel.error().kind, ErrorKind::kInput);
  return kernel.error().message;
}

GemmDevice device(std::string_view target) {
  return gemm_device(target).value();
}

TEST(UserKernel, IsReadFromItsManifest) {
  const nlohmann::json written = kernel();
  EXPECT_EQ(written["path"], "my.py");
  EXPECT_EQ(written["text"], "import triton\n");
  EXPECT_EQ(written["function"], "product");
  EXPECT_EQ(written["arguments"].dump(),
            R"json([["a","A"],["b","B"],["c","C"],["rows","M"],["stride_a","A.stride(0)"]])json");
  EXPECT_EQ(
      written["constants"].dump(),
      R"([["EVEN_K",{"expression":"K % BLOCK_K == 0"}],["ACTIVATION",{"value":"relu"}],)"
      R"(["SUMS",{"type":"tl.float32"}],["ALPHA",{"value":0.5}],["NOTHING",{"value":null}]])");
  EXPECT_EQ(written["grid"].dump(), R"json(["cdiv(M, BLOCK_M)","batch"])json");
  EXPECT_EQ(written["default"].dump(),
            R"({"BLOCK_K":16,"BLOCK_M":32,"num_warps":4,"waves_per_eu":0})");
}

// 227 KiB / 64 = 3632 bytes: 64 x 32 x 2 = 4096 do not fit. (3 * 2 - 1) tiles, of which the soft
// rule leaves (2 * 2 - 1); 2 values of num_warps; waves_per_eu is AMD's.
TEST(UserKernel, ItsSpaceIsTheManifests) {
  const UserKernel user = kernel();
  const auto nvidia = user_kernel_space(user, gemm(512, 512, 512), device("sm_90"));
  ASSERT_TRUE(nvidia) << nvidia.error().message;
  EXPECT_EQ(nvidia->count().value, 6u);
  EXPECT_EQ(nvidia->relax({"wide"})->count().value, 10u);
  EXPECT_EQ(nvidia->knobs().size(), 3u);
  // 64 KiB / 64 = 1024 bytes: 32 x 16 alone, 2 x 2 values of the others.
  const auto amd = user_kernel_space(user, gemm(512, 512, 512), device("gfx942"));
  ASSERT_TRUE(amd) << amd.error().message;
  EXPECT_EQ(amd->count().value, 4u);
  EXPECT_EQ(amd->knobs().size(), 4u);
}

TEST(UserKernel, ADefaultThatBreaksARuleIsRefusedWithTheSize) {
  const UserKernel user = kernel(with("{BLOCK_M: 32, BLOCK_K: 16", "{BLOCK_M: 64, BLOCK_K: 32"));
  const auto space = user_kernel_space(user, gemm(512, 512, 512), device("sm_90"));
  ASSERT_FALSE(space);
  EXPECT_THAT(space.error().message,
              HasSubstr("my.yaml:25: default: breaks 'fits' for gemm_512x512x512_f16_f16_f16_nn: a "
                        "tile of A is a 64th of shared memory"));
  Gemm biased = gemm(16, 16, 16);
  biased.bias = problem::ElementType::kF16;
  EXPECT_EQ(
      user_kernel_space(kernel(), biased, device("sm_90")).error().message,
      "my.yaml:1: kernel: product takes no bias, and gemm_16x16x16_f16_f16_f16_nn_bias has one");
}

TEST(UserKernel, IsPartOfItsDispatchsIdentity) {
  const Gemm product = gemm(512, 256, 128);
  const auto own = dispatch_of(product), users = with_kernel(own, kernel());
  UserKernel changed = kernel();
  changed.text += "# one comment more\n";
  EXPECT_EQ(users.name, "gemm_512x256x128_f16_f16_f16_nn_product");
  EXPECT_NE(problem::fingerprint(users), problem::fingerprint(own));
  EXPECT_NE(problem::fingerprint(users), problem::fingerprint(with_kernel(own, changed)));
  UserKernel elsewhere = kernel();
  elsewhere.path = "another/folder/my.py";
  EXPECT_EQ(problem::fingerprint(users), problem::fingerprint(with_kernel(own, elsewhere)));
  EXPECT_EQ(gemm_of(users).value(), product);
}

TEST(UserKernel, TheProviderTellsWorkersTheKnobsAndNoStructure) {
  const auto user = std::make_shared<const UserKernel>(kernel());
  const TritonProvider provider(device("sm_90"), SpaceKind::kOwn, user);
  const auto dispatch = with_kernel(dispatch_of(gemm(512, 512, 512)), *user);
  const auto space = provider.space_of(dispatch).value();
  const auto payload = provider.payload_of(dispatch, space, space.at(0).value()).value();
  EXPECT_EQ(payload.json.dump(), R"({"knobs":{"BLOCK_K":16,"BLOCK_M":32,"num_warps":4}})");
  EXPECT_FALSE(provider.as_shipped(payload));
  EXPECT_FALSE(provider.prior(dispatch, space));
}

TEST(UserKernel, StridesAreThoseOfDenseMatrices) {
  Gemm product = gemm(100, 70, 30);
  product.b_rows = false;
  const space::Names names = names_of(product, device("sm_90"));
  const auto value = [&](const char* name) { return names.at(name).constant_value(); };
  EXPECT_EQ(value("A.stride(0)"), 30);
  EXPECT_EQ(value("A.stride(1)"), 1);
  EXPECT_EQ(value("B.stride(0)"), 1);
  EXPECT_EQ(value("B.stride(1)"), 30);
  EXPECT_EQ(value("C.stride(0)"), 70);
  EXPECT_EQ(value("C.stride(batch)"), 7000);
  EXPECT_EQ(value("units"), 132);
  EXPECT_EQ(value("shared_bytes"), 232448);
}

TEST(UserKernelErrors, NameTheLineAndWhatIsAllowed) {
  EXPECT_EQ(manifest_refusal("- a list"),
            "my.yaml:1: no manifest: it is a mapping with the keys kernel, arguments, constants, "
            "grid, constraints, knobs, default, scratch");
  EXPECT_THAT(manifest_refusal("kernel: [1, 2\n"), HasSubstr("my.yaml:2: "));
  EXPECT_EQ(manifest_refusal(with("grid:", "gird:")),
            "my.yaml:14: 'gird' is no key of a manifest (did you mean 'grid'?); there are kernel, "
            "arguments, constants, grid, constraints, knobs, default, scratch");
  EXPECT_EQ(manifest_refusal(with("kernel: product\n", "")), "my.yaml:1: kernel is missing");
  EXPECT_EQ(
      manifest_refusal(with("  rows: M", "  rows: MM")),
      "my.yaml:6: arguments: rows: column 1: unknown name 'MM' (did you mean 'M' or 'K' or 'N'?); "
      "an argument is A, B, C, bias, scratch or an expression");
  EXPECT_EQ(manifest_refusal(with("  c: C\n", "")), "my.yaml:1: arguments: none is C");
  EXPECT_EQ(manifest_refusal(with("  b: B", "  a: B")), "my.yaml:4: arguments: a is given twice");
  EXPECT_EQ(manifest_refusal(with("tl.float32", "tl.flaot32")),
            "my.yaml:11: constants: SUMS: unknown type 'tl.flaot32' (did you mean 'tl.float32'?); "
            "there are A.dtype, B.dtype, C.dtype, tl.float16, "
            "tl.bfloat16, tl.float32, tl.float64, tl.float8e4nv, tl.float8e5, tl.float8e4b8, "
            "tl.int8, tl.float8e5b16, tl.int32, tl.int64");
  EXPECT_EQ(manifest_refusal(with("\"relu\"", "relu")),
            "my.yaml:10: constants: ACTIVATION: column 1: unknown name 'relu'; a text stands in "
            "quotes");
  EXPECT_EQ(manifest_refusal(with("\"cdiv(M, BLOCK_M)\", batch", "cdiv(M, BLOCK_M), batch")),
            "my.yaml:14: grid: 'cdiv(M': in [ ] an expression with a comma needs quotes");
  EXPECT_EQ(manifest_refusal(with(", batch]", ", 1, 1, 1]")),
            "my.yaml:14: grid has 4 extents; it may have 1 to 3");
}

TEST(UserKernelErrors, OfKnobsRulesAndDefaults) {
  EXPECT_EQ(manifest_refusal(with("[16, 32, 64]", "64")),
            "my.yaml:16: knobs: BLOCK_M must be the list of its values: [32, 64, 128]");
  EXPECT_EQ(manifest_refusal(with("[16, 32, 64]", "[16, -1]")),
            "my.yaml:16: knobs: BLOCK_M is '-1'; it must be a whole number from 0 to 2147483647");
  EXPECT_EQ(manifest_refusal(with("  num_warps: [4, 8]", "  K: [4, 8]")),
            "my.yaml:18: knobs: 'K' has a meaning already; call the knob another name");
  EXPECT_EQ(manifest_refusal(with("BLOCK_M * BLOCK_K * 2 <=", "BLOCK_M * BLOK_K * 2 <=")),
            "my.yaml:22: constraints: fits: column 11: unknown name 'BLOK_K' (did you mean "
            "'BLOCK_K' or 'BLOCK_M'?)");
  EXPECT_EQ(manifest_refusal(with("rule: BLOCK_M >= 32", "rule: BLOCK_M - 32")),
            "my.yaml:24: constraints: wide: 'BLOCK_M - 32' is a number; a rule is true or false");
  EXPECT_EQ(manifest_refusal(with("    reason: a tile of A is a 64th of shared memory\n", "")),
            "my.yaml:21: constraints: reason is missing");
  EXPECT_EQ(manifest_refusal(with("soft: true", "hard: true")),
            "my.yaml:24: constraints: unknown key 'hard'; there are name, rule, reason, soft");
  EXPECT_EQ(manifest_refusal(with("num_warps: 4,", "")),
            "my.yaml:25: default: num_warps is missing");
  EXPECT_EQ(manifest_refusal(with("num_warps: 4,", "num_warps: 2,")),
            "my.yaml:25: default: num_warps is 2; its values are 4, 8");
  EXPECT_EQ(manifest_refusal(with("num_warps: 4,", "num_warps: 4, num_warp: 4,")),
            "my.yaml:25: default: 'num_warp' is no knob (did you mean 'num_warps'?)");
  EXPECT_EQ(
      manifest_refusal(with("  rows: M", "  rows: scratch")),
      "my.yaml:6: arguments: rows is scratch, and the key scratch, with its bytes, is missing");
  EXPECT_EQ(manifest_refusal(kManifest + "scratch: {bytes: 4 * M, type: float}\n"),
            "my.yaml:26: scratch: type is 'float'; it must be one of fp16, bf16, fp32, fp8, bf8, "
            "int8, int32");
}

class KernelFile : public testing::Test {
 protected:
  KernelFile() : folder_(TemporaryFolder::create("hone-test-").value()) {}
  std::string write(const std::string& name, const std::string& text) const {
    EXPECT_TRUE(write_file_atomically(folder_.path() / name, text));
    return (folder_.path() / name).string();
  }
  std::string manifest_refusal(const std::string& path, const std::string& function) const {
    const auto parameters = kernel_parameters("python3", path, function);
    EXPECT_FALSE(parameters);
    if (parameters) return "";
    EXPECT_EQ(parameters.error().kind, ErrorKind::kInput);
    return parameters.error().message.substr(folder_.path().string().size() + 1);
  }

 private:
  TemporaryFolder folder_;
};

const std::string kPython = R"(import triton
import triton.language as tl

@triton.jit
def product(a, b, c, rows,  # of C
            stride_a, EVEN_K: tl.constexpr, ACTIVATION: "tl.constexpr", SUMS: tl.constexpr,
            ALPHA: tl.constexpr, NOTHING, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr,
            MORE: tl.constexpr = 1):
    pass

def other(): pass
)";

TEST_F(KernelFile, GivesTheParametersOfTheFunction) {
  const auto parameters = kernel_parameters("python3", write("my.py", kPython), "product");
  ASSERT_TRUE(parameters) << parameters.error().message;
  ASSERT_EQ(parameters->size(), 13u);
  EXPECT_EQ(parameters->at(3), (KernelParameter{"rows", false, false}));
  EXPECT_EQ(parameters->at(6), (KernelParameter{"ACTIVATION", true, false}));
  EXPECT_EQ(parameters->at(12), (KernelParameter{"MORE", true, true}));
  const Status fits = check_parameters(kernel(), *parameters);
  EXPECT_TRUE(fits) << fits.error().message;
}

TEST_F(KernelFile, AManifestThatDoesNotFitTheFunctionIsRefused) {
  const auto parameters = kernel_parameters("python3", write("my.py", kPython), "product").value();
  const auto check = [&](const std::string& manifest) {
    const Status fits = check_parameters(kernel(manifest), parameters);
    EXPECT_FALSE(fits);
    return fits ? "" : fits.error().message;
  };
  EXPECT_THAT(check(with("  rows: M", "  row: M")),
              HasSubstr("my.yaml:6: arguments: product has no parameter 'row' (did you mean "
                        "'rows'?); it has a, b, c, rows, stride_a"));
  EXPECT_EQ(check(with("  rows: M\n", "")),
            "my.yaml:1: kernel: the parameter rows of product is given nowhere; it belongs to "
            "arguments");
  EXPECT_EQ(check(with("  EVEN_K: K % BLOCK_K == 0\n", "")),
            "my.yaml:1: kernel: the parameter EVEN_K of product is given nowhere; it belongs to "
            "constants or knobs");
  EXPECT_EQ(check(with("  stride_a: A.stride(0)\n", "  stride_a: A.stride(0)\n  EVEN_K: 1\n")),
            "my.yaml:8: arguments: EVEN_K is a tl.constexpr; it belongs to constants or knobs");
  EXPECT_EQ(check(with("  NOTHING: null\n", "  NOTHING: null\n  rows: 1\n")),
            "my.yaml:14: constants: rows is given in line 6 too");
  EXPECT_EQ(
      check(kManifest.substr(0, kManifest.find("constraints:")) +
            "  num_wraps: [4]\ndefault: {BLOCK_M: 32, BLOCK_K: 16, num_warps: 4, "
            "waves_per_eu: 0, num_wraps: 4}\n"),
      "my.yaml:20: knobs: num_wraps changes nothing: it is no parameter of product, no option "
      "of the compiler and in no argument, constant, grid or scratch (did you mean "
      "'num_warps'?)");
}

TEST_F(KernelFile, IsReadByPythonAndNotRun) {
  const std::string path = write("my.py", kPython + "raise SystemExit('it was run')\n");
  EXPECT_TRUE(kernel_parameters("python3", path, "product"));
  EXPECT_EQ(manifest_refusal(path, "prodct"),
            "my.py:1: there is no function 'prodct' (did you mean 'product'?)");
  EXPECT_EQ(manifest_refusal(path, "other"), "my.py:11: 'other' is no @triton.jit function");
  EXPECT_THAT(manifest_refusal(write("cut.py", "def product(a, b:\n"), "product"),
              HasSubstr("cut.py:1: "));
  write("helper.py", "");
  EXPECT_EQ(manifest_refusal(write("two.py", "import os\nfrom helper import tile\n" + kPython),
                             "product"),
            "two.py:2: imports 'helper' from its own folder; a kernel is one file, since its "
            "content is what results are kept by");
}

}  // namespace
}  // namespace hone::triton
