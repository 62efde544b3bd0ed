// Outcome of a run. It decides the exit code and the last line, on the screen, in --json and in the
// report (docs/commands.md, "Exit codes").
#pragma once

#include <string>
#include <string_view>

namespace hone::tune {

enum class RunOutcome {
  kFaster,         // something that is proved faster ships
  kRepaired,       // what ships is right, and the default is not or does not work
  kNothingFaster,  // the default is the best of what was tried
  kCompiled,       // candidates compile, and nothing was to be measured
  kNotProved,      // something ships that could not be proved
  kNothingUsable,
};

struct RunVerdict {
  RunOutcome outcome = RunOutcome::kNothingUsable;
  std::string reason = {};  // empty for kFaster, and for kNothingFaster where rounds told enough

  bool operator==(const RunVerdict&) const = default;
};

std::string_view name_of(RunOutcome outcome);  // "faster", "nothing faster", "not proved", ...
int exit_code(const RunVerdict& verdict);      // 0 or 1
// "NOT PROVED: no call of the program ...". Empty for kFaster and kCompiled: the numbers say it.
std::string last_line(const RunVerdict& verdict);

// The verdict of a run on an emulator (device::Facts::emulated): nothing that it found may ship.
RunVerdict on_emulator(RunVerdict verdict);

}  // namespace hone::tune
