// A trial: one candidate's way from its proposal to its row in the store.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "provider/artifact.h"
#include "provider/suspicion.h"
#include "store/rows.h"

namespace hone::trial {

enum class State {
  kProposed,
  kLeasedByOther,  // another tuner on the store is at it: to be looked at again later
  kCompiling,
  kCompiled,  // its code has an identity
  kVerified,  // right, and not measured yet
  kMeasured,
  kFailed,
};

struct Trial {
  store::Id candidate = 0;
  std::optional<provider::Payload> payload;  // none: the compiler's own choice
  State state = State::kProposed;
  std::string identity;                           // of its code; empty until it is compiled
  std::optional<provider::Failure> failure = {};  // of kFailed
  // Time of a launch, and its ratio to the default's time in the same rounds, for kMeasured.
  // `noise` is the ratio's relative standard error, if it was measured in this session.
  std::optional<store::Timing> timing = {};
  std::optional<double> ratio = {}, noise = {};
  bool ignore_stored_failure = false;
  // Suspected mistakes, asked for when the candidate is wrong.
  std::function<std::vector<provider::Suspicion>()> suspicions = {};

  bool is_done() const { return state == State::kMeasured || state == State::kFailed; }
  // Whether it waits for a lease of another tuner or for its compile.
  bool is_pending() const { return state == State::kLeasedByOther || state == State::kCompiling; }
  void fail(provider::Failure why) {
    failure = std::move(why);
    state = State::kFailed;
  }
};

using Trials = std::vector<Trial*>;

}  // namespace hone::trial
