#include "provider/artifact.h"

#include <signal.h>

#include <algorithm>

#include "base/hash.h"
#include "base/text.h"

namespace hone::provider {
namespace {

constexpr std::pair<FailureKind, std::string_view> kFailureKinds[] = {
    {FailureKind::kCompileError, "compile error"},
    {FailureKind::kCompileCrash, "compile crash"},
    {FailureKind::kCompileKilled, "compile killed"},
    {FailureKind::kCompileTimeout, "compile timeout"},
    {FailureKind::kCompileMemory, "compile memory"},
    {FailureKind::kNotApplied, "not applied"},
    {FailureKind::kLoadError, "load error"},
    {FailureKind::kKernelCrash, "kernel crash"},
    {FailureKind::kKernelKilled, "kernel killed"},
    {FailureKind::kKernelTimeout, "kernel timeout"},
    {FailureKind::kWrong, "wrong"},
    {FailureKind::kImpossibleTime, "impossible time"},
    {FailureKind::kNoVerdict, "no verdict"},
};

// Signals that the kernel raises for a fault of the process itself, and SIGABRT, which abort()
// raises (signal(7)).
constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

}  // namespace

std::string_view name_of(FailureKind kind) {
  for (const auto& [value, name] : kFailureKinds)
    if (value == kind) return name;
  return "compile error";
}

Result<FailureKind> failure_kind_from(std::string_view name) {
  for (const auto& [value, known] : kFailureKinds)
    if (known == name) return value;
  return input_error("'{}' is no kind of failure", name);
}

bool is_accident(FailureKind kind) {
  return kind == FailureKind::kCompileKilled || kind == FailureKind::kKernelKilled;
}

bool may_differ_next_time(FailureKind kind) {
  return is_accident(kind) || kind == FailureKind::kCompileTimeout ||
         kind == FailureKind::kCompileMemory || kind == FailureKind::kKernelTimeout;
}

FailureKind died_of(int signal, FailureKind crashed, FailureKind killed) {
  const bool own = signal == 0 || std::ranges::find(kFaults, signal) != std::end(kFaults);
  return own ? crashed : killed;
}

}  // namespace hone::provider
