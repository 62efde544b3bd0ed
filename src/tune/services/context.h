// What every step of a session works with.
#pragma once

#include <fmt/format.h>

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
#include "tune/services/observer.h"
#include "tune/services/options.h"

namespace hone::tune {

// The flags, and then the others.
inline std::vector<std::string> joined(std::vector<std::string> flags,
                                       const std::vector<std::string>& more) {
  flags.insert(flags.end(), more.begin(), more.end());
  return flags;
}

// What is tuned under. What is compiled, stored and found again has these flags.
struct Baseline {
  FlagSet extra_flags = {};  // beyond the user's, with a label; none: as the user has it
  store::Id build = 0;       // of the compiler with all of them
};

// What a session learns on its way.
struct SessionState {
  explicit SessionState(const Options& options)
      : flag_sets(options.flag_sets), deadline(options.budget_seconds) {}

  // The sets of Options::flag_sets that the search of flags has not compared.
  std::vector<FlagSet> flag_sets;
  // The text of Options::starter_spec; empty without one.
  std::string starter_spec = {};
  std::set<std::string> said = {};  // by Context::note_once
  // A difference of this share can just be told on this machine (MachineCheck), within bounds.
  double noise = 0.01;
  trial::TimeBudget time = {};
  Deadline deadline;  // tuning begins it anew
  // The most the device was seen to do, once it was asked; {} where it cannot say.
  std::optional<device::Peak> peak = {};
  // Dispatches whose default computes something else than its reference: the program is wrong
  // before anything is tuned.
  std::set<std::string> wrong_by_default = {};
  // Why the program's outputs cannot tell right from wrong (tune/program/checked_inputs.h): each
  // dispatch is verified instead. Empty where they can.
  std::string unchecked_outputs = {};
  // Dispatches that could not be verified then.
  std::set<std::string> unverified_dispatches = {};
  // Why the program does not work as it is, and why nothing was proved in it; empty where it does,
  // and where something was.
  std::string default_failure = {}, not_proved = {};
  // Code of references that were compiled in this session, by dispatch and flags.
  std::map<std::string, provider::Artifact> references = {};
};

// Copies share the session's state.
struct Context {
  const Options& options;
  const provider::Provider& provider;
  trial::CompileService& compiler;
  trial::RunnerService& runner;
  store::Store& store;
  Observer& observer;
  Baseline baseline = {};
  store::Id device = 0;
  // One for each of options.places but the first.
  std::vector<trial::RunnerService*> more_runners = {};
  // The provider again, where its dispatches are pieces of whole programs.
  const provider::ProgramProvider* programs = nullptr;
  // Others whose kernels may take the place of the compiler's in a program, where the compile
  // service has their workers (CompileService::add_replacing).
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
    HONE_ASSIGN(store::Build build, store.build(baseline.build));
    build.flags = nlohmann::json(all_flags).dump();
    return store.intern(build);
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
  // Time is this activity's while what is returned lives.
  trial::TimeBudget::Span spend(trial::Activity activity) const { return {state->time, activity}; }
  template <class... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) const {
    observer.note(fmt::format(format, std::forward<Args>(args)...));
  }
  // Tells the observer what is to be said once in a session, however often it shows.
  void note_once(const std::string& line) const {
    if (state->said.insert(line).second) observer.note(line);
  }
  template <class... Args>
  void note_once(fmt::format_string<Args...> format, Args&&... args) const {
    note_once(fmt::format(format, std::forward<Args>(args)...));
  }
};

}  // namespace hone::tune
