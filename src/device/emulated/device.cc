#include "device/emulated/device.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "device/emulated/kind.h"
#include "device/launch_values.h"
#include "emulator/code_object.h"
#include "emulator/launch.h"
#include "emulator/memory.h"
#include "problem/code_target.h"

namespace hone::device::emulated {
namespace {

constexpr std::size_t kPageBytes = 4096;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// Memory that kernels may access, by address.
class Allocations {
 public:
  emulator::Memory& memory() { return memory_; }

  // Aligned as a GPU's are. Null if the host has no more.
  void* allocate(std::size_t bytes) {
    const std::size_t pages = (std::max<std::size_t>(bytes, 1) + kPageBytes - 1) / kPageBytes;
    Block block(std::aligned_alloc(kPageBytes, pages * kPageBytes));
    void* const begin = block.get();
    if (begin == nullptr) return nullptr;
    memory_.add(begin, bytes);
    blocks_.emplace(begin, std::move(block));
    return begin;
  }
  void release(void* begin) {
    memory_.remove(begin);
    blocks_.erase(begin);
  }

 private:
  struct Free {
    void operator()(void* begin) const { std::free(begin); }
  };
  using Block = std::unique_ptr<void, Free>;

  emulator::Memory memory_;
  std::map<void*, Block> blocks_;
};

// State of a device that its kernels share.
struct Shared {
  Allocations allocations;
  bool is_lost = false;
};

// Kernels that run one after the other as one.
class EmulatedKernel : public Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> load(std::shared_ptr<Shared> device, std::string_view code,
                                              const LaunchParameters& parameters) {
    auto kernel =
        std::unique_ptr<EmulatedKernel>(new EmulatedKernel(std::move(device), parameters));
    const std::vector<problem::KernelPart> parts = problem::kernels_of(kernel->parameters_, code);
    HONE_TRY(kernel->take_scratch(parts));
    for (const problem::KernelPart& part : parts) HONE_TRY(kernel->add(part));
    return kernel;
  }
  ~EmulatedKernel() override {
    if (scratch_ != nullptr) device_->allocations.release(scratch_);
  }
  EmulatedKernel(const EmulatedKernel&) = delete;
  EmulatedKernel& operator=(const EmulatedKernel&) = delete;

  Status launch(std::span<const Buffer> bindings) override {
    emulator::LaunchOptions options;
    options.faults_beyond_local = false;
    if (launches_++ % 2 != 0) options.order = emulator::WaveOrder::kReversed;
    for (const std::unique_ptr<Part>& part : parts_) HONE_TRY(launch(*part, bindings, options));
    return {};
  }

 private:
  struct Part {
    Part(emulator::CodeObject object, const problem::Launch& launch, std::uint64_t scratch)
        : code(std::move(object)), parameters(launch), values(launch, scratch) {}
    emulator::CodeObject code;
    const emulator::Kernel* kernel = nullptr;
    const problem::Launch& parameters;
    LaunchValues values;
  };

  EmulatedKernel(std::shared_ptr<Shared> device, const LaunchParameters& parameters)
      : device_(std::move(device)), parameters_(parameters) {}

  Status take_scratch(const std::vector<problem::KernelPart>& parts) {
    std::int64_t bytes = 0;
    for (const problem::KernelPart& part : parts)
      bytes = std::max(bytes, part.launch->scratch_bytes);
    if (bytes <= 0) return {};
    scratch_ = device_->allocations.allocate(static_cast<std::size_t>(bytes));
    if (scratch_ == nullptr) return environment_error("no memory for {} bytes of scratch", bytes);
    std::memset(scratch_, 0, static_cast<std::size_t>(bytes));
    return {};
  }

  Status add(const problem::KernelPart& part) {
    HONE_TRY(problem::check_code_target(part.code, kTarget));
    if (!part.launch->own_memory.empty())
      return environment_error("the emulator does not guard a kernel's own memory");
    Result<emulator::CodeObject> code = emulator::read_code_object(bytes_of(part.code));
    if (!code)
      return environment_error("the emulator cannot read the code: {}", code.error().message);
    const std::string& entry = part.launch->entry;
    auto loaded = std::make_unique<Part>(std::move(*code), *part.launch,
                                         reinterpret_cast<std::uintptr_t>(scratch_));
    loaded->kernel = loaded->code.kernel(entry);
    if (loaded->kernel == nullptr) return failure("the code has no kernel '{}'", entry);
    parts_.push_back(std::move(loaded));
    return {};
  }

  Status launch(Part& part, std::span<const Buffer> bindings,
                const emulator::LaunchOptions& options) {
    HONE_ASSIGN(const std::span<void*> values, part.values.of(bindings));
    std::vector<std::byte> arguments(part.kernel->argument_bytes);
    std::size_t next = 0;
    for (const emulator::KernelArgument& argument : part.kernel->arguments) {
      if (argument.is_hidden()) continue;
      if (next == values.size())
        return failure("the launch has {} arguments, kernel {} takes more", values.size(),
                       part.kernel->name);
      // A larger argument than a value has would be a structure.
      const std::size_t size = std::min<std::size_t>(argument.size, sizeof(std::uint64_t));
      if (argument.offset + size <= arguments.size())
        std::memcpy(arguments.data() + argument.offset, values[next], size);
      ++next;
    }
    const emulator::LaunchSizes sizes{part.parameters.grid, part.parameters.block,
                                      part.parameters.shared_bytes};
    const auto ran = emulator::launch(part.code, *part.kernel, sizes, arguments,
                                      device_->allocations.memory(), options);
    return ran ? Status() : told(ran.error());
  }

  Status told(const emulator::Fault& fault) {
    using enum emulator::FaultKind;
    if (fault.kind == kUnknownInstruction || fault.kind == kInstructionLimit)
      return environment_error("{}", fault.words);
    device_->is_lost = fault.kind != kBadLaunch;
    return failure("{}", fault.words);
  }

  std::shared_ptr<Shared> device_;
  LaunchParameters parameters_;
  std::vector<std::unique_ptr<Part>> parts_;
  void* scratch_ = nullptr;
  std::uint64_t launches_ = 0;
};

class EmulatedDevice : public Device {
 public:
  std::string_view kind() const override { return kKind; }
  int threads() const override { return 1; }
  bool is_lost() const override { return shared_->is_lost; }

  Result<std::unique_ptr<Kernel>> load(std::string_view format, std::string_view code,
                                       const LaunchParameters& parameters) override {
    if (format.find("hsaco") == std::string_view::npos)
      return failure("the emulator runs code objects of {}, not '{}'", kTarget, format);
    return EmulatedKernel::load(shared_, code, parameters);
  }

  Result<BatchTime> time(Kernel&, std::span<const std::vector<Buffer>>, std::size_t,
                         std::size_t) override {
    return failure("the emulator has no clock: it verifies, and times nothing");
  }

  bool has_own_memory() const override { return true; }
  Result<void*> allocate(std::size_t bytes) override {
    void* const begin = shared_->allocations.allocate(bytes);
    if (begin == nullptr) return failure("the host has no {} bytes of memory", bytes);
    return begin;
  }
  void release(void* memory) override { shared_->allocations.release(memory); }
  Status upload(void* to, std::span<const std::byte> from) override {
    return copy(to, from.data(), from.size());
  }
  Status download(std::span<std::byte> to, const void* from) override {
    return copy(to.data(), from, to.size());
  }
  // Ranges may overlap.
  Status copy(void* to, const void* from, std::size_t bytes) override {
    if (bytes > 0) std::memmove(to, from, bytes);
    return {};
  }

  Peak measure_peak() override { return {}; }
  MachineState machine_state() override { return {}; }
  MachineState detailed_machine_state() override { return {}; }
  std::unique_ptr<Kernel> calibration_kernel() override { return nullptr; }

 private:
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace

std::unique_ptr<Device> make_device() {
  return std::make_unique<EmulatedDevice>();
}

}  // namespace hone::device::emulated
