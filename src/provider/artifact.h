// Compiling a candidate: its encoded configuration, the results, and the ways in which it can fail.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "problem/launch.h"

namespace hone::provider {

// Configuration encoded for the provider's compiler, or as the compiler reports it. The JSON is
// opaque to everyone but the provider's halves in the tuner and in the workers. Other code stores,
// sends and compares it, and asks the provider for anything else (provider.h, spec_writer.h).
struct Payload {
  nlohmann::json json = nullptr;
  // Provider whose kernel replaces the compiler's in a program; empty: the session's own.
  std::string replacing = {};

  bool operator==(const Payload&) const = default;
};

// Kinds of a candidate's failure. A failure is a stored row, never the end of a session.
enum class FailureKind {
  kCompileError,   // the compiler said no
  kCompileCrash,   // the compiler died of a fault of its own: SIGSEGV, SIGABRT, no answer, ...
  kCompileKilled,  // it was ended from outside, and not by hone: the system had no memory left, ...
  kCompileTimeout,
  kCompileMemory,
  kNotApplied,  // the compiler dropped the configuration without a word
  kLoadError,
  kKernelCrash,
  kKernelKilled,  // as kCompileKilled, of the runner while it had this candidate
  kKernelTimeout,
  kWrong,           // computed something else than the reference
  kImpossibleTime,  // measured faster than its device can compute, again and again
  kNoVerdict,       // the device cannot judge the code, which may be right: an emulator's limits
};

std::string_view name_of(FailureKind kind);  // "compile error", "not applied", ...
// Returns an input error for an unknown name.
Result<FailureKind> failure_kind_from(std::string_view name);

// Whether somebody other than hone or the candidate ended the process: says nothing about the
// candidate.
bool is_accident(FailureKind kind);
// Whether the failure may not recur on a machine with less load or more memory: true for accidents
// and for exceeded time or memory limits. Every other failure is a verdict, which the same inputs
// reproduce.
bool may_differ_next_time(FailureKind kind);
// Returns how a process failed that died of `signal` (0: it exited): `killed` for a signal that no
// fault of its own raises, else `crashed`.
FailureKind died_of(int signal, FailureKind crashed, FailureKind killed);

struct Failure {
  FailureKind kind;
  std::string message;  // the compiler's or the system's own words
};

using problem::Launch;

struct Artifact {
  std::string format;  // "embedded-elf-x86_64"
  std::string code;    // the binary
  Launch launch;
  std::string configured = {};  // what the compiler says that it was configured with, for people
  // Further data from the worker for the provider's half in the tuner
  // (SpecWriter::as_compiled); not stored.
  Payload more = {};

  // Describes all fields but `code` and `more`.
  static void fields(auto& artifact, auto&& field) {
    field("format", artifact.format);
    field("launch", artifact.launch);
    field("configured", artifact.configured);
  }
};

// Seconds that the stages of one compile took, as far as the provider reports them; `assemble` is
// the GPU assembler's.
struct CompileStages {
  double configure = 0, translate = 0, serialize = 0, assemble = 0;

  bool operator==(const CompileStages&) const = default;
  static void fields(auto& stages, auto&& field) {
    field.or_default("configure", stages.configure);
    field.or_default("translate", stages.translate);
    field.or_default("serialize", stages.serialize);
    field.or_default("assemble", stages.assemble);
  }
};

// Names what is executed: code plus grid, block, shared memory and constants, as a content hash.
// In an ELF file only loaded code and read-only data count, without the names and source paths that
// IREE puts at the end of the read-only data, so that equal code is measured once.
std::string identity(const Artifact& artifact);

}  // namespace hone::provider
