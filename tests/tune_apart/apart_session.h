// Sessions as on GPUs, on devices whose memory is their own (faulty_device.h).
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "base/file.h"
#include "device/cpu/target.h"
#include "provider/iree/iree_provider.h"
#include "tests/device/places.h"
#include "tests/tune/silent_observer.h"
#include "tests/tune_apart/faulty_device.h"
#include "tune/tuning_run.h"
#include "worker/compile_pool.h"

namespace hone::tune {

// Small, so that what a session does takes its time and not what its kernels compute.
inline constexpr std::string_view kProduct = R"(
func.func @product(%a: tensor<128x128xf32>, %b: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x128xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x128xf32>) -> tensor<128x128xf32>
  %sum = linalg.matmul ins(%a, %b : tensor<128x128xf32>, tensor<128x128xf32>)
                       outs(%fill : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %sum : tensor<128x128xf32>
})";

class ApartSession : public testing::Test {
 protected:
  void SetUp() override {
    const bool named = std::getenv("HONE_IREE") != nullptr;
    auto installation = iree::find_installation(named ? "" : HONE_SOURCE_DIR "/.venv");
    ASSERT_TRUE(installation) << installation.error().message;
    installation_ = *installation;
    options_.input = (folder_.path() / "product.mlir").string();
    ASSERT_TRUE(write_file_atomically(options_.input, kProduct));
    options_.flags = {"--iree-hal-target-device=local",
                      "--iree-hal-local-target-device-backends=llvm-cpu",
                      "--iree-llvmcpu-target-cpu=host"};
    options_.reference_flags = {"--iree-hal-target-device=local",
                                "--iree-hal-local-target-device-backends=llvm-cpu",
                                "--iree-llvmcpu-target-cpu=x86-64"};
    options_.strategy = "random";
    options_.places = {test::gpu_place(0, "apart")};
    options_.compile_ahead = 4;
    options_.prove = false;
    options_.budget_seconds = 40;
    options_.out = folder_.path();
  }

  // What `work` gives of a context on the store, with compile workers and runners of its own.
  template <class Work>
  auto in_context(const Work& work) -> decltype(work(std::declval<Context&>())) {
    worker::CompilePoolOptions workers;
    workers.command = {HONE_BINARY,
                       "worker",
                       "compile",
                       "--provider",
                       "iree",
                       "--installation",
                       installation_.compiler_library.string()};
    workers.jobs = 2;
    workers.stop_fd = stop_fd_;
    HONE_ASSIGN(const auto pool, worker::CompilePool::start(workers));
    const auto runner = [this] {
      worker::RunnerOptions options;
      options.command = {std::filesystem::read_symlink("/proc/self/exe").string(),
                         std::string(test::kServeRunner)};
      options.stop_fd = stop_fd_;
      if (has_library_) options.environment = {{test::kLibrary, "1"}};
      if (!faults_.empty()) options.environment = {{test::kFaultsFile, faults_}};
      if (struck_at_ >= 0) {
        options.environment.push_back({test::kStruckFile, struck_file().string()});
        options.environment.push_back({test::kStruckAt, std::to_string(struck_at_)});
        options.environment.push_back({test::kStrikes, std::to_string(strikes_)});
      }
      return trial::RunnerService(worker::RunnerProcess(options), kernel_seconds_);
    };
    trial::RunnerService first = runner();
    std::vector<trial::RunnerService> others;
    for (std::size_t i = 0; i + 1 < options_.places.size(); ++i) others.push_back(runner());
    const iree::CpuIreeProvider provider(installation_, device::cpu::detect_target().value());
    trial::CompileService compiler(*pool);
    trial::LeaseKeeper leases = std::move(*trial::LeaseKeeper::start(store_, stop_fd_));
    Context context{options_, provider, compiler, first, store_, observer_};
    for (trial::RunnerService& each : others) context.more_runners.push_back(&each);
    context.programs = &provider;
    context.stop_fd = stop_fd_;
    context.leases = &leases;
    store::Build build;
    build.compiler = "IREE";
    build.flags = "[]";
    build.target = "{}";
    context.baseline.build = store_.intern(build).value();
    store::Device device;
    device.name = "apart";
    device.protocol = "{}";
    context.device = store_.intern(device).value();
    return work(context);
  }

  Result<ProgramTuningResult> run() {
    HONE_ASSIGN(TuningResult result, in_context([](Context& context) {
                  return tune_program(context, store::Run{}, {problem::SizeSet()});
                }));
    return std::move(result.at_sizes.front());
  }

  std::filesystem::path struck_file() const { return folder_.path() / "struck"; }

  store::DispatchRow row() { return store_.dispatch_rows().value().at(0); }

  // The faults are drawn for its numbers of launches.
  const std::string long_product_ = HONE_SOURCE_DIR "/examples/matmul_512.mlir";
  TemporaryFolder folder_ = std::move(TemporaryFolder::create("hone-session-").value());
  store::Store store_ =
      std::move(store::Store::open(folder_.path() / "a.db", store::Mode::kReadWrite).value());
  iree::Installation installation_;
  Options options_;
  SilentObserver observer_;
  std::string faults_;
  bool has_library_ = false;  // test::MadeUpLibrary is registered with the runner
  int struck_at_ = -1;        // see test::kStruckFile; negative: nothing is
  int strikes_ = 1;
  double kernel_seconds_ = 60;
  int stop_fd_ = -1;
};

}  // namespace hone::tune
