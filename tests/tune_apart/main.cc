// The test program serves as its own runner.
#include <gtest/gtest.h>

#include "base/process.h"
#include "measure/runner_jobs.h"
#include "tests/tune_apart/faulty_device.h"
#include "worker/runner_process.h"

namespace {

using namespace hone;

int serve() {
  measure::Runner runner(device::cpu::open_device,
                         [](int index) -> Result<std::unique_ptr<device::Device>> {
                           const int core = 0;
                           HONE_ASSIGN(auto cpu, device::cpu::open_device({&core, 1}));
                           return std::make_unique<test::FaultyDevice>(std::move(cpu), index);
                         });
  return worker::serve_runner(
      ChildProcess::kChildSocket,
      [&runner](const worker::Message& message) -> worker::Outcome {
        auto answer = measure::handle(runner, message.kind, message.body, message.blobs);
        if (!answer)
          return tl::unexpected(
              provider::Failure{provider::FailureKind::kLoadError, answer.error().message});
        return worker::Message{"done", std::move(answer->first), std::move(answer->second)};
      },
      [&runner] { return runner.has_lost_its_device(); });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == test::kServeRunner) return serve();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
