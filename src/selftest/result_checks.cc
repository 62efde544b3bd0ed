#include "selftest/result_checks.h"

#include <fmt/ranges.h>

#include "base/hash.h"
#include "measure/half.h"

namespace hone::selftest {
namespace {

using problem::Access;
using Verified = trial::KernelResult<measure::Verification>;

constexpr std::int32_t kFlip = 1515870810;  // of checks.mlir's @flip_*
constexpr std::int64_t kOverrun = 7;        // elements that a kernel writes behind its output

Check failed(std::string name, std::string found, std::string expected) {
  return {.name = std::move(name),
          .outcome = Outcome::kFailed,
          .found = std::move(found),
          .expected = std::move(expected)};
}

std::string words_of(const Verified& verified) {
  if (!verified)
    return fmt::format("{}: {}", provider::name_of(verified.error().kind),
                       verified.error().message);
  return verified->right ? "right" : verified->message;
}

// The kernel called `name`, with code.
Result<const TestKernel*> find(const TestKernels& kernels, const std::string& name) {
  const auto found = kernels.find(name);
  if (found == kernels.end()) return failure("the compiler makes no dispatch of @{}", name);
  if (!found->second.code) return failure("@{} does not compile: {}", name, found->second.failure);
  return &found->second;
}

// The problem of @flip_N, whose output is known; without the last `less` elements.
measure::ProblemRequest flip_problem(const Bench& bench, TestKernel kernel, std::int64_t less = 0) {
  for (problem::Binding& binding : kernel.dispatch.bindings) {
    for (std::int64_t& extent : binding.type.shape) extent -= less;
    binding.bytes = problem::byte_size(binding.type);
  }
  measure::ProblemRequest problem = bench.problem_of(kernel);
  problem.expected.resize(problem.inputs.size());
  problem::Array output{kernel.dispatch.bindings.front().type, problem.inputs.front()};
  measure::change_elements(output, [](std::size_t, double value) {
    return static_cast<double>(static_cast<std::int32_t>(value) ^ kFlip);
  });
  for (std::size_t i = 0; i < kernel.dispatch.bindings.size(); ++i)
    if (kernel.dispatch.bindings[i].access != Access::kReadOnly) problem.expected[i] = output.bytes;
  return problem;
}

// The problem of @flip_N with nothing where the kernel reads: both views are of the second of its
// two bindings.
measure::ProblemRequest problem_without_input(const Bench& bench, TestKernel kernel) {
  std::int64_t offset = 0;
  for (problem::Binding& binding : kernel.dispatch.bindings) {
    binding.ordinal = 1;
    binding.offset = offset;
    offset += binding.bytes;
  }
  return flip_problem(bench, std::move(kernel));
}

// The problem of @until_zero from ones, whose powers of five are never zero.
measure::ProblemRequest endless_problem(const Bench& bench, const TestKernel& kernel) {
  measure::ProblemRequest problem = bench.problem_of(kernel);
  problem.expected.resize(problem.inputs.size());
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    problem::Array array = problem::zeros_of(kernel.dispatch.bindings[i].type);
    if (kernel.dispatch.bindings[i].access != Access::kReadOnly) {
      problem.expected[i] = std::move(array.bytes);
      continue;
    }
    measure::change_elements(array, [](std::size_t, double) { return 1.0; });
    problem.inputs[i] = std::move(array.bytes);
  }
  return problem;
}

// Names the kernels that a list of results complains of: at most three.
std::string some(const std::vector<std::string>& complaints) {
  constexpr std::size_t kMost = 3;
  const auto shown = std::span(complaints).first(std::min(kMost, complaints.size()));
  std::string text = fmt::format("{}", fmt::join(shown, "; "));
  if (complaints.size() > kMost) text += fmt::format("; and {} more", complaints.size() - kMost);
  return text;
}

}  // namespace

Result<Check> check_copies(Bench& bench, const TestKernels& kernels) {
  std::vector<std::string> wrong;
  for (const char* name : {"flip_1", "flip_4097", "flip_4194304"}) {
    HONE_ASSIGN(const TestKernel* const kernel, find(kernels, name));
    HONE_ASSIGN(const Verified verified, bench.verify(flip_problem(bench, *kernel), *kernel->code));
    if (!verified || !verified->right)
      wrong.push_back(fmt::format("@{}: {}", name, words_of(verified)));
  }
  if (!wrong.empty()) return failed("copies", some(wrong), "the data that were sent");
  return Check{.name = "copies", .found = "4 B, 16 KiB and 16 MiB went there and back"};
}

Result<Check> check_kernels(Bench& bench, const TestKernels& kernels, const Recorded& recorded) {
  Check check{.name = "kernels"};
  std::vector<std::string> wrong, unrecorded;
  for (const auto& [name, kernel] : kernels) {
    if (!kernel.code || !kernel.reference) {
      wrong.push_back(fmt::format("{} does not compile: {}", name, kernel.failure));
      continue;
    }
    HONE_ASSIGN(const Verified verified, bench.verify(bench.problem_of(kernel), *kernel.code));
    if (!verified || !verified->right) {
      wrong.push_back(fmt::format("{}: {}", name, words_of(verified)));
      continue;
    }
    HONE_ASSIGN(const std::vector<std::string> outputs, bench.outputs(kernel.dispatch));
    const std::string hash = content_hash(fmt::format("{}", fmt::join(outputs, "")));
    check.data[name] = hash;
    const std::string expected = recorded.kernels.value(name, "");
    if (expected.empty())
      unrecorded.push_back(name);
    else if (hash != expected)
      wrong.push_back(
          fmt::format("{}: its bits are not the recorded ones ({}, not {})", name, hash, expected));
  }
  if (!wrong.empty()) {
    check.outcome = Outcome::kFailed;
    check.found = some(wrong);
    check.expected = fmt::format("{} kernels with the recorded bits", kernels.size());
    return check;
  }
  check.found =
      fmt::format("{} kernels give the recorded bits", kernels.size() - unrecorded.size());
  if (!unrecorded.empty()) {
    check.outcome = Outcome::kNote;
    check.expected = fmt::format("the record has no bits of {}", some(unrecorded));
  }
  return check;
}

Result<Check> check_guards(Bench& bench, const TestKernels& kernels) {
  HONE_ASSIGN(const TestKernel* const kernel, find(kernels, "flip_4097"));
  HONE_ASSIGN(const Verified verified,
              bench.verify(flip_problem(bench, *kernel, kOverrun), *kernel->code));
  const std::string written = fmt::format("{} B written behind an output", 4 * kOverrun);
  if (verified && !verified->broken_guards.empty())
    return Check{.name = "guards", .found = written + " are noticed"};
  return failed("guards", fmt::format("{} pass as: {}", written, words_of(verified)),
                "a broken guard");
}

Result<Check> check_faults(Bench& bench, const TestKernels& kernels) {
  Check check{.name = "faults"};
  HONE_ASSIGN(const TestKernel* const good, find(kernels, "flip_4097"));
  HONE_ASSIGN(const TestKernel* const endless, find(kernels, "until_zero"));
  struct Fault {
    std::string what;
    measure::ProblemRequest problem;
    const provider::Artifact& code;
    provider::FailureKind kind;
  };
  const Fault faults[] = {{"a read of address 0", problem_without_input(bench, *good), *good->code,
                           provider::FailureKind::kKernelCrash},
                          {"an endless kernel", endless_problem(bench, *endless), *endless->code,
                           provider::FailureKind::kKernelTimeout}};
  for (const Fault& fault : faults) {
    HONE_ASSIGN(const Verified faulty, bench.verify(fault.problem, fault.code));
    check.data[fault.what] = words_of(faulty);
    if (faulty || faulty.error().kind != fault.kind)
      return failed("faults", fmt::format("{} passes as: {}", fault.what, words_of(faulty)),
                    std::string(provider::name_of(fault.kind)));
    HONE_ASSIGN(const Verified after, bench.verify(flip_problem(bench, *good), *good->code));
    if (!after || !after->right)
      return failed("faults",
                    fmt::format("after {} the next kernel: {}", fault.what, words_of(after)),
                    "right");
  }
  check.found = "a read of address 0 and an endless kernel cost one call each";
  return check;
}

Result<Check> check_library(Bench& bench, const TestKernels& kernels) {
  const bool is_gpu = bench.place().traits.own_memory;
  HONE_ASSIGN(const TestKernel* const kernel,
              find(kernels, is_gpu ? "product_f16" : "product_f32"));
  trial::RunnerService& runner = bench.runner();
  HONE_TRY(runner.set_problem(bench.problem_of(*kernel)));
  HONE_ASSIGN(const auto baselines, runner.ask(measure::jobs::kBaselines));
  if (!baselines)
    return Check{.name = "library", .outcome = Outcome::kNote, .found = baselines.error().message};
  for (const measure::LibraryBaseline& baseline : *baselines) {
    HONE_ASSIGN(const Verified verified, runner.ask(measure::jobs::kVerify, baseline.handle));
    if (!verified || !verified->right)
      return failed("library", fmt::format("{}: {}", baseline.library, words_of(verified)),
                    "a correct product");
  }
  return Check{.name = "library",
               .found = fmt::format("{} multiplies correctly", baselines->front().library)};
}

}  // namespace hone::selftest
