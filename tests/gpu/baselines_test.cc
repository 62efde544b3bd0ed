// cuBLASLt over the candidates' own buffers, verified as they are.
#include <gmock/gmock.h>

#include "device/cpu/kind.h"
#include "device/cuda/cublaslt.h"
#include "device/cuda/kind.h"
#include "measure/runner.h"
#include "tests/gpu/problem.h"

namespace hone::measure {
namespace {

using problem::ElementType;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using namespace hone::test;

// C[m,n] = A[m,k] B[k,n], or B stored n x k.
problem::Dispatch product(std::int64_t batches, std::int64_t m, std::int64_t n, std::int64_t k,
                          ElementType input, bool transposed_b) {
  using namespace problem;
  const TensorType a{input, {batches, m, k}},
      b = transposed_b ? TensorType{input, {batches, n, k}} : TensorType{input, {batches, k, n}},
      c{ElementType::kF32, {batches, m, n}};
  const auto bytes = [](const TensorType& type) {
    return element_count(type) * byte_size(type.element);
  };
  Dispatch dispatch;
  dispatch.name = fmt::format("product_{}x{}x{}x{}_{}{}", batches, m, n, k, name_of(input),
                              transposed_b ? "_tb" : "");
  dispatch.root = {
      .kind = OperationKind::kBatchMatmul,
      .name = "linalg.batch_matmul",
      .loops = {{false, batches, LoopRole::kBatch},
                {false, m, LoopRole::kM},
                {false, n, LoopRole::kN},
                {true, k, LoopRole::kK}},
      .operands = {{a, {0, 1, 3}, false},
                   {b, transposed_b ? std::vector{0, 2, 3} : std::vector{0, 3, 2}, false},
                   {c, {0, 1, 2}, true}}};
  dispatch.root_operations = 1;
  dispatch.fused = {"fill"};
  dispatch.bindings = {{Access::kReadOnly, BindingUse::kRootInput, a, bytes(a)},
                       {Access::kReadOnly, BindingUse::kRootInput, b, bytes(b)},
                       {Access::kWriteOnly, BindingUse::kOutput, c, bytes(c)}};
  return dispatch;
}

class GpuBaselinesTest : public testing::Test {
 protected:
  // Every algorithm's kernel, found right.
  std::vector<LibraryBaseline> right_baselines(const ProblemRequest& request) {
    const auto ready = runner_.set_problem(request);
    EXPECT_TRUE(ready) << ready.error().message;
    const auto baselines = runner_.load_baselines();
    EXPECT_TRUE(baselines) << baselines.error().message;
    if (!baselines) return {};
    for (const LibraryBaseline& baseline : *baselines) {
      const auto verification = runner_.verify(baseline.handle);
      EXPECT_TRUE(verification) << baseline.algorithm << ": " << verification.error().message;
      if (verification) {
        EXPECT_TRUE(verification->right) << baseline.algorithm << ": " << verification->message;
      }
    }
    return *baselines;
  }

  static Libraries libraries() {
    Libraries libraries;
    libraries.push_back(device::cuda::cublaslt());
    return libraries;
  }

  Runner runner_{{device::cpu::kind(), device::cuda::kind()}, libraries()};
};

TEST_F(GpuBaselinesTest, EveryAlgorithmIsRightInEveryTypeAndLayout) {
  for (const ElementType type : {ElementType::kF16, ElementType::kBF16, ElementType::kF32})
    for (const bool transposed_b : {false, true})
      for (const std::int64_t batches : {1, 3}) {
        const problem::Dispatch dispatch = product(batches, 256, 384, 128, type, transposed_b);
        const auto baselines = right_baselines(on_gpu(dispatch));
        EXPECT_THAT(baselines, Not(IsEmpty())) << dispatch.name;
        fmt::print("{}: {} algorithms\n", dispatch.name, baselines.size());
      }
}

TEST_F(GpuBaselinesTest, ALongSumIsExactInF32) {
  for (const ElementType type : {ElementType::kF16, ElementType::kF32})
    EXPECT_THAT(right_baselines(on_gpu(product(1, 128, 128, 16384, type, false))), Not(IsEmpty()));
}

// What IREE makes of this matmul rounds its f32 sums to f16 at the end; so does the library.
TEST_F(GpuBaselinesTest, AnOutputOfF16IsNarrowedOnce) {
  problem::Dispatch dispatch = product(1, 128, 256, 64, ElementType::kF16, false);
  ProblemRequest exact = on_gpu(dispatch);
  ASSERT_TRUE(runner_.set_problem(exact));
  const int handle = runner_.load_baselines()->front().handle;
  ASSERT_TRUE(runner_.verify(handle)->right);
  const Outputs wide = runner_.outputs().value();

  dispatch.fused = {"fill", "elementwise(arith.truncf)"};
  dispatch.bindings[2].type.element = ElementType::kF16;
  dispatch.bindings[2].bytes /= 2;
  ProblemRequest narrow = on_gpu(dispatch);
  narrow.expected = {"", "", std::string(128 * 256 * 2, '\0')};
  ASSERT_TRUE(runner_.set_problem(narrow));
  const auto baselines = runner_.load_baselines();
  ASSERT_TRUE(baselines) << baselines.error().message;
  const auto verification = runner_.verify(baselines->front().handle);
  ASSERT_TRUE(verification) << verification.error().message;
  // Zeros were given as expected; the sizes alone say that the output was of f16.
  EXPECT_EQ(runner_.outputs().value().bytes.front().size(), wide.bytes.front().size() / 2);
  EXPECT_FALSE(verification->right);
}

TEST_F(GpuBaselinesTest, IsMeasuredInterleavedWithTheCompilersCode) {
  ASSERT_TRUE(runner_.set_problem(on_gpu(matmul())));
  const auto baselines = runner_.load_baselines();
  ASSERT_TRUE(baselines) << baselines.error().message;
  EXPECT_THAT(baselines->front().library, HasSubstr("cuBLASLt 1"));
  EXPECT_THAT(baselines->front().algorithm, HasSubstr("algorithm "));
  const int iree = runner_.load(iree_matmul()).value();
  MeasureRequest request{.handles = {}, .sentinel = iree, .protocol = {}, .best = {}};
  for (const LibraryBaseline& baseline : *baselines) request.handles.push_back(baseline.handle);
  request.protocol.max_seconds = 0.1;
  request.other_memory = true;
  const auto result = runner_.measure(request);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->handles.size(), baselines->size() + 1);
  for (std::size_t i = 0; i < result->handles.size(); ++i)
    fmt::print("{}: {:.3f} us in {} samples of {} launches\n",
               i < baselines->size() ? (*baselines)[i].algorithm : "IREE",
               1e6 * result->handles[i].seconds.back(), result->handles[i].seconds.size(),
               result->handles[i].launches_per_sample);
  EXPECT_GT(result->busy_seconds, 0);
  EXPECT_LT(result->busy_seconds, result->seconds);
}

TEST_F(GpuBaselinesTest, AFusedDispatchHasNone) {
  problem::Dispatch dispatch = matmul();
  dispatch.fused = {"fill", "elementwise(math.erf)"};
  ProblemRequest request = on_gpu(dispatch);
  request.expected = {"", "", std::string(131072, '\0')};
  ASSERT_TRUE(runner_.set_problem(request));
  const auto baselines = runner_.load_baselines();
  ASSERT_FALSE(baselines);
  EXPECT_THAT(baselines.error().message, HasSubstr("fused with fill, elementwise(math.erf)"));
}

}  // namespace
}  // namespace hone::measure
