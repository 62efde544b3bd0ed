// Sessions of one tuner on fakes, one after the other on one store, and what each of them came to.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/tune_fake/fake_session.h"

namespace hone::tune {

class OneTuner : public FakeSession {
 protected:
  Result<ProgramTuningResult> run(test::FakePool& pool) {
    auto runner = std::make_unique<test::FakeRunner>(log_);
    runner->killed_at = killed_at_;
    runner->seconds_of = seconds_of_;
    // Only rounds of finalists move the buffers.
    runner->crashes = [this](const measure::MeasureRequest& request,
                             const std::vector<std::string>& codes) {
      return !crashes_among_finalists_.empty() && request.other_memory &&
             std::ranges::any_of(codes, [this](const std::string& code) {
               return code.ends_with(crashes_among_finalists_);
             });
    };
    runner->is_wrong = is_wrong_;
    runner->before_job = before_job_;
    HONE_ASSIGN(TuningResult result, run_session(options_, store_, provider_,
                                                 {.pool = pool,
                                                  .runner = std::move(runner),
                                                  .observer = observer_,
                                                  .command = command_}));
    best_ = result.best ? result.best->label : "";
    repairs_ = result.best ? result.best->repairs : std::vector<std::string>();
    wrong_by_default_ = result.wrong_by_default;
    repaired_error_ = result.best ? result.best->repaired_error : std::nullopt;
    gains_ = result.gains;
    return std::move(result.at_sizes.front());
  }

  // As in another folder.
  void start_anew() {
    folder_ = quick_folder();
    SetUp();
    store_ = open_store();
    log_ = {};
    observer_.notes.clear();
  }

  store::Store store_ = open_store();
  test::FakeRunner::Log log_;
  std::function<void(const std::string&)> before_job_;  // of the runner, by its kind
  SilentObserver observer_;
  std::string best_;  // variant of the program
  std::vector<std::string> repairs_;
  std::set<std::string> wrong_by_default_;
  std::optional<double> repaired_error_;
  std::vector<ProgramGain> gains_;
  std::function<bool(const std::string& code, std::int64_t rows)> is_wrong_;
  std::string command_;
  std::size_t killed_at_ = 0;
  std::string crashes_among_finalists_;  // empty: none
  std::function<double(const std::string&)> seconds_of_ = [](const std::string& code) {
    return test::fake_seconds(test::tile_in(code));
  };
};

}  // namespace hone::tune
