// The Library seam: hand-tuned libraries for a device, opened at run time. A library gives calls
// instead of artifacts: kernels of a device, verified and measured beside the candidates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
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

// A shared library that is opened at run time and never closed: libraries do not end their threads.
class SharedLibrary {
 public:
  // The first of `names` that opens; else an environment error in the words of the last attempt.
  static Result<SharedLibrary> open(const std::vector<std::string>& names);

  const std::string& name() const { return name_; }
  // Looks `symbol` up; null if the library has no such function.
  template <class Function>
  bool find(const char* symbol, Function& function) const {
    function = reinterpret_cast<Function>(address(symbol));
    return function != nullptr;
  }

 private:
  void* address(const char* symbol) const;

  void* handle_ = nullptr;
  std::string name_;
};

// A matrix product as a vendor's library is asked for it: C[b] = A[b] B[b] for `batches` b, of
// dense row-major matrices that follow one another; terms are added up in f32.
struct Product {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t batches = 1;
  bool transpose_a = false;                                 // A is stored k x m
  bool transpose_b = false;                                 // B is stored n x k
  bool accumulate = false;                                  // C += A B
  problem::ElementType input = problem::ElementType::kF32;  // of A and B
  problem::ElementType output = problem::ElementType::kF32;
  std::array<std::size_t, 3> bindings{0, 1, 2};  // that hold A, B and C when the kernel is launched

  bool operator==(const Product&) const = default;
};

// Maps a contraction to a product of row-major matrices; `bindings` are its operands. If the output
// is stored n x m, the product is C' = B' A', and the first operand is the right-hand one. An input
// error if the operation is no static (batch) matmul with leading batch dimensions.
Result<Product> plan_product(const problem::Operation& operation);

// Returns the whole dispatch as a product over its own bindings. It is a bare contraction, of zeros
// or added to what the output held. Its result may be narrowed to 16 bits when stored, as a library
// does too. An input error that names any other fused operation.
Result<Product> dispatch_product(const problem::Dispatch& dispatch);

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
