// A session of the tuner on fakes at its seams: what is common to the tests of whole sessions.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <regex>
#include <string>

#include "tests/device/places.h"
#include "tests/tune/silent_observer.h"
#include "tests/tune_fake/fake_compiler.h"
#include "tests/tune_fake/fake_runner.h"
#include "tune/tuning_run.h"

namespace hone::tune {

// What a tuner brings of its own; store, provider and options are the session's.
struct FakeTools {
  worker::WorkerPool& pool;
  std::unique_ptr<worker::RunnerTransport> runner;
  Observer& observer;
  std::chrono::milliseconds lease_time = trial::kLeaseTime;
  Clock clock = monotonic_seconds;
  // Whose kernels may take the place of the compiler's, and where they compile; may be none.
  const provider::Provider* replacing = nullptr;
  worker::WorkerPool* replacing_pool = nullptr;
  std::string command = {};
};

inline Result<TuningResult> run_session(const Options& options, store::Store& store,
                                        const provider::ProgramProvider& provider,
                                        FakeTools tools) {
  trial::CompileService compiler(tools.pool);
  trial::RunnerService runner(std::move(tools.runner));
  HONE_ASSIGN(trial::LeaseKeeper leases, trial::LeaseKeeper::start(store, -1, tools.lease_time));
  Context context{options, provider, compiler, runner, store, tools.observer};
  context.programs = &provider;
  context.leases = &leases;
  if (tools.replacing != nullptr) {
    compiler.add_replacing(std::string(tools.replacing->name()), *tools.replacing_pool, {});
    context.replacing = {tools.replacing};
  }
  context.clock = std::move(tools.clock);
  store::BuildRow build;
  build.compiler = "fake";
  build.flags = "[]";
  build.target = "{}";
  HONE_ASSIGN(context.baseline.build, store.intern(build));
  store::DeviceRow device;
  device.name = "fake";
  device.protocol = "{}";
  HONE_ASSIGN(context.device, store.intern(device));
  store::Run run;
  run.command = tools.command;
  run.task = std::regex_replace(tools.command, std::regex(R"( --budget \S+)"), "");
  return tune_program(context, run, {problem::SizeSet()});
}

// In memory where there is such a file system: a store waits for its disk at the end of each
// transaction, which in these tests takes longer than all else.
inline TemporaryFolder quick_folder() {
  const std::filesystem::path memory = "/dev/shm";
  const bool there = ::access(memory.c_str(), W_OK) == 0;
  return std::move(
      TemporaryFolder::create("hone-fake-", there ? memory : std::filesystem::path()).value());
}

class FakeSession : public testing::Test {
 protected:
  void SetUp() override {
    options_.input = (folder_.path() / "program.mlir").string();
    ASSERT_TRUE(write_file_atomically(options_.input, "a program"));
    options_.flags = {"--target=host"};
    options_.reference_flags = {"--target=baseline"};
    options_.strategy = "random";
    options_.places = {test::core_place()};
    options_.baselines = false;
    options_.budget_seconds = 600;
    options_.out = folder_.path();
  }

  store::Store open_store() const {
    return std::move(store::Store::open(folder_.path() / "a.db", store::Mode::kReadWrite).value());
  }

  TemporaryFolder folder_ = quick_folder();
  test::FakeProvider provider_;
  Options options_;
};

}  // namespace hone::tune
