// What is registered with a runner is measured beside the candidates: a library that is here, and
// one that nobody has heard of.
#include <gmock/gmock.h>

#include "measure/runner.h"
#include "provider/library/host_libraries.h"
#include "tests/device/made_up_library.h"
#include "tests/measure/runner_problem.h"

namespace hone::measure {
namespace {

using namespace hone::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

template <class... Library>
Libraries libraries_of(std::unique_ptr<Library>... library) {
  Libraries libraries;
  (libraries.push_back(std::move(library)), ...);
  return libraries;
}

Protocol for_fifty_milliseconds() {
  Protocol protocol;
  protocol.max_seconds = 0.05;
  return protocol;
}

struct SgemmLibraryCase {
  std::unique_ptr<device::Library> (*library)();
  std::string name, title, install;

  friend void PrintTo(const SgemmLibraryCase& each, std::ostream* out) { *out << each.title; }
};

class SgemmLibraryTest : public testing::TestWithParam<SgemmLibraryCase> {
 protected:
  // Its one kernel; skips where it is not installed.
  void load(const ProblemRequest& request) {
    const auto ready = runner_.set_problem(request);
    ASSERT_TRUE(ready) << ready.error().message;
    const auto baselines = runner_.load_baselines();
    if (!baselines && baselines.error().kind == ErrorKind::kEnvironment) {
      EXPECT_THAT(baselines.error().message, HasSubstr("apt install " + GetParam().install));
      GTEST_SKIP() << baselines.error().message;
    }
    ASSERT_TRUE(baselines) << baselines.error().message;
    ASSERT_EQ(baselines->size(), 1u);
    baseline_ = baselines->front();
    EXPECT_EQ(baseline_.provider, GetParam().name);
    EXPECT_THAT(baseline_.library, StartsWith(GetParam().title + " "));
    EXPECT_THAT(baseline_.algorithm, IsEmpty());
    const auto verification = runner_.verify(baseline_.handle);
    ASSERT_TRUE(verification) << verification.error().message;
    EXPECT_TRUE(verification->right) << verification->message;
  }

  Runner runner_ = cpu_runner(libraries_of(GetParam().library()));
  LibraryBaseline baseline_;
};

TEST_P(SgemmLibraryTest, IsOneMoreHandle) {
  load(problem_request(matmul(48, 32, 64)));
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_THAT(baseline_.note, IsEmpty());
  EXPECT_TRUE(runner_.measure({.handles = {baseline_.handle},
                               .sentinel = {},
                               .protocol = for_fifty_milliseconds(),
                               .best = {}}));
}

// The product of operands that were converted to f32, on buffers of their own: what the dispatch
// itself must give (here zeros, which it does not) is not asked of it.
TEST_P(SgemmLibraryTest, TakesTransposedBatchedAndFusedF16) {
  using namespace problem;
  Dispatch dispatch = matmul(24, 40, 16);
  dispatch.fused = {"fill", "elementwise(math.erf)"};
  for (int i = 0; i < 2; ++i)
    dispatch.root.operands[static_cast<std::size_t>(i)].type.element = ElementType::kF16;
  dispatch.root.operands[1].type.shape = dispatch.bindings[1].type.shape = {40, 16};
  dispatch.root.operands[1].loops = {1, 2};  // B is stored n x k
  dispatch.bindings[0].type.element = dispatch.bindings[1].type.element = ElementType::kF16;
  dispatch.bindings[0].bytes /= 2;
  dispatch.bindings[1].bytes /= 2;
  ProblemRequest request = problem_request(dispatch);
  request.expected = {"", "", std::string(24 * 40 * 4, '\0')};
  load(request);
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_THAT(baseline_.note, HasSubstr("f16 operands as f32"));
  EXPECT_THAT(baseline_.note, HasSubstr("without what is fused"));
}

INSTANTIATE_TEST_SUITE_P(All, SgemmLibraryTest,
                         testing::Values(SgemmLibraryCase{library::openblas, "openblas", "OpenBLAS",
                                                          "libopenblas0-pthread"},
                                         SgemmLibraryCase{library::onednn, "onednn", "oneDNN",
                                                          "libdnnl2"}),
                         [](const auto& each) { return each.param.title; });

TEST(LibrariesTest, OfAnotherKindOfDeviceAreNotAsked) {
  Runner runner = cpu_runner(libraries_of(std::make_unique<MadeUpLibrary>("hip")));
  ASSERT_TRUE(runner.set_problem(problem_request(matmul(8, 8, 8))));
  const auto baselines = runner.load_baselines();
  ASSERT_FALSE(baselines);
  EXPECT_EQ(baselines.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(baselines.error().message, HasSubstr("no vendor's library for devices of kind cpu"));
}

TEST(LibrariesTest, TheirKernelsRunOverTheCandidatesBuffers) {
  Runner runner = cpu_runner(libraries_of(std::make_unique<MadeUpLibrary>("cpu")));
  ASSERT_TRUE(runner.set_problem(problem_request(matmul(8, 8, 8))));
  const auto baselines = runner.load_baselines();
  ASSERT_TRUE(baselines) << baselines.error().message;
  ASSERT_EQ(baselines->size(), 2u);
  const LibraryBaseline& first = baselines->front();
  EXPECT_EQ(first.provider, "tango");
  EXPECT_EQ(first.library, "TangoLib 2.7");
  EXPECT_EQ(first.algorithm, "in 1");
  EXPECT_EQ(baselines->back().algorithm, "in 2");
  const int candidate = runner.load(matmul_8()).value();
  MeasureRequest request{
      .handles = {}, .sentinel = candidate, .protocol = for_fifty_milliseconds(), .best = {}};
  request.other_memory = true;
  for (const LibraryBaseline& each : *baselines) {
    const auto verification = runner.verify(each.handle);
    ASSERT_TRUE(verification) << verification.error().message;
    EXPECT_TRUE(verification->right) << verification->message;
    request.handles.push_back(each.handle);
  }
  const auto measured = runner.measure(request);
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->handles.size(), 3u);
  // Asked again, they are other handles; the first ones are gone, and the candidate stays.
  ASSERT_TRUE(runner.load_baselines());
  EXPECT_FALSE(runner.verify(first.handle));
  EXPECT_TRUE(runner.verify(candidate));
}

// One that does not compute this keeps no other from it.
TEST(LibrariesTest, EachIsAskedForItself) {
  Runner runner =
      cpu_runner(libraries_of(std::make_unique<MadeUpLibrary>("cpu"), library::openblas()));
  problem::Dispatch dispatch = matmul(8, 12, 16);
  dispatch.root.operands[1].type.shape = dispatch.bindings[1].type.shape = {12, 16};
  dispatch.root.operands[1].loops = {1, 2};  // B is stored n x k, which the made-up one refuses
  ASSERT_TRUE(runner.set_problem(problem_request(dispatch)));
  const auto baselines = runner.load_baselines();
  if (!baselines) {
    EXPECT_THAT(baselines.error().message, HasSubstr("TangoLib multiplies plain matrices"));
    GTEST_SKIP() << "OpenBLAS is not installed";
  }
  ASSERT_EQ(baselines->size(), 1u);
  EXPECT_EQ(baselines->front().provider, "openblas");
}

}  // namespace
}  // namespace hone::measure
