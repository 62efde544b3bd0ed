// A launch: every workgroup of a grid, called once.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "device/cpu/executable.h"
#include "device/cpu/thread_pool.h"
#include "device/device.h"

namespace hone::device::cpu {

// Binds an export of an executable and its grid to a pool. Executable and pool must outlive it.
class Dispatch {
 public:
  // A failure when the export is missing or needs other constants, more local memory, or a larger
  // grid than the interface can state.
  static Result<Dispatch> create(ThreadPool& pool, const Executable& executable,
                                 const LaunchParameters& parameters);

  // Calls every workgroup once, x fastest. One thread does so in a plain loop. Several threads take
  // workgroups from a counter: eight at a time if every thread gets at least eight, else one.
  // IREE's own local-task driver does the same (iree-org/iree,
  // runtime/src/iree/hal/drivers/local_task/block_processor.c at b48a595). So a candidate with few
  // or uneven workgroups loses here what it loses there. Denormal numbers are flushed to zero
  // meanwhile, as IREE's drivers do. Fails if the number of bindings is not the export's, or if the
  // kernel returns an error.
  Status launch(std::span<const Buffer> bindings);

 private:
  Dispatch() = default;
  Status check(int error) const;

  ThreadPool* pool_ = nullptr;
  const Executable* executable_ = nullptr;
  const Export* entry_ = nullptr;
  abi::DispatchFunction function_ = nullptr;
  std::array<std::uint32_t, 3> grid_{1, 1, 1};
  std::uint32_t per_reservation_ = 1;  // workgroups a thread takes at once
  std::vector<std::uint32_t> constants_;
  std::vector<problem::KernelBinding> bindings_;
  std::vector<void*> pointers_;
  std::vector<std::size_t> lengths_;
  abi::DispatchState state_{};
  // Scratch of one workgroup per thread, page aligned.
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::vector<std::unique_ptr<std::byte, Free>> local_memory_;
};

}  // namespace hone::device::cpu
