// What a kernel's file and the compiler may do to a worker costs one candidate.
#include "tests/triton_compiler/compile_workers.h"

namespace hone::triton {
namespace {

using provider::FailureKind;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// `text` is a kernel's file with a function copy(a, b, c).
problem::Dispatch dispatch(const std::string& text) {
  const auto kernel = read_user_kernel("copy.yaml",
                                       "kernel: copy\narguments: {a: A, b: B, c: C}\ngrid: [1]\n"
                                       "knobs: {num_warps: [1, 2, 4]}\ndefault: {num_warps: 4}\n",
                                       "copy.py", text);
  EXPECT_TRUE(kernel) << kernel.error().message;
  return with_kernel(dispatch_of(gemm(16, 16, 16)), *kernel);
}

std::string file(const std::string& at_import, const std::string& body) {
  return "import os\nimport triton\nimport triton.language as tl\n" + at_import +
         "\n\n@triton.jit\ndef copy(a, b, c):\n" + body;
}

const std::string kRight = file("", "    tl.store(c, tl.load(a) + tl.load(b))\n");

TEST(Faults, ACrashCostsOneCandidateAndAnotherWorkerTakesItsPlace) {
  CompileWorkers workers(1);
  workers.submit(1, dispatch(file("os.abort()", "    pass\n")), "sm_90");
  workers.submit(2, dispatch(kRight), "sm_90");
  const auto outcomes = workers.all();
  ASSERT_FALSE(outcomes.at(1));
  EXPECT_EQ(outcomes.at(1).error().kind, FailureKind::kCompileCrash);
  EXPECT_THAT(outcomes.at(1).error().message, StartsWith("SIGABRT"));
  ASSERT_TRUE(outcomes.at(2)) << outcomes.at(2).error().message;
  EXPECT_EQ(outcomes.at(2)->launch.entry, "copy");
  EXPECT_EQ(workers.pool().restarts(), 1);
}

TEST(Faults, AHangIsATimeout) {
  worker::JobLimits limits;
  limits.seconds = 4;
  CompileWorkers workers(1, limits);
  workers.submit(1, dispatch(file("while True: pass", "    pass\n")), "sm_90");
  workers.submit(2, dispatch(file("raise ValueError('not for this machine')", "    pass\n")),
                 "sm_90");
  const auto outcomes = workers.all();
  EXPECT_EQ(outcomes.at(1).error().kind, FailureKind::kCompileTimeout);
  EXPECT_THAT(outcomes.at(1).error().message, StartsWith("no answer after 8 s"));
  EXPECT_EQ(outcomes.at(2).error().kind, FailureKind::kCompileError);
  EXPECT_EQ(outcomes.at(2).error().message, "not for this machine");
}

TEST(Faults, EatingMemoryIsCaught) {
  worker::JobLimits limits;
  limits.memory_bytes = std::uint64_t{1} << 30;
  CompileWorkers workers(1, limits);
  workers.submit(
      1, dispatch(file("held = []\nwhile True: held.append(b'x' * 2**25)", "    pass\n")), "sm_90");
  workers.submit(2, dispatch(kRight), "sm_90");
  const auto outcomes = workers.all();
  EXPECT_EQ(outcomes.at(1).error().kind, FailureKind::kCompileMemory);
  EXPECT_THAT(outcomes.at(1).error().message, StartsWith("more than 1.00 GiB of memory"));
  EXPECT_TRUE(outcomes.at(2)) << outcomes.at(2).error().message;
}

// The file is called by its name, wherever the worker has its copy.
TEST(Faults, WhatPythonOrTritonRefusesIsSaidInTheirWords) {
  CompileWorkers& workers = shared_workers();
  workers.submit(1, dispatch(file("", "    tl.store(c, tl.load(a) +)\n")), "sm_90");
  workers.submit(2, dispatch(file("", "    tl.store(c, tl.load(missing))\n")), "sm_90");
  workers.submit(3, dispatch(file("import numpy_of_no_machine", "    pass\n")), "sm_90");
  workers.submit(4, dispatch("copy = print\n"), "sm_90");
  workers.submit(5, dispatch(kRight), "gfx942");
  const auto outcomes = workers.all();
  for (worker::JobId id = 1; id < 5; ++id) {
    ASSERT_FALSE(outcomes.at(id));
    EXPECT_EQ(outcomes.at(id).error().kind, FailureKind::kCompileError);
  }
  EXPECT_THAT(outcomes.at(1).error().message,
              AllOf(HasSubstr("SyntaxError: invalid syntax"), HasSubstr("copy.py\", line 8")));
  EXPECT_THAT(
      outcomes.at(2).error().message,
      AllOf(StartsWith("triton.compiler.errors.CompilationError: at 2:"),
            HasSubstr("tl.store(c, tl.load(missing))"), HasSubstr("missing is not defined")));
  EXPECT_THAT(outcomes.at(3).error().message,
              HasSubstr("ModuleNotFoundError: No module named 'numpy_of_no_machine'"));
  EXPECT_EQ(outcomes.at(4).error().message, "copy of copy.py is no @triton.jit function");
  EXPECT_TRUE(outcomes.at(5)) << outcomes.at(5).error().message;
}

// Not candidates of each other: a worker that holds one kernel is given the other one anew.
TEST(Faults, KernelsOfOneNameAreNotMixedUp) {
  CompileWorkers& workers = shared_workers();
  const auto other = dispatch(file("", "    tl.store(c, tl.load(a) * tl.load(b))\n"));
  workers.submit(1, dispatch(kRight), "sm_90", {{"num_warps", 1}});
  workers.submit(2, other, "sm_90", {{"num_warps", 1}});
  const auto outcomes = workers.all();
  ASSERT_TRUE(outcomes.at(1) && outcomes.at(2));
  EXPECT_NE(outcomes.at(1)->code, outcomes.at(2)->code);
  EXPECT_EQ(outcomes.at(1)->configured.dump(), R"({"num_warps":1})");
  EXPECT_THAT(outcomes.at(1)->launch.block, testing::ElementsAre(32, 1, 1));
}

}  // namespace
}  // namespace hone::triton
