// hone's own runner (measure::Runner) in the tuner's process, as `hone worker run` has it in one of
// its own: a device that is lost takes the runner with it.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "measure/runner.h"
#include "worker/runner_process.h"

namespace hone::test {

class OwnRunner final : public worker::RunnerTransport {
 public:
  explicit OwnRunner(std::vector<device::DeviceKind> kinds) : kinds_(std::move(kinds)) {}

  Status start() override {
    if (runner_) return {};
    runner_.emplace(kinds_);
    ++generation_;
    return {};
  }
  Status ensure_ready() override { return start(); }
  std::uint64_t generation() const override { return generation_; }

  Result<worker::Outcome> call(const worker::Message& message, double) override {
    HONE_TRY(start());
    worker::Outcome answer = measure::handle(*runner_, message);
    if (!answer && runner_->has_lost_its_device()) {
      runner_.reset();
      answer.error().kind = provider::FailureKind::kKernelCrash;
    }
    return answer;
  }

 private:
  std::vector<device::DeviceKind> kinds_;
  std::optional<measure::Runner> runner_;
  std::uint64_t generation_ = 0;
};

}  // namespace hone::test
