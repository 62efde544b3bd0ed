// The real compile workers: Python processes with the Triton of .venv. No GPU is needed.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/file.h"
#include "provider/triton/gemm.h"
#include "provider/triton/gemm_device.h"
#include "provider/triton/triton_provider.h"
#include "provider/triton/user_kernel.h"
#include "tests/provider/triton/gemms.h"
#include "worker/persistent_pool.h"

namespace hone::triton {

// What a compile gave: one code object for each kernel.
struct Compiled {
  problem::Launch launch;
  std::string code;
  nlohmann::json configured;
};

class CompileWorkers {
 public:
  explicit CompileWorkers(int workers, worker::JobLimits limits = {})
      : folder_(TemporaryFolder::create("hone-test-").value()) {
    const auto installed = find_installation(HONE_SOURCE_DIR "/.venv");
    EXPECT_TRUE(installed) << installed.error().message;
    const auto script = write_sources(folder_.path() / "triton");
    EXPECT_TRUE(script) << script.error().message;
    worker::PersistentPoolOptions options;
    options.command = {HONE_BINARY, "worker", "exec"};
    std::ranges::copy(worker_command(*installed, *script), std::back_inserter(options.command));
    options.environment = {{"TRITON_CACHE_DIR", (folder_.path() / "cache").string()},
                           {"TRITON_DEFAULT_FP_FUSION", "1"}};
    options.workers = workers;
    options.limits = limits;
    options.temporary = folder_.path();
    pool_ = std::move(*worker::PersistentPool::start(options));
  }

  worker::PersistentPool& pool() { return *pool_; }

  // Hands in a candidate, or without knobs the default. `target`: "sm_90".
  void submit(worker::JobId id, const problem::Dispatch& dispatch, const std::string& target,
              const std::map<std::string, std::int64_t>& knobs = {}) {
    const std::string key = problem::fingerprint(dispatch) + target;
    const auto device = gemm_device(target).value();
    const auto prepared =
        pool_->prepare(key, {"prepare", {{"flags", worker_flags(device)}}, {dispatch.source}});
    ASSERT_TRUE(prepared) << prepared.error().message;
    ASSERT_TRUE(*prepared) << prepared->error().message;
    nlohmann::json body = nlohmann::json::object();
    if (!knobs.empty()) body["knobs"] = knobs;
    ASSERT_TRUE(pool_->submit(key, id, {"compile", body, {}}));
  }

  // What became of all that was handed in.
  std::map<worker::JobId, tl::expected<Compiled, provider::Failure>> all() {
    std::map<worker::JobId, tl::expected<Compiled, provider::Failure>> outcomes;
    while (true) {
      auto done = pool_->next_finished();
      EXPECT_TRUE(done) << done.error().message;
      if (!done || !*done) return outcomes;
      outcomes.emplace((*done)->id, compiled(std::move((*done)->outcome)));
    }
  }

  tl::expected<Compiled, provider::Failure> one(
      const problem::Dispatch& dispatch, const std::string& target,
      const std::map<std::string, std::int64_t>& knobs = {}) {
    submit(0, dispatch, target, knobs);
    return std::move(all().at(0));
  }

 private:
  static tl::expected<Compiled, provider::Failure> compiled(worker::Outcome outcome) {
    if (!outcome) return tl::unexpected(std::move(outcome).error());
    return Compiled{outcome->body.at("launch").get<problem::Launch>(), outcome->blobs.at(0),
                    nlohmann::json::parse(outcome->body.at("configured").get<std::string>())};
  }

  TemporaryFolder folder_;
  std::unique_ptr<worker::PersistentPool> pool_;
};

// Those that most tests share; they are ended with the program's tests.
CompileWorkers& shared_workers();

}  // namespace hone::triton
