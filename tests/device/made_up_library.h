// A library of no maker, which multiplies in two ways, and says of itself what a real one does.
#pragma once

#include <memory>
#include <string>

#include "device/library.h"

namespace hone::test {

// C = A B of a plain matmul in f32, computed by the host; the second algorithm does it twice.
class MadeUpLibrary final : public device::Library {
 public:
  using ToHost = void* (*)(void* address);  // what the device calls an address of the host's memory
  explicit MadeUpLibrary(
      std::string_view device_kind, ToHost to_host = [](void* address) { return address; })
      : device_kind_(device_kind), to_host_(to_host) {}

  std::string_view name() const override { return "tango"; }
  std::string_view title() const override { return "TangoLib"; }
  std::string_view device_kind() const override { return device_kind_; }

  Result<device::LibraryKernels> kernels(const problem::Dispatch& dispatch, device::Device&,
                                         std::span<const int>) override {
    HONE_ASSIGN(const device::Product product, device::dispatch_product(dispatch));
    if (product.transpose_a || product.transpose_b || product.accumulate || product.batches > 1)
      return input_error("TangoLib multiplies plain matrices");
    device::LibraryKernels found{.library = "TangoLib 2.7", .kernels = {}};
    for (const int times : {1, 2})
      found.kernels.push_back(
          {std::make_unique<Multiply>(product, to_host_, times), "in " + std::to_string(times)});
    return found;
  }

 private:
  struct Multiply final : device::Kernel {
    Multiply(const device::Product& what, ToHost host, int how_often)
        : product(what), to_host(host), times(how_often) {}
    bool uses_device_threads() const override { return false; }
    Status launch(std::span<const device::Buffer> bindings) override {
      const auto at = [&](std::size_t operand) {
        return static_cast<float*>(to_host(bindings[product.bindings[operand]].data));
      };
      const float *a = at(0), *b = at(1);
      float* const c = at(2);
      for (int time = 0; time < times; ++time)
        for (std::int64_t i = 0; i < product.m; ++i)
          for (std::int64_t j = 0; j < product.n; ++j) {
            float sum = 0;
            for (std::int64_t k = 0; k < product.k; ++k)
              sum += a[i * product.k + k] * b[k * product.n + j];
            c[i * product.n + j] = sum;
          }
      return {};
    }
    device::Product product;
    ToHost to_host;
    int times;
  };

  std::string_view device_kind_;
  ToHost to_host_;
};

}  // namespace hone::test
