// Whose work a trial is, when several tuners work on one store.
#include "tune/dispatch_bench.h"

namespace hone::tune {
namespace {

constexpr int kDefaultAttempts = 2;

}  // namespace

// Everything of a dispatch depends on its default, so one accident, now or in an earlier run (a
// worker that the system killed for want of memory), must not be its last word.
Status DispatchBench::run_default() {
  for (int attempt = 0; attempt < kDefaultAttempts; ++attempt) {
    Trial fresh;
    fresh.candidate = default_.candidate;
    fresh.anew = true;
    std::vector<Trial> trials{fresh};
    HONE_TRY(run(trials));
    while (trials.front().elsewhere) {  // without it there is nothing to do meanwhile
      HONE_TRY(context_->leases->wait());
      HONE_TRY(run(trials));
    }
    default_ = trials.front();
    if (!default_.failure) return {};
  }
  return {};
}

Result<bool> DispatchBench::claim(Trial& trial, const std::string& key) {
  if (context_->leases != nullptr) {
    HONE_ASSIGN(const bool taken, context_->leases->take(key));
    trial.elsewhere = !taken;
    if (!taken) return false;
  }
  // After the lease: what another tuner did before it gave the lease back is seen.
  HONE_TRY(skip_known(trial));
  return true;
}

Result<bool> DispatchBench::still_claims(Trial& trial, const std::string& key) {
  if (context_->leases == nullptr) return true;
  HONE_ASSIGN(const bool held, context_->leases->is_held(key));
  trial.elsewhere = !held;
  return held;
}

Status DispatchBench::give_back(const std::string& key) {
  return context_->leases == nullptr ? Status() : context_->leases->give_back(key);
}

std::string DispatchBench::measure_key_of(const Trial& trial) const {
  return measure_key(dispatch_id_, context_->device, trial.identity);
}

}  // namespace hone::tune
