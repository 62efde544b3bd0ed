// What every step of a session works with.
#pragma once

#include <map>
#include <set>
#include <string>

#include "base/stopwatch.h"
#include "provider/program_provider.h"
#include "store/store.h"
#include "trial/compile_service.h"
#include "trial/lease_keeper.h"
#include "trial/trial_runner.h"
#include "trial/time_budget.h"
#include "tune/services/deadline.h"
#include "tune/services/observer.h"
#include "tune/services/options.h"

namespace hone::tune {

struct Context {
  const Options& options;
  const provider::Provider& provider;
  trial::CompileService& compiler;
  trial::RunnerService& runner;
  store::Store& store;
  Observer& observer;
  store::Id build = 0;
  store::Id device = 0;
  std::vector<trial::RunnerService*> more_runners =
      {};  // one for each of options.places but the first
  // The provider again, where its dispatches are pieces of whole programs.
  const provider::ProgramProvider* programs = nullptr;
  // Others whose kernels may take the place of the compiler's in a program, where the compile
  // service has their workers (trial::CompileService::add_replacing).
  std::vector<const provider::Provider*> replacing = {};
  trial::LeaseKeeper* leases = nullptr;  // none: no other tuner works on the store
  trial::RunnerService* runner_of(std::size_t lane) const {
    return lane == 0 ? &runner : more_runners.at(lane - 1);
  }
  trial::Services trial_services() {
    return {.compiler = compiler,
            .store = store,
            .leases = leases,
            .time = &time,
            .device = device,
            .cores = options.place().address.cores,
            .reuse = options.reuse,
            .trust = options.trust,
            .retry_failed = options.retry_failed,
            .clock = clock};
  }
  // Added to the user's flags for all that is tuned, with its name; empty: nothing is. Whole
  // programs are compiled without and with it.
  FlagSet added = {};
  // The sets of options.flag_sets that the search of flags has not compared.
  std::vector<FlagSet> flag_sets = options.flag_sets;
  // The user's flags with what is added.
  std::vector<std::string> flags() const {
    std::vector<std::string> all = options.flags;
    all.insert(all.end(), added.flags.begin(), added.flags.end());
    return all;
  }
  // The text of options.starter_spec; empty without one.
  std::string starter_spec = {};
  // Tells the observer what is to be said once in a session, however often it shows.
  void note_once(const std::string& line) {
    if (said.insert(line).second) observer.note(line);
  }
  std::set<std::string> said = {};

  // A difference of this share can just be told on this machine (MachineCheck), within bounds.
  double noise = 0.01;
  trial::TimeBudget time = {};
  Clock clock = monotonic_seconds;            // that the budget is spent by
  Deadline deadline{options.budget_seconds};  // tuning begins it anew
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
  int stop_fd = -1;  // readable once the user has told hone to stop
};

}  // namespace hone::tune
