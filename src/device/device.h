// The Device seam: loads, launches and times kernels. A Device is a set of compute resources that
// hone holds alone while it measures: some cores of a CPU, one GPU. DeviceKind opens and leases it.
#pragma once

#include <time.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/json_fields.h"
#include "base/result.h"
#include "device/machine_state.h"
#include "device/place.h"
#include "problem/launch.h"
#include "problem/types.h"

namespace hone::device {

// The clock that kernels are timed with. Seconds since some moment, at the rate of the hardware:
// nothing adjusts it while it runs.
inline double raw_seconds() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Memory that is bound to a kernel; the device does not own it.
struct Buffer {
  void* data = nullptr;  // an address of the device, where that has memory of its own
  std::size_t bytes = 0;
};

using LaunchParameters = problem::Launch;

// Returns the memory of the kernel's binding `ordinal` in a launch over `buffers`, given
// Launch::bindings; null if no buffer holds it.
Buffer bound_buffer(std::span<const problem::KernelBinding> bindings, std::size_t ordinal,
                    std::span<const Buffer> buffers);

// Code that is ready to run. Lives no longer than its device.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Runs every workgroup once over `bindings` (in ordinal order) and waits for the end. A failure
  // when the kernel itself reports an error, an environment error when the device cannot judge the
  // kernel (an emulator's limits). One launch at a time on one device.
  virtual Status launch(std::span<const Buffer> bindings) = 0;
  // Describes what its launches have written beside its own memory (problem::OwnMemory) since it
  // was loaded; empty: nothing.
  virtual Result<std::string> damage() { return std::string(); }
  // Whether it runs on the device's own threads; a library's kernel may bring its own.
  virtual bool uses_device_threads() const { return true; }
};

// Duration of a batch of launches.
struct BatchTime {
  double seconds = 0;             // wall time of the whole batch
  double cpu_seconds = 0;         // least processor time any thread of the device got meanwhile
  long involuntary_switches = 0;  // times the operating system took the core from the main thread
  // The device was not hone's alone meanwhile (preemption): the time is unreliable.
  bool disturbed = false;
};

// The most the device was seen to do.
struct Peak {
  double gflops = 0;         // f32 multiply-add throughput of all its cores together, GFLOP/s
  double matrix_gflops = 0;  // of matrix instructions on f16, adding up in f32; 0: none known
  // matrix_gflops as the maker states it, of which a compiler may reach less; 0: none known.
  double stated_matrix_gflops = 0;
  double gbytes_per_second = 0;  // memory bandwidth, triad, all cores together; 0: unknown
  std::string instructions;      // what reached it: "avx512f"
  int threads = 1;

  static void fields(auto& peak, auto&& field) {
    field("gflops", peak.gflops);
    field.or_default("matrix_gflops", peak.matrix_gflops);
    field.or_default("stated_matrix_gflops", peak.stated_matrix_gflops);
    field("gbytes_per_second", peak.gbytes_per_second);
    field("instructions", peak.instructions);
    field("threads", peak.threads);
  }
};

// Differences between elements in the device's memory and their expected values.
struct Difference {
  bool right = false;         // all within the tolerance, and none of them NaN
  double worst_error = 0;     // largest |got - expected|
  double worst_relative = 0;  // largest |got - expected| / |expected| where that is not 0
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view kind() const = 0;  // "cpu", "cuda", "emulated"
  virtual int threads() const = 0;            // that share a launch

  // Loads `code` of `format` ("embedded-elf-x86_64", "ptx", "cubin"). A failure names the fault if
  // it does not load, has another interface version, or lacks the requested export. An environment
  // error as for Kernel::launch().
  virtual Result<std::unique_ptr<Kernel>> load(std::string_view format, std::string_view code,
                                               const LaunchParameters& parameters) = 0;

  // Launches `kernel` `launches` times back to back; launch i uses
  // rotation[(first + i) % rotation.size()].
  virtual Result<BatchTime> time(Kernel& kernel, std::span<const std::vector<Buffer>> rotation,
                                 std::size_t first, std::size_t launches) = 0;

  // Memory of the device's own. A device that works in the host's memory, as a CPU does, has none;
  // these calls are not for it. Failures are in the driver's words: no memory left, or an earlier
  // kernel's illegal access.
  virtual bool has_own_memory() const { return false; }
  virtual std::int64_t free_memory() { return 0; }             // bytes
  virtual std::int64_t last_level_cache() const { return 0; }  // bytes; 0: not known
  virtual Result<void*> allocate(std::size_t bytes);
  virtual void release(void* memory);
  virtual Status upload(void* to, std::span<const std::byte> from);
  virtual Status download(std::span<std::byte> to, const void* from);
  // Copies within the device; done before the next launch, maybe after this returns.
  virtual Status copy(void* to, const void* from, std::size_t bytes);
  // Compares `count` dense elements of two arrays in the device's memory as measure::compare does,
  // so that correct outputs need not be fetched. Returns nullopt if the device cannot; the host
  // then compares.
  virtual Result<std::optional<Difference>> difference(const void* got, const void* expected,
                                                       problem::ElementType type,
                                                       std::int64_t count, double absolute,
                                                       double relative);

  // Seconds in which kernels under verification or measurement ran, comparing their outputs
  // included, since the device was opened. 0: not counted.
  virtual double busy_seconds() const { return 0; }

  // A kernel has left the device unusable for this process (an illegal access on a GPU): every call
  // fails, and only another process can go on.
  virtual bool is_lost() const { return false; }

  // Moves the memory that the device itself gives a kernel (the threads' stacks on a CPU), at
  // random by `seed`. A kernel's time depends on where its arrays lie relative to one another.
  virtual void vary_placement(std::uint64_t seed) { static_cast<void>(seed); }

  // Measures the peak (below 0.3 s).
  virtual Peak measure_peak() = 0;
  virtual MachineState machine_state() = 0;
  // Returns machine_state() and the processes that use the device's resources; takes milliseconds.
  virtual MachineState detailed_machine_state() = 0;
  // Kernel without bindings that does the same work at every launch (about 0.1 ms), as kernels do:
  // arithmetic and cache accesses on every thread. The spread of its times is the machine's noise.
  virtual std::unique_ptr<Kernel> calibration_kernel() = 0;
};

// Memory of a device's own, given back with its owner. Must not outlive its device.
class Memory {
 public:
  Memory() = default;
  static Result<Memory> allocate(Device& device, std::size_t bytes) {
    HONE_ASSIGN(void* const data, device.allocate(bytes));
    Memory memory;
    memory.device_ = &device;
    memory.data_ = static_cast<std::byte*>(data);
    memory.bytes_ = bytes;
    return memory;
  }
  Memory(Memory&& other) noexcept { swap(other); }
  Memory& operator=(Memory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Memory() {
    if (data_ != nullptr) device_->release(data_);
  }

  std::byte* data() const { return data_; }  // an address of the device
  std::size_t bytes() const { return bytes_; }

 private:
  void swap(Memory& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }
  Device* device_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// $XDG_RUNTIME_DIR/hone, or /tmp/hone-<uid>.
std::filesystem::path lock_folder();
// Makes the folder; an environment error if something else has its name.
Status make_lock_folder(const std::filesystem::path& folder);

// A lock that keeps hone processes of one user apart, with one file per locked resource: a core, a
// GPU. flock() holds it, so it ends with the object or with the process, however that dies.
class LockFile {
 public:
  // Takes the lock of `name` ("core-3") in an existing folder, waiting until `deadline` while
  // another process has it. After that, an environment error names the holder: "core 3 is leased by
  // process 17, which measures on it; wait for it, or give this run other cores". There, `thing` is
  // "core 3" and `others` "other cores".
  static Result<LockFile> acquire(const std::filesystem::path& folder, std::string_view name,
                                  const std::string& thing, std::string_view others,
                                  std::chrono::steady_clock::time_point deadline);

 private:
  explicit LockFile(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

// A kind of devices, registered by one line of session/registry.cc.
struct DeviceKind {
  // Device::kind() of its devices, Address::kind of its places, and the word of --device.
  std::string name;

  // Whether its devices run code compiled for `target` (--target): "host", "znver4", "sm_90".
  std::function<bool(const std::string& target)> runs = {};

  // The places of this kind on this machine, by index; `cores` are the cores of their addresses
  // (empty: all that the process may use). It may open the kind's driver, so it is called only in a
  // process started for that. Environment errors if the driver is missing, too old or finds no
  // device.
  std::function<Result<std::vector<Place>>(const std::vector<int>& cores)> places = {};

  // Opens the device for a runner: in a process that forks no more, one thread. It may wait seconds
  // for another process to release it. Input errors for a device that does not exist, environment
  // errors for one that is not available.
  std::function<Result<std::unique_ptr<Device>>(const Address& address)> open = {};

  // Leases the place exclusively among the hone processes of this machine, for a command, before it
  // starts anything: a refused command must not disturb a measuring one. It opens no driver. An
  // environment error that names the process that holds the lease.
  std::function<Result<std::vector<LockFile>>(const Place& place)> lease = {};
};

}  // namespace hone::device
