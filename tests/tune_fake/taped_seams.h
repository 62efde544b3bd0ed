// What a tuner talks to, by way of a tape: compile workers, a runner, and the runtime of whole
// programs. Recording, each passes what it is asked on; replaying, it has nothing behind it.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "provider/program_provider.h"
#include "tests/tune_fake/tape.h"
#include "worker/runner_process.h"
#include "worker/worker_pool.h"

namespace hone::test {

// Done one after the other when they are handed in, so that no order depends on how long one takes.
class TapedPool final : public worker::WorkerPool {
 public:
  // `real`: only when recording.
  TapedPool(Tape& tape, worker::WorkerPool* real) : tape_(tape), real_(real) {}

  Result<worker::Outcome> once(const worker::Message& job) override;
  Result<worker::Outcome> prepare(const std::string& key, const worker::Message& job) override;
  Status release(const std::string& key) override;
  Status submit(const std::string& key, worker::JobId id, const worker::Message& job) override;
  Result<std::optional<worker::Finished>> next_finished(double) override;
  std::size_t outstanding() const override { return finished_.size(); }
  Status cancel(const std::string&) override { return {}; }  // each has finished

 private:
  // Keeps the code of what is compiled and puts its name in its place.
  nlohmann::json compiled(const worker::Message& job, const worker::Outcome& outcome);

  Tape& tape_;
  worker::WorkerPool* real_;
  std::deque<worker::Finished> finished_;
};

class TapedRunner final : public worker::RunnerTransport {
 public:
  TapedRunner(Tape& tape, std::unique_ptr<worker::RunnerTransport> real)
      : tape_(tape), real_(std::move(real)) {}

  Status start() override;
  Status ensure_ready() override { return start(); }
  Result<worker::Outcome> call(const worker::Message& job, double seconds) override;
  // A runner that dies of a candidate is recorded as its death: it is another one afterwards.
  std::uint64_t generation() const override { return generation_; }

 private:
  Tape& tape_;
  std::unique_ptr<worker::RunnerTransport> real_;
  std::uint64_t generation_ = 0;
  bool lives_ = false;
};

// What runs or reads compiled modules is on the tape; everything else the provider does itself.
class TapedPrograms final : public provider::ProgramProvider, public provider::ProgramRuntime {
 public:
  // Where the compiled program cannot be run: what takes the place of the provider's runtime.
  struct Runtime {
    std::function<Result<std::vector<problem::Array>>(const provider::ProgramCall&)> run;
    std::function<Result<double>(const provider::ProgramCall&)> time;
  };
  TapedPrograms(Tape& tape, const provider::ProgramProvider& provider, Runtime runtime = {})
      : tape_(tape), provider_(provider), runtime_(std::move(runtime)) {}

  const provider::SpecWriter& specs() const override { return provider_.specs(); }
  std::string_view name() const override { return provider_.name(); }
  std::string_view constraint_set() const override { return provider_.constraint_set(); }
  bool compiler_states_spaces() const override { return provider_.compiler_states_spaces(); }
  std::string why_no_space(const problem::Dispatch& dispatch) const override {
    return provider_.why_no_space(dispatch);
  }
  Result<space::Space> space_of(const problem::Dispatch& dispatch) const override {
    return provider_.space_of(dispatch);
  }
  Result<provider::Payload> payload_of(const problem::Dispatch& dispatch, const space::Space& space,
                                       const space::Configuration& configuration) const override {
    return provider_.payload_of(dispatch, space, configuration);
  }
  std::function<double(const space::Configuration&)> prior(
      const problem::Dispatch& dispatch, const space::Space& space) const override {
    return provider_.prior(dispatch, space);
  }
  std::optional<provider::ShippedForm> as_shipped(const provider::Payload& payload) const override {
    return provider_.as_shipped(payload);
  }
  bool names_the_device(std::string_view flag) const override {
    return provider_.names_the_device(flag);
  }
  const provider::ProgramRuntime& runtime() const override { return *this; }
  Result<provider::ModuleFunctions> functions(const std::filesystem::path& module) const override;
  std::optional<std::string> device_code(std::string_view module,
                                         const std::string& entry) const override;
  Result<std::vector<problem::Array>> run(const provider::ProgramCall& call,
                                          std::size_t results) const override;
  provider::ProgramTimers timers(const device::Address&) const override {
    return {
        [this](const provider::ProgramCall& call, double seconds) { return time(call, seconds); }};
  }
  Result<double> time_artifact(const provider::ArtifactCall& call, double seconds) const override;

 private:
  Result<double> time(const provider::ProgramCall& call, double seconds) const;
  provider::ProgramCall real_call(const provider::ProgramCall& call) const;

  Tape& tape_;
  const provider::ProgramProvider& provider_;
  Runtime runtime_;
};

}  // namespace hone::test
