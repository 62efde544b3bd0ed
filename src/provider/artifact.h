// What compiling a candidate gives, and what can go wrong with a candidate.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/launch.h"

namespace hone::provider {

// How a candidate failed. A failure is a stored row, never the end of a session.
enum class FailureKind {
  kCompileError,  // the compiler said no
  kCompileCrash,  // the compiler died of a signal
  kCompileTimeout,
  kCompileMemory,
  kNotApplied,  // the compiler dropped the configuration without a word
  kLoadError,
  kKernelCrash,
  kKernelTimeout,
  kWrong,           // computed something else than the reference
  kImpossibleTime,  // measured faster than its device can compute, again and again
};

std::string_view name_of(FailureKind kind);  // "compile error", "not applied", ...
Result<FailureKind> failure_kind_from(std::string_view name);

struct Failure {
  FailureKind kind;
  std::string message;  // the compiler's or the system's own words
};

using problem::Launch;

struct Artifact {
  std::string format;  // "embedded-elf-x86_64"
  std::string code;    // the binary
  Launch launch;
  std::string configured;  // lowering configuration read back from the compiler's IR
  // Where the compiler made the attributes from knobs: its translation info and the configurations
  // of the root's parts, for specs.
  std::string translation = {};
  std::string decomposition = {};
};

// Names what is executed: code plus grid, block, shared memory and constants, as a content hash.
// Of an ELF file only loaded code and read-only data count, and of those not the names and source
// paths that IREE puts at the end of the read-only data, so that equal code is measured once.
std::string identity(const Artifact& artifact);

}  // namespace hone::provider
