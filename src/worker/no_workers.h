// The pool of a machine without a compiler.
#pragma once

#include <string>

#include "worker/worker_pool.h"

namespace hone::worker {

// Refuses every job with an environment error: whoever asks for one has not found it in the store.
class NoWorkers final : public WorkerPool {
 public:
  Result<Outcome> once(const Message& message) override { return refusal(message); }
  Result<Outcome> prepare(const std::string& /*key*/, const Message& message) override {
    return refusal(message);
  }
  Status release(const std::string& /*key*/) override { return {}; }
  Status submit(const std::string& /*key*/, JobId /*id*/, const Message& message) override {
    return refusal(message);
  }
  Result<std::optional<Finished>> next_finished(double /*seconds*/) override {
    return std::optional<Finished>();
  }
  std::size_t outstanding() const override { return 0; }
  Status cancel(const std::string& /*key*/) override { return {}; }

 private:
  static tl::unexpected<Error> refusal(const Message& message) {
    return environment_error("no compiler runs here, and '{}' needs one", message.kind);
  }
};

}  // namespace hone::worker
