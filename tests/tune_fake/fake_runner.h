// A runner without a process and without a device: every kernel is right, and takes as long as its
// code says, give or take a little, in no time.
#pragma once

#include <algorithm>
#include <functional>
#include <map>

#include "measure/runner.h"
#include "tests/tune_fake/fake_program.h"
#include "worker/runner_process.h"

namespace hone::test {

class FakeRunner final : public worker::RunnerTransport {
 public:
  struct Log {
    std::vector<std::string> jobs;        // kinds, in the order asked for
    std::map<std::string, int> verified;  // by code
  };
  // The number of the job, from 1, that a SIGKILL from outside strikes; 0: none.
  std::size_t killed_at = 0;
  // Of one launch of a code.
  std::function<double(const std::string&)> seconds_of = [](const std::string& code) {
    return fake_seconds(tile_in(code));
  };
  // Whether a code computes something else than a product of so many rows.
  std::function<bool(const std::string& code, std::int64_t rows)> is_wrong;
  // Whether these codes, measured together, take the runner along.
  std::function<bool(const measure::MeasureRequest&, const std::vector<std::string>& codes)>
      crashes = [](const auto&, const auto&) { return false; };
  // Whether a code does not load.
  std::function<bool(const std::string& code)> is_refused;
  bool far = false;   // is_far()
  device::Peak peak;  // of the device; as it is, unknown
  // Told of each job's kind before it is done.
  std::function<void(const std::string&)> before_job;
  explicit FakeRunner(Log& log) : log_(log) {}

  Status start() override {
    if (!lives_) ++generation_;
    lives_ = true;
    return {};
  }
  Status ensure_ready() override { return start(); }
  std::uint64_t generation() const override { return generation_; }
  bool is_far() const override { return far; }

  Result<worker::Outcome> call(const worker::Message& message, double) override {
    HONE_TRY(start());
    if (before_job) before_job(message.kind);
    log_.jobs.push_back(message.kind);
    if (log_.jobs.size() == killed_at) {
      codes_.clear();
      lives_ = false;
      return worker::Outcome(tl::unexpected(
          provider::Failure{provider::FailureKind::kKernelKilled, "killed by SIGKILL"}));
    }
    if (message.kind == "measure" && crashes_in(message.body.get<measure::MeasureRequest>())) {
      codes_.clear();
      lives_ = false;
      return worker::Outcome(
          tl::unexpected(provider::Failure{provider::FailureKind::kKernelCrash, "SIGSEGV"}));
    }
    if (message.kind == "load" && is_refused && is_refused(message.blobs.at(0)))
      return worker::Outcome(
          tl::unexpected(provider::Failure{provider::FailureKind::kLoadError, "no code"}));
    return worker::Outcome(worker::Message{"answer", answer(message), {}});
  }

 private:
  nlohmann::json answer(const worker::Message& message) {
    const std::string& kind = message.kind;
    if (kind == "set_problem") {
      rows_ = message.body.at("dispatch").at("root").at("loops").at(0).at("size");
      return measure::ProblemReady{"exact", 1, ""};
    }
    if (kind == "load") {
      codes_[++handles_] = message.blobs.at(0);
      return {{"handle", handles_}};
    }
    if (kind == "unload") {
      codes_.erase(message.body.at("handle").get<int>());
      return nlohmann::json::object();
    }
    if (kind == "verify") {
      const std::string& code = codes_.at(message.body.at("handle").get<int>());
      ++log_.verified[code];
      measure::Verification verification = right();
      if (is_wrong && is_wrong(code, rows_)) {
        verification.right = false;
        verification.message = "another number";
      }
      return verification;
    }
    if (kind == "repeat") {
      measure::Repeated repeated;
      repeated.compared = message.body.at("launches").get<int>();
      repeated.verification = right();
      return repeated;
    }
    if (kind == "measure") return measured(message.body.get<measure::MeasureRequest>());
    if (kind == "calibrate") {
      measure::Calibration calibration;
      for (int i = 0; i < 60; ++i) {
        calibration.a_seconds.push_back(1e-4 * noise_.next());
        calibration.b_seconds.push_back(1e-4 * noise_.next());
      }
      return calibration;
    }
    if (kind == "peak") return peak;
    return nlohmann::json::object();
  }

  bool crashes_in(const measure::MeasureRequest& request) const {
    std::vector<std::string> codes;
    for (const int handle : request.handles) codes.push_back(codes_.at(handle));
    return crashes(request, codes);
  }

  static measure::Verification right() {
    measure::Verification verification;
    verification.right = true;
    return verification;
  }

  nlohmann::json measured(const measure::MeasureRequest& request) {
    measure::MeasureResult result;
    std::vector<int> handles = request.handles;
    if (request.sentinel) handles.push_back(*request.sentinel);
    for (const int handle : handles) {
      measure::HandleSamples samples;
      samples.handle = handle;
      samples.launches_per_sample = 1;
      samples.warm = true;
      for (std::size_t i = 0; i < request.protocol.min_samples; ++i) {
        samples.seconds.push_back(seconds_of(codes_.at(handle)) * noise_.next());
        samples.rounds.push_back(static_cast<int>(i));
      }
      result.handles.push_back(std::move(samples));
    }
    result.rounds = static_cast<int>(request.protocol.min_samples);
    return result;
  }

  Log& log_;
  std::int64_t rows_ = 0;  // of the dispatch at hand
  bool lives_ = false;
  std::uint64_t generation_ = 0;
  FakeNoise noise_;
  int handles_ = 0;
  std::map<int, std::string> codes_;
};

}  // namespace hone::test
