// Tests that need a GPU. The program serves as its own runner process.
#include <gtest/gtest.h>

#include "device/cpu/kind.h"
#include "device/cuda/kind.h"
#include "tests/gpu/problem.h"
#include "tests/measure/serve_runner.h"

namespace {

using namespace hone;

int serve() {
  measure::Runner runner({device::cpu::kind(), device::cuda::kind()});
  return test::serve_runner(runner);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == test::kServeRunner) return serve();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
