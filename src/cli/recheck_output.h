// Result of hone recheck, and its text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/verification.h"
#include "session/proof_record.h"
#include "tune/compare/recheck.h"
#include "tune/program/spec_check.h"

namespace hone::cli {

// Effect of the spec and the kernels by today's compiler.
struct Applied {
  std::optional<tune::CheckedSpec> spec;
  std::vector<tune::CheckedKernel> kernels;
  std::string failure;       // why the program does not compile
  bool same_module = false;  // asked of flags alone
  bool same_compiler = false;

  bool holds() const;
};

struct Recheck {
  session::ProofRecord proof;
  std::string program;               // its path; empty: it is missing, and was not compared
  std::vector<std::string> changed;  // files that are not as they were
  bool can_run = true;               // the modules and what they are called with are unchanged
  std::vector<measure::Comparison> outputs;
  std::string failure;  // why the shipped program does not run
  std::optional<tune::RecheckedSpeed> speed;
  std::string no_speed;  // why nothing was timed
  std::optional<Applied> applied;

  bool is_right() const;
  bool holds() const;
};

// Prints whether the proof in `folder` holds, and what of it.
void print_recheck(const Recheck& recheck, const std::string& folder, bool json);

}  // namespace hone::cli
