// A launch: every workgroup of a grid, called once.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "device/cpu/executable.h"
#include "device/cpu/thread_pool.h"
#include "device/device.h"

namespace hone::device::cpu {

// One export of an executable with its grid, bound to a pool. Executable and pool must outlive it.
class Dispatch {
 public:
  // A failure when the export is missing or needs other constants, more local memory, or a larger
  // grid than the interface can state.
  static Result<Dispatch> create(ThreadPool& pool, const Executable& executable,
                                 const LaunchParameters& parameters);

  // Calls every workgroup once, x fastest. With one thread in a plain loop. With more, threads
  // take workgroups from a counter, one at a time or eight where every thread gets at least eight:
  // what IREE's own local-task driver does (iree-org/iree,
  // runtime/src/iree/hal/drivers/local_task/block_processor.c at b48a595), so that a candidate
  // with few or uneven workgroups loses here what it loses there. Denormal numbers are flushed to
  // zero meanwhile, as IREE's drivers do. A failure when the number of bindings is not the
  // export's or the kernel returns an error.
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
