// The jobs of a tuning and their answers, as recorded once. Jobs are in order within their lane
// (compile workers, runner, programs); what one lane is asked while another is not is left open.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "base/result.h"
#include "tests/tune_fake/normal_form.h"

namespace hone::test {

class Tape {
 public:
  // One to be written.
  static Tape record(Places places);
  // One that was. `accepts`: a job that differs from the recorded one of the same kind gets its
  // answer all the same, and takes its place (save).
  static Result<Tape> load(const std::filesystem::path& file, Places places, bool accepts);
  Status save(const std::filesystem::path& file) const;

  // What the job is answered: by `done` when recording, as recorded else. kInterrupted, which ends
  // a session, once a job was not the recorded one. `done` says no more than what can be replayed:
  // JSON of the caller's own form.
  Result<nlohmann::json> answer(const std::string& lane, const worker::Message& job,
                                const std::function<Result<nlohmann::json>()>& done);

  bool is_recording() const { return is_recording_; }
  // Seconds that all jobs answered until now took when they were recorded: the clock of a tuning.
  double seconds() const { return seconds_; }

  // What the tuning came to; the recorded one's.
  nlohmann::json result() const { return result_; }
  void set_result(nlohmann::json result) { result_ = std::move(result); }

  // How the first job that was not the recorded one differs from it; empty where none does.
  const std::string& problem() const { return problem_; }
  // Recorded jobs that nobody has asked for, the first of each lane; empty where there are none.
  std::string left() const;
  // Of those accepted.
  const std::string& accepted() const { return accepted_; }

  // Compiled code by what stands for it: what a real runner or runtime gets (recording only).
  std::map<std::string, std::string> code;

 private:
  struct Entry {
    nlohmann::json job, answer;
    double seconds = 0;
  };
  // Among `entries` the same compile of a whole program. How often one is asked for is left open: a
  // session keeps modules, and compiles what ships once more.
  static const Entry* whole_program(const nlohmann::json& job, std::span<const Entry> entries);
  explicit Tape(Places places) : places_(std::move(places)) {}
  Result<nlohmann::json> give(const Entry& entry);

  Places places_;
  bool is_recording_ = false, accepts_ = false;
  std::map<std::string, std::vector<Entry>> lanes_;
  std::map<std::string, std::size_t> next_;  // by lane
  double seconds_ = 0;
  nlohmann::json result_;
  std::string problem_, accepted_;
};

}  // namespace hone::test
