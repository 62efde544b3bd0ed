// A compile pool of this test program's own workers.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "tests/worker/worker_test.h"
#include "worker/compile_pool.h"

namespace hone::worker {

class CompilePoolTest : public WorkerTest {
 protected:
  CompilePoolOptions options() const {
    CompilePoolOptions options;
    options.command = serving_command(kServeCompile);
    options.jobs = 2;
    options.temporary = folder();
    return options;
  }

  void TearDown() override {
    pool_.reset();
    WorkerTest::TearDown();
  }

  CompilePool& start(const CompilePoolOptions& options) {
    auto pool = CompilePool::start(options);
    EXPECT_TRUE(pool) << pool.error().message;
    pool_ = std::move(*pool);
    return *pool_;
  }
  CompilePool& start() { return start(options()); }
  CompilePool& start_prepared(const CompilePoolOptions& options) {
    CompilePool& pool = start(options);
    const auto prepared = pool.prepare("d", {"echo", "prepared", {}});
    EXPECT_TRUE(prepared && *prepared);
    return pool;
  }

  // The outcome of a job that the pool itself has no trouble with.
  static Outcome once(CompilePool& pool, const Message& message) {
    auto outcome = pool.once(message);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? *outcome : Outcome(tl::unexpected(provider::Failure{}));
  }
  static std::map<JobId, Outcome> finish_all(CompilePool& pool) {
    std::map<JobId, Outcome> outcomes;
    while (true) {
      auto finished = pool.next_finished();
      EXPECT_TRUE(finished) << finished.error().message;
      if (!finished || !*finished) return outcomes;
      EXPECT_TRUE(outcomes.emplace((*finished)->id, (*finished)->outcome).second);
    }
  }
  static Outcome run(CompilePool& pool, const Message& message) {
    EXPECT_TRUE(pool.submit("d", 7, message));
    const auto outcomes = finish_all(pool);
    EXPECT_EQ(outcomes.size(), 1u);
    return outcomes.at(7);
  }
  // What a candidate finds prepared, or why it finds nothing.
  static std::string state(CompilePool& pool) {
    const Outcome outcome = run(pool, {"state", nullptr, {}});
    return outcome ? outcome->body.get<std::string>() : outcome.error().message;
  }

 private:
  std::unique_ptr<CompilePool> pool_;
};

}  // namespace hone::worker
