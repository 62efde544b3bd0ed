// State and services that every step of a session uses, and the observer of its progress.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/stopwatch.h"
#include "provider/program_provider.h"
#include "store/store.h"
#include "trial/compile_service.h"
#include "trial/lease_keeper.h"
#include "trial/time_budget.h"
#include "trial/trial_runner.h"
#include "tune/services/deadline.h"
#include "tune/services/options.h"

namespace hone::tune {

enum class Stage { kOther, kSearch, kFinalists, kProgramRounds };

struct Progress {
  std::string dispatch = {};       // being worked on
  std::size_t dispatch_index = 0;  // from 0
  std::size_t dispatch_count = 0;
  Stage stage = Stage::kOther;
  std::string step = {};    // in words what is done now
  std::size_t tried = 0;    // candidates of this dispatch
  std::size_t planned = 0;  // 0: not counted
  std::size_t failed = 0;
  double best_speedup = 1;  // over the default, so far
  double seconds_left = 0;  // of all dispatches; of the program's rounds; 0: not known or none
};

// Receives the progress and notes of a session. No decision of the session depends on it.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void progress(const Progress& progress) = 0;
  // Reports a detail in one line: a chosen strategy, a dropped entry. Shown with --verbose.
  virtual void note(const std::string& line) = 0;
  // Reports in one line what a user can act on: a busy machine, a budget that is too small.
  virtual void warn(const std::string& line) = 0;
};

// Returns `flags` followed by `more`.
inline std::vector<std::string> joined(std::vector<std::string> flags,
                                       const std::vector<std::string>& more) {
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

// Flag set that dispatches are tuned under. Candidates are compiled, stored and looked up with
// these flags.
struct BaselineFlags {
  FlagSet extra_flags = {};  // beyond the user's, with a label; none: as the user has it
  store::Id build = 0;       // of the compiler with all of them
};

// State that a session gathers as it runs.
struct SessionState {
  explicit SessionState(const Options& options)
      : flag_sets(options.flag_sets), deadline(options.budget_seconds) {}

  // Flag sets of Options::flag_sets that the flag search has not compared.
  std::vector<FlagSet> flag_sets;
  // The text of Options::starter_spec; empty without one.
  std::string starter_spec = {};
  std::set<std::string> said = {};  // by Context::note_once
  // Smallest relative difference that this machine resolves (MachineCheck), clamped to 0.005 to
  // 0.05.
  double noise = 0.01;
  trial::TimeBudget time = {};
  Deadline deadline;  // tuning begins it anew
  // Measured peak of the device, once it was queried; {} where it cannot say.
  std::optional<device::Peak> peak = {};
  // Dispatches whose default differs from its reference: the program is wrong before any tuning.
  std::set<std::string> wrong_by_default = {};
  // Reason why the program's outputs cannot tell right from wrong (tune/program/checked_inputs.h).
  // Each dispatch is then verified instead. Empty where they can.
  std::string unchecked_outputs = {};
  // Dispatches that could not be verified in that case.
  std::set<std::string> unverified_dispatches = {};
  // default_failure: why the unmodified program does not work; empty if it does.
  // not_proved: why nothing was proved in the program; empty if something was.
  std::string default_failure = {}, not_proved = {};
  // Compiled code of the references of this session, by dispatch and flags.
  std::map<std::string, provider::Artifact> references = {};
  // How far a shard is (tune/dispatch/own_shard.h).
  plan::PartProgress progress = {};
};

// Copies share the session's state.
struct Context {
  const Options& options;
  const provider::Provider& provider;
  trial::CompileService& compiler;
  trial::RunnerService& runner;
  store::Store& store;
  Observer& observer;
  BaselineFlags baseline = {};
  store::Id device = 0;
  // Runners of options.places other than the first, in order.
  std::vector<trial::RunnerService*> more_runners = {};
  // The same provider, where its dispatches are pieces of whole programs; else null.
  const provider::ProgramProvider* programs = nullptr;
  // Providers whose kernels may replace the compiler's in a program. The compile service has their
  // workers (CompileService::add_replacing).
  std::vector<const provider::Provider*> replacing = {};
  trial::LeaseKeeper* leases = nullptr;  // none: no other tuner works on the store
  Clock clock = monotonic_seconds;       // that the budget is spent by
  int stop_fd = -1;                      // readable once the user has told hone to stop
  std::shared_ptr<SessionState> state = std::make_shared<SessionState>(options);

  // The user's flags with the baseline's.
  std::vector<std::string> flags() const {
    return joined(options.flags, baseline.extra_flags.flags);
  }
  // The row of the baseline's compiler with these flags.
  Result<store::Id> build_with(const std::vector<std::string>& all_flags) const {
    HONE_ASSIGN(store::BuildRow build, store.build(baseline.build));
    build.flags = nlohmann::json(all_flags).dump();
    return store.intern(build);
  }
  // Returns a context with other options, which outlive it, and without extra flags.
  Result<Context> with_options(const Options& other) const {
    Context changed{other,        provider, compiler,  runner, store, observer, {},   device,
                    more_runners, programs, replacing, leases, clock, stop_fd,  state};
    changed.baseline.build = baseline.build;
    HONE_ASSIGN(changed.baseline.build, changed.build_with(other.flags));
    return changed;
  }
  trial::RunnerService* runner_of(std::size_t lane) const {
    return lane == 0 ? &runner : more_runners.at(lane - 1);
  }
  trial::Services trial_services() const {
    return {.compiler = compiler,
            .store = store,
            .leases = leases,
            .time = &state->time,
            .device = device,
            .cores = options.place().address.cores,
            .reuse = options.reuse,
            .trust = options.trust,
            .retry_failed = options.retry_failed,
            .clock = clock};
  }
  // Charges time to `activity` for as long as the returned span lives.
  trial::TimeBudget::Span spend(trial::Activity activity) const { return {state->time, activity}; }
  template <class... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) const {
    observer.note(fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) const {
    observer.warn(fmt::format(format, std::forward<Args>(args)...));
  }
  // Tells the observer `line` at most once in a session.
  void note_once(const std::string& line) const {
    if (state->said.insert(line).second) observer.note(line);
  }
  template <class... Args>
  void note_once(fmt::format_string<Args...> format, Args&&... args) const {
    note_once(fmt::format(format, std::forward<Args>(args)...));
  }
};

}  // namespace hone::tune
