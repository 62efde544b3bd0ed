// The test program serves as its own compile workers and as its own runner, as `hone worker` does.
#include <gtest/gtest.h>

#include "device/cpu/kind.h"
#include "tests/made_up_provider/compile_worker.h"
#include "tests/measure/serve_runner.h"
#include "worker/fork_server.h"

namespace {

using namespace hone;

int serve_compiles() {
  const auto worker = plain_c::open_compile_worker("cc");
  if (!worker) return 3;
  const auto answer = [&](worker::Message job) {
    return provider::answer(**worker, std::move(job));
  };
  return worker::serve_zygote(ChildProcess::kChildSocket,
                              {.prepare = answer, .run = answer, .once = answer});
}

int serve_runs() {
  measure::Runner runner({device::cpu::kind()});
  return test::serve_runner(runner);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view serves = argc > 1 ? argv[1] : "";
  if (serves == "compile") return serve_compiles();
  if (serves == "run") return serve_runs();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
