// What the workers of these tests do: the kind of a message names a behaviour, good or bad.
#pragma once

#include <string>
#include <vector>

#include "worker/fork_server.h"
#include "worker/runner_process.h"

namespace hone::worker {

// Flags with which this test program serves instead of testing (main.cc).
inline constexpr const char* kServeCompile = "--serve-compile";
inline constexpr const char* kServeRunner = "--serve-runner";
inline constexpr const char* kServeTuner = "--serve-tuner";  // FOLDER: see tuner_main
std::vector<std::string> serving_command(const char* flag);

// Does what `message.kind` says:
//   echo         answers with the message and TMPDIR
//   pid          answers with pid and parent's pid
//   state        answers with what `prepare` was given
//   fail         a failure of kind kNotApplied, after a line on stderr
//   throw        std::runtime_error
//   segv, fpe    dies of the signal, after a line on stderr
//   hang         spins for ever
//   sleep        sleeps body seconds, then answers
//   eat          allocates and touches memory for ever
//   eat-below    the same in a grandchild, while it waits
//   flood        1 GB to stderr, then answers
//   silent       exits with code 3 and no answer
//   garbage      sends bytes that are no message
//   half         sends half a message and exits
//   grandchild   starts `sleep 1000` in its group, answers with its pid
//   daemon       starts a process that leaves group, session and parent, answers with its pid
//   files        fills TMPDIR, answers
//   large        answers with a blob of body bytes
//   segv-second  of its calls with the same body, a file: dies of SIGSEGV the second time
//   kill-parent  SIGKILL to its parent process, then hangs
//   kill-parent-once  the same, if the file named by body is not there; makes it
Outcome behave(const Message& message);

CompileHandlers compile_behaviours();

// A tuner with a pool, two hanging candidates with grandchildren and files, a hanging once-job and
// a hanging runner, everything temporary in `folder`. Makes `folder`/ready and waits to be killed.
int tuner_main(const std::string& folder);

}  // namespace hone::worker
