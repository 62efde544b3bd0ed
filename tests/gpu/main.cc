// Tests that need a GPU. The program serves as its own runner process.
#include <gtest/gtest.h>

#include "base/process.h"
#include "device/cpu/device.h"
#include "device/cuda/leased_devices.h"
#include "measure/runner_jobs.h"
#include "tests/gpu/problem.h"
#include "worker/runner_process.h"

namespace {

using namespace hone;

int serve() {
  device::cuda::LeasedDevices gpus;
  measure::Runner runner(device::cpu::open_device, [&gpus](int index) { return gpus.open(index); });
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
