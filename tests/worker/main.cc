// The test program serves as its own worker processes.
#include <gtest/gtest.h>

#include "base/process.h"
#include "tests/worker/behaviours.h"

int main(int argc, char** argv) {
  using namespace hone::worker;
  const std::string flag = argc > 1 ? argv[1] : "";
  if (flag == kServeCompile)
    return serve_zygote(hone::ChildProcess::kChildSocket, compile_behaviours());
  if (flag == kServeRunner) return serve_runner(hone::ChildProcess::kChildSocket, behave);
  if (flag == kServeTuner) return tuner_main(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
