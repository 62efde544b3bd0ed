// The device behind the fake HIP library: memory, modules, a clock and a script, over the emulator
// of gfx942.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emulator/code_object.h"
#include "emulator/launch.h"
#include "emulator/memory.h"

namespace hone::fake_hip {

// The values of hipError_t that the library gives.
enum Error : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kInvalidConfiguration = 9,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kNoBinaryForGpu = 209,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchFailure = 719,
  kNotSupported = 801,
  kUnknown = 999,
};

constexpr const char* kDeviceName = "emulated gfx942 (no GPU)";
constexpr const char* kArchitecture = "gfx942:sramecc+:xnack-";
constexpr std::size_t kMemoryBytes = std::size_t{16} << 30;

struct Module {
  emulator::CodeObject code;
};
struct Function {
  const Module* module;
  const emulator::Kernel* kernel;
  std::uint64_t launches = 0;  // every second one runs the waves in reversed order
};

// A point of the device's clock; `done` is false for one behind a hang.
struct Event {
  double microseconds = 0;
  bool recorded = false;
  bool done = true;
};

// All of it behind one mutex. Work is done when it is enqueued, so streams have no state.
class FakeDevice {
 public:
  // The only device of the process, made at its first use and never destroyed.
  static FakeDevice& get();

  // Memory of the device, or of the host where `host` says so: the host then writes it unseen.
  Error allocate(void** pointer, std::size_t bytes, bool host = false);
  Error release(void* pointer);
  // Memory of the host that kernels may access: hipHostRegister.
  Error register_host(void* pointer, std::size_t bytes, bool add);
  // Copies; `device_to` and `device_from` say which sides must be allocations.
  Error copy(void* to, const void* from, std::size_t bytes, bool device_to, bool device_from);
  // Fills with `count` values of `bytes` bytes each.
  Error fill(void* to, std::uint32_t value, std::size_t bytes, std::size_t count);
  std::size_t used_bytes();

  Error load(std::unique_ptr<Module>& module, const void* image);
  void unload(Module* module);
  Error variable(const Module& module, const char* name, void** pointer, std::size_t* bytes);
  Error launch(Function& function, const emulator::LaunchSizes& sizes,
               std::span<const std::byte> arguments);

  void record(Event& event);
  // Success, not ready behind a hang, or what went wrong with the device.
  Error state();
  // Waits for the end of all work: does not return after a hang.
  Error synchronize();
  bool is_hung();

 private:
  FakeDevice();

  // A line of the script: what happens to launches of matching kernels. A skipped one takes no time
  // and writes nothing.
  enum class Outcome { kTime, kHang, kLost, kSkip };
  struct ScriptLine {
    std::string pattern;  // as for fnmatch(3), of a kernel or of KERNEL@WORKGROUPS
    Outcome outcome = Outcome::kTime;
    double microseconds = 0;
  };
  const ScriptLine* scripted(const std::string& kernel, const emulator::LaunchSizes& sizes) const;
  // A launch that changed no byte does nothing on the same memory: benchmarks repeat launches a
  // thousand times.
  struct Settled {
    std::uint64_t version = 0;  // of the memory
    std::uint64_t wave_instructions = 0;
  };
  Error failed(const emulator::Kernel& kernel, const emulator::Fault& fault);
  bool is_allocated(const void* pointer, std::size_t bytes) const;

  std::mutex mutex_;
  emulator::Memory memory_;
  std::map<const void*, std::size_t> allocations_;  // mapped bytes
  std::size_t used_ = 0;
  std::vector<ScriptLine> script_;
  emulator::LaunchOptions options_;
  std::map<std::string, Settled> settled_;  // by kernel, sizes and arguments
  std::uint64_t version_ = 0;               // counts changes of memory
  bool host_writes_ = false;                // unseen: nothing is settled
  bool in_turn_ = false;
  bool traces_ = false;
  bool returns_faults_ = false;  // HIP_SKIP_ABORT_ON_GPU_ERROR
  double clock_ = 0;             // microseconds
  Error sticky_ = kSuccess;      // after a fault every call fails, as on a GPU
  bool hung_ = false;
};

}  // namespace hone::fake_hip
