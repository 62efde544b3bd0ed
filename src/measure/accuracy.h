// Measures how exact a kernel is, and finds what a wrong kernel computes instead, by elements in
// double precision (stated_elements.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "device/device.h"
#include "measure/array_difference.h"
#include "problem/dispatch.h"
#include "provider/suspicion.h"

namespace hone::measure {

// Accuracy of an output: a sample of its elements beside the same elements in double precision,
// rounded once to the output's type.
struct OutputAccuracy {
  int binding = -1;
  ArrayDifference difference = {};
  // First element in memory that differs, if one does: its place in the binding, in elements.
  std::int64_t first = -1;
  double got = 0, expected = 0;  // of it; expected is not rounded

  static void fields(auto& accuracy, auto&& field) {
    field("binding", accuracy.binding);
    field("first", accuracy.first);
    field.number("got", accuracy.got);
    field.number("expected", accuracy.expected);
    field("difference", accuracy.difference);
  }
};

// Accuracy, by output, of the compiler's own kernel and of a replacement on equal inputs.
struct AccuracyBeside {
  std::vector<OutputAccuracy> compilers, kernel;
  std::string compilers_sums = {}, kernel_sums = {};  // Provider::summation()

  static void fields(auto& accuracy, auto&& field) {
    field("compilers", accuracy.compilers);
    field("kernel", accuracy.kernel);
    field("compilers_sums", accuracy.compilers_sums);
    field("kernel_sums", accuracy.kernel_sums);
  }
};

// Returns, by kernel, the accuracy of each float output. All kernels are launched once on the same
// reals of the usual size (OperandSet::kReals), drawn by `seed`. Input errors of read_statement()
// and stated_elements(): a dispatch without a statement, or an operation that is not known in
// double precision. A failure if a kernel reports an error.
Result<std::vector<std::vector<OutputAccuracy>>> accuracies_of(
    device::Device& device, const std::vector<device::Kernel*>& kernels,
    const problem::Dispatch& dispatch, std::uint64_t seed);

// Returns the suspicion whose computation `kernel` performs, within a percent in all but a
// hundredth of a sample of its elements; -1: none. A failure if the kernel reports an error.
Result<int> find_mistake(device::Device& device, device::Kernel& kernel,
                         const problem::Dispatch& dispatch,
                         const std::vector<provider::Suspicion>& suspicions, std::uint64_t seed);

}  // namespace hone::measure
