// Work that travels in its store: compiled on one machine (hone tune --compile-only), measured on
// another without a compiler (--measure-only), finished where the compiler is
// (tune/dispatch/prepared_work.h).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "session/sessions.h"
#include "tune/dispatch/prepared_work.h"

namespace hone::session {

// Returns what --compile-only states of the work, without its dispatches. `input`: content hash of
// the user's file. `options`: with the flags of candidates and of references. `build`: of the
// candidates. `cpu`: of a program for CPUs. An input error for a CPU whose instructions hone does
// not know.
Result<tune::PreparedWork> work_to_prepare(const SessionOptions& options, const std::string& input,
                                           const store::BuildRow& build,
                                           const std::optional<problem::CpuTarget>& cpu);

// Returns the input error of work_to_prepare() before anything is known of the program.
Status check_code_travels(const SessionOptions& options);

// Opens the existing store of `options` and finds the newest work on the input there. Sets what
// `options` say of target and flags to what the work is for. Input errors: no store, no such work,
// another --target or another device's code.
struct OpenedWork {
  store::Store store;
  tune::PreparedWork work;
};
Result<OpenedWork> open_prepared(SessionOptions& options, const std::string& input);

// Sets what a session that only measures has in common: no compiles, no program, flags of the work.
// Call it behind take_effort() and take_reuse(). An input error for flags that cannot be read.
Status measure_only(SessionOptions& options, const tune::PreparedWork& work);

// Sets that candidates are taken from the store, whoever compiled their code. Call it behind
// take_reuse().
void take_stored(tune::Options& options);

// Returns what --measure-only logs when it is through; completed by the session's device.
tune::MeasuredWork work_to_measure(const tune::PreparedWork& work, const SessionOptions& options);

// Opens a session that measures the work on the program `options.tuning.input`, calls `action` with
// its dispatches and closes the session. Errors: those of open_prepared() and
// tune::stored_dispatches(); an input error where this CPU lacks what the code needs, with the
// reason; environment errors if a driver or a lease is not available; those of `action`.
Result<int> with_measuring_session(
    SessionOptions options,
    const std::function<Result<int>(ProgramSession&, const tune::DispatchList&)>& action);

// Returns the measurements of another run that a tuning of this input finishes with; nullopt if
// there are none, or --device, --target or flags ask for others.
Result<std::optional<tune::MeasuredWork>> measured_work(const SessionOptions& options,
                                                        const std::string& input);

// Chooses the place of a session that finishes `work`: the device here if it is the one that
// measured, else the absent one, where nothing can be run or proved. Returns whether it is here.
Result<bool> place_of_measured(SessionOptions& options, const tune::MeasuredWork& work);

}  // namespace hone::session
