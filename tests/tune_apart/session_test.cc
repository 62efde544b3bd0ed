// A whole session as on GPUs: compiling runs ahead, candidates are shared out over devices whose
// memory is their own, and what a candidate does to one costs that candidate alone.
#include "tune/session.h"

#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "device/cpu/target.h"
#include "provider/iree/iree_provider.h"
#include "tests/tune_apart/faulty_device.h"
#include "worker/compile_pool.h"

namespace hone::tune {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

class Silent final : public Observer {
 public:
  void progress(const Progress&) override {}
  void note(const std::string& line) override { notes += line + "\n"; }
  std::string notes;
};

class ApartSession : public testing::Test {
 protected:
  void SetUp() override {
    const bool named = std::getenv("HONE_IREE") != nullptr;
    auto installation = iree::find_installation(named ? "" : HONE_SOURCE_DIR "/.venv");
    ASSERT_TRUE(installation) << installation.error().message;
    installation_ = *installation;
    worker::CompilePoolOptions pool;
    pool.command = {HONE_BINARY, "worker", "compile", "--iree",
                    installation_.compiler_library.string()};
    pool.jobs = 2;
    auto started = worker::CompilePool::start(pool);
    ASSERT_TRUE(started) << started.error().message;
    pool_ = std::move(*started);
    options_.input = HONE_SOURCE_DIR "/examples/matmul_512.mlir";
    options_.flags = {"--iree-hal-target-device=local",
                      "--iree-hal-local-target-device-backends=llvm-cpu",
                      "--iree-llvmcpu-target-cpu=host"};
    options_.reference_flags = {"--iree-hal-target-device=local",
                                "--iree-hal-local-target-device-backends=llvm-cpu",
                                "--iree-llvmcpu-target-cpu=x86-64"};
    options_.strategy = "random";
    options_.cores = {0};
    options_.cuda = 0;
    options_.compile_ahead = 4;
    options_.prove = false;
    options_.budget_seconds = 40;
    options_.out = folder_.path();
  }

  Result<SessionResult> run() {
    const auto runner = [this] {
      worker::RunnerOptions options;
      options.command = {std::filesystem::read_symlink("/proc/self/exe").string(),
                         std::string(test::kServeRunner)};
      if (!faults_.empty()) options.environment = {{test::kFaultsFile, faults_}};
      return RunnerService(worker::RunnerProcess(options), kernel_seconds_);
    };
    RunnerService first = runner();
    std::vector<RunnerService> others;
    for (std::size_t i = 0; i < options_.more_gpus.size(); ++i) others.push_back(runner());
    const iree::IreeProvider provider(installation_, device::cpu::detect_target().value());
    CompileService compiler(*pool_);
    LeaseKeeper leases = std::move(*LeaseKeeper::start(store_, -1));
    Context context{options_, provider, compiler, first, store_, observer_};
    for (RunnerService& each : others) context.more_runners.push_back(&each);
    context.leases = &leases;
    store::Build build;
    build.compiler = "IREE";
    build.flags = "[]";
    build.target = "{}";
    context.build = store_.intern(build).value();
    store::Device device;
    device.name = "apart";
    device.protocol = "{}";
    context.device = store_.intern(device).value();
    return Session(context, store::Run{}).run();
  }

  store::DispatchRow row() { return store_.dispatch_rows().value().at(0); }

  TemporaryFolder folder_ = std::move(TemporaryFolder::create("hone-session-").value());
  store::Store store_ =
      std::move(store::Store::open(folder_.path() / "a.db", store::Mode::kReadWrite).value());
  iree::Installation installation_;
  std::unique_ptr<worker::CompilePool> pool_;
  Options options_;
  Silent observer_;
  std::string faults_;
  double kernel_seconds_ = 60;
};

TEST_F(ApartSession, SharesCandidatesOutOverDevices) {
  options_.more_gpus = {1};
  options_.candidates = 24;
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->tuned.size(), 1u);
  std::set<int> gpus;
  std::size_t measured = 0;
  const std::vector<store::CandidateRow> candidates = store_.candidate_rows().value();
  for (const store::CandidateRow& candidate : candidates) {
    const auto details = store_.details(candidate.candidate);
    ASSERT_TRUE(details) << details.error().message;
    for (const store::Measurement& measurement : details->measurements) {
      if (measurement.phase != store::Phase::kSearch) continue;
      ++measured;
      const auto machine = nlohmann::json::parse(measurement.machine);
      for (const auto& gpu : machine.at("before").at("gpus")) gpus.insert(gpu.at("gpu").get<int>());
    }
  }
  EXPECT_GE(measured, 20u);
  EXPECT_THAT(gpus, UnorderedElementsAre(0, 1));
}

TEST_F(ApartSession, WhatCandidatesDoToADeviceIsARowAndNoMore) {
  faults_ = (folder_.path() / "faults").string();
  kernel_seconds_ = 4;
  options_.candidates = 16;
  const auto result = run();
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->tuned.size(), 1u);
  std::map<std::string, std::string> words;  // by kind
  const std::vector<store::CandidateRow> candidates = store_.candidate_rows().value();
  for (const store::CandidateRow& candidate : candidates) {
    const auto details = store_.details(candidate.candidate);
    ASSERT_TRUE(details) << details.error().message;
    for (const store::Failure& failure : details->failures)
      words[failure.kind] += failure.message + "\n";
  }
  const store::DispatchRow dispatch = row();
  EXPECT_EQ(dispatch.wrong, 1);
  EXPECT_THAT(words["load error"], HasSubstr("out of memory"));
  EXPECT_THAT(words["kernel timeout"], HasSubstr("no answer after 4 s"));
  EXPECT_THAT(words["kernel crash"], HasSubstr("an illegal memory access was encountered"));
  EXPECT_THAT(words["kernel crash"], HasSubstr("SIGKILL"));
}

TEST_F(ApartSession, ASecondRunOnTheStoreMeasuresNothingAgain) {
  options_.candidates = 6;
  options_.budget_seconds = 20;
  ASSERT_TRUE(run());
  const auto first = store_.candidate_rows().value().size();
  options_.more_gpus = {1};
  const auto again = run();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(store_.candidate_rows().value().size(), first);
}

}  // namespace
}  // namespace hone::tune
