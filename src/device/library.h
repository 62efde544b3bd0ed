// The Library seam: hand-tuned libraries for a device, opened at run time. A library gives calls
// instead of artifacts: kernels of a device, verified and measured beside the candidates.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "problem/dispatch.h"

namespace hone::device {

// A kernel with which a library computes a problem.
struct LibraryKernel {
  std::unique_ptr<Kernel> kernel;
  // Algorithm in the library's own terms: "algorithm 66, tile 24, stages 36". Empty if it offers
  // one kernel and does not name it.
  std::string algorithm;
};

// Kernels that a library offers for a problem, its own choice first.
struct LibraryKernels {
  std::string library;  // Library::title() and its version: "cuBLASLt 13.0.2"
  std::vector<LibraryKernel> kernels;
  // Problem that the kernels compute, and its bindings, if it is not the dispatch. It is given
  // inputs of its own, and must be a contraction that hone computes exactly.
  std::optional<problem::Dispatch> problem = {};
  std::string note = {};  // how that differs from the dispatch, in words
};

// For one thread, in the runner's process. Construction opens nothing.
class Library {
 public:
  virtual ~Library() = default;
  // The provider of its candidates in stores, and part of columns' keys: "openblas".
  virtual std::string_view name() const = 0;
  // Name as its makers write it, one word: "OpenBLAS".
  virtual std::string_view title() const = 0;
  // Device::kind() of the devices it computes on.
  virtual std::string_view device_kind() const = 0;

  // Returns its kernels for `dispatch` on `device`, which is of device_kind(); `cores` are the
  // cores that the runner may use. If the library is not on this machine, an environment error says
  // how to get it. An input error if it does not compute such a problem; a failure in its own
  // words.
  virtual Result<LibraryKernels> kernels(const problem::Dispatch& dispatch, Device& device,
                                         std::span<const int> cores) = 0;
};

}  // namespace hone::device
