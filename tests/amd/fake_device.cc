#include "tests/amd/fake_device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

namespace hone::fake_hip {
namespace {

// Times where the script says none: a start, and a fixed rate of wave instructions. They order
// kernels by their work.
constexpr double kLaunchMicroseconds = 2;
constexpr double kMicrosecondsOfInstruction = 1e-3;
constexpr double kCopiedBytesOfMicrosecond = 1e6;

constexpr std::size_t kPageBytes = 4096;

// Benchmarks fill and copy gigabytes. From this size on, fills map the same pages again and again,
// and copies leave alone what is equal already: the host has neither the memory nor the time for
// more.
constexpr std::size_t kLargeBytes = std::size_t{2} << 20;

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && std::string_view(value) != "0" && *value != '\0';
}

void fill_bytes(std::byte* at, std::uint32_t value, std::size_t width, std::size_t bytes) {
  if (width == 1) {
    std::memset(at, static_cast<int>(value), bytes);
    return;
  }
  for (std::size_t offset = 0; offset < bytes; offset += width)
    std::memcpy(at + offset, &value, width);
}

// Fills whole blocks of kLargeBytes from the first page on by mapping one filled block. Returns the
// bytes that it filled; 0 where the system refuses.
std::size_t fill_by_mapping(std::byte* at, std::uint32_t value, std::size_t width,
                            std::size_t bytes) {
  const int block = memfd_create("filled", MFD_CLOEXEC);
  if (block < 0) return 0;
  std::size_t filled = 0;
  void* content = MAP_FAILED;
  if (ftruncate(block, kLargeBytes) == 0) {
    content = mmap(nullptr, kLargeBytes, PROT_READ | PROT_WRITE, MAP_SHARED, block, 0);
  }
  if (content != MAP_FAILED) {
    fill_bytes(static_cast<std::byte*>(content), value, width, kLargeBytes);
    for (; filled + kLargeBytes <= bytes; filled += kLargeBytes) {
      if (mmap(at + filled, kLargeBytes, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, block, 0) == MAP_FAILED) {
        break;
      }
    }
    munmap(content, kLargeBytes);
  }
  close(block);
  return filled;
}

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes < kLargeBytes) {
    std::memmove(to, from, bytes);
    return;
  }
  // In the order that overlapping ranges need.
  constexpr std::size_t kBlock = 64 << 10;
  const std::size_t blocks = (bytes + kBlock - 1) / kBlock;
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t offset = (to <= from ? i : blocks - 1 - i) * kBlock;
    const std::size_t size = std::min(kBlock, bytes - offset);
    if (std::memcmp(to + offset, from + offset, size) != 0)
      std::memmove(to + offset, from + offset, size);
  }
}

void say(const std::string& line) {
  std::fprintf(stderr, "%s\n", line.c_str());
}

}  // namespace

FakeDevice& FakeDevice::get() {
  static auto* device = new FakeDevice;  // threads of callers may outlive static objects
  return *device;
}

FakeDevice::FakeDevice() {
  traces_ = is_set("HONE_FAKE_HIP_TRACE");
  returns_faults_ = is_set("HIP_SKIP_ABORT_ON_GPU_ERROR");
  in_turn_ = is_set("HONE_FAKE_HIP_IN_TURN");
  options_.finds_races = is_set("HONE_FAKE_HIP_RACES");
  options_.most_wave_instructions = 2'000'000'000;
  if (const char* limit = std::getenv("HONE_FAKE_HIP_INSTRUCTIONS")) {
    options_.most_wave_instructions = std::strtoull(limit, nullptr, 10);
  }
  if (const char* path = std::getenv("HONE_FAKE_HIP_TIMES")) {
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
      std::istringstream words(line);
      ScriptLine entry;
      std::string outcome;
      if (!(words >> entry.pattern >> outcome) || entry.pattern.starts_with('#')) continue;
      if (outcome == "hang") entry.outcome = Outcome::kHang;
      if (outcome == "lost") entry.outcome = Outcome::kLost;
      if (outcome == "skip") entry.outcome = Outcome::kSkip;
      entry.microseconds = std::strtod(outcome.c_str(), nullptr);
      script_.push_back(entry);
    }
  }
}

const FakeDevice::ScriptLine* FakeDevice::scripted(const std::string& kernel,
                                                   const emulator::LaunchSizes& sizes) const {
  const auto& groups = sizes.groups;
  const std::string launch = kernel + '@' + std::to_string(groups[0] * groups[1] * groups[2]);
  for (const ScriptLine& line : script_) {
    const std::string& text = line.pattern.find('@') == std::string::npos ? kernel : launch;
    if (fnmatch(line.pattern.c_str(), text.c_str(), 0) == 0) return &line;
  }
  return nullptr;
}

bool FakeDevice::is_allocated(const void* pointer, std::size_t bytes) const {
  return memory_.find(reinterpret_cast<std::uintptr_t>(pointer), bytes) != nullptr;
}

Error FakeDevice::allocate(void** pointer, std::size_t bytes, bool host) {
  const std::lock_guard lock(mutex_);
  ++version_;
  host_writes_ = host_writes_ || host;
  if (sticky_ != kSuccess) return sticky_;
  bytes = std::max<std::size_t>(bytes, 1);
  const std::size_t mapped = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  if (mapped < bytes || used_ + mapped > kMemoryBytes) return kOutOfMemory;
  void* at = mmap(nullptr, mapped + kPageBytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return kOutOfMemory;
  // A page that nobody owns lies between two allocations.
  mprotect(static_cast<std::byte*>(at) + mapped, kPageBytes, PROT_NONE);
  allocations_[at] = mapped;
  used_ += mapped;
  memory_.add(at, bytes);
  *pointer = at;
  return kSuccess;
}

Error FakeDevice::release(void* pointer) {
  const std::lock_guard lock(mutex_);
  ++version_;
  if (pointer == nullptr) return kSuccess;
  const auto found = allocations_.find(pointer);
  if (found == allocations_.end()) return kInvalidValue;
  memory_.remove(pointer);
  munmap(pointer, found->second + kPageBytes);
  used_ -= found->second;
  allocations_.erase(found);
  return sticky_;
}

Error FakeDevice::register_host(void* pointer, std::size_t bytes, bool add) {
  const std::lock_guard lock(mutex_);
  if (add) {
    host_writes_ = true;
    memory_.add(pointer, bytes);
    return kSuccess;
  }
  return memory_.remove(pointer) ? kSuccess : kInvalidValue;
}

std::size_t FakeDevice::used_bytes() {
  const std::lock_guard lock(mutex_);
  return used_;
}

Error FakeDevice::copy(void* to, const void* from, std::size_t bytes, bool device_to,
                       bool device_from) {
  if (const Error waited = synchronize(); waited != kSuccess) return waited;
  const std::lock_guard lock(mutex_);
  if (bytes == 0) return kSuccess;
  if (device_to && !is_allocated(to, bytes)) return kInvalidValue;
  if (device_from && !is_allocated(from, bytes)) return kInvalidValue;
  if (device_to || !device_from) ++version_;
  copy_bytes(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes);
  clock_ += static_cast<double>(bytes) / kCopiedBytesOfMicrosecond;
  return kSuccess;
}

Error FakeDevice::fill(void* to, std::uint32_t value, std::size_t bytes, std::size_t count) {
  const std::lock_guard lock(mutex_);
  if (sticky_ != kSuccess) return sticky_;
  if (count == 0) return kSuccess;
  if (!is_allocated(to, bytes * count)) return kInvalidValue;
  ++version_;
  auto* at = static_cast<std::byte*>(to);
  const bool whole_pages =
      reinterpret_cast<std::uintptr_t>(to) % kPageBytes == 0 && allocations_.contains(to);
  const std::size_t mapped = whole_pages ? fill_by_mapping(at, value, bytes, bytes * count) : 0;
  fill_bytes(at + mapped, value, bytes, bytes * count - mapped);
  clock_ += static_cast<double>(bytes * count) / kCopiedBytesOfMicrosecond;
  return kSuccess;
}

Error FakeDevice::load(std::unique_ptr<Module>& module, const void* image) {
  {
    const std::lock_guard lock(mutex_);
    if (sticky_ != kSuccess) return sticky_;
  }
  const std::size_t bytes = emulator::code_object_bytes(image);
  if (bytes == 0) return kInvalidImage;
  const std::span file(static_cast<const std::byte*>(image), bytes);
  if (!emulator::is_gfx942(file)) return kNoBinaryForGpu;
  Result<emulator::CodeObject> code = emulator::read_code_object(file);
  if (!code) {
    say(code.error().message);
    return kInvalidImage;
  }
  module = std::make_unique<Module>(Module{std::move(*code)});
  const std::lock_guard lock(mutex_);
  memory_.add(module->code.image().data(), module->code.image().size());
  return kSuccess;
}

void FakeDevice::unload(Module* module) {
  const std::lock_guard lock(mutex_);
  memory_.remove(module->code.image().data());
}

Error FakeDevice::variable(const Module& module, const char* name, void** pointer,
                           std::size_t* bytes) {
  const auto symbol = module.code.variable(name);
  if (!symbol) return kNotFound;
  if (pointer != nullptr) *pointer = reinterpret_cast<void*>(module.code.base() + symbol->address);
  if (bytes != nullptr) *bytes = symbol->bytes;
  return kSuccess;
}

Error FakeDevice::launch(Function& function, const emulator::LaunchSizes& sizes,
                         std::span<const std::byte> arguments) {
  const std::lock_guard lock(mutex_);
  if (sticky_ != kSuccess) return sticky_;
  if (hung_) return kSuccess;  // enqueued behind what never ends
  const emulator::Kernel& kernel = *function.kernel;
  const ScriptLine* line = scripted(kernel.name, sizes);
  if (line != nullptr && line->outcome == Outcome::kHang) {
    hung_ = true;
    return kSuccess;
  }
  if (line != nullptr && line->outcome == Outcome::kSkip) return kSuccess;
  if (line != nullptr && line->outcome == Outcome::kLost) {
    sticky_ = kUnknown;
    return kSuccess;  // found out by the next call
  }
  const std::string key =
      fmt::format("{} {} {} {} ", static_cast<const void*>(&function), fmt::join(sizes.groups, ","),
                  fmt::join(sizes.threads, ","), sizes.dynamic_local_bytes)
          .append(reinterpret_cast<const char*>(arguments.data()), arguments.size());
  const auto start = std::chrono::steady_clock::now();
  const auto settled = settled_.find(key);
  std::uint64_t wave_instructions = 0;
  if (settled != settled_.end() && settled->second.version == version_ && !host_writes_) {
    wave_instructions = settled->second.wave_instructions;
  } else {
    const bool again = function.launches++ % 2 != 0;
    options_.order = in_turn_ ? emulator::WaveOrder::kInTurn
                     : again  ? emulator::WaveOrder::kReversed
                              : emulator::WaveOrder::kForward;
    const auto ran =
        emulator::launch(function.module->code, kernel, sizes, arguments, memory_, options_);
    if (!ran) return failed(kernel, ran.error());
    wave_instructions = ran->wave_instructions;
    if (ran->changed_memory) ++version_;
    settled_.erase(key);
    if (!ran->changed_memory) settled_[key] = {version_, wave_instructions};
  }
  clock_ += line != nullptr ? line->microseconds
                            : kLaunchMicroseconds + kMicrosecondsOfInstruction *
                                                        static_cast<double>(wave_instructions);
  if (traces_) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    say(fmt::format(
        "fake hip: {} grid {},{},{} block {},{},{} lds {}+{}: {} wave instructions, {:.3f} s",
        kernel.name, sizes.groups[0], sizes.groups[1], sizes.groups[2], sizes.threads[0],
        sizes.threads[1], sizes.threads[2], kernel.local_bytes, sizes.dynamic_local_bytes,
        wave_instructions, took.count()));
  }
  return kSuccess;
}

Error FakeDevice::failed(const emulator::Kernel& kernel, const emulator::Fault& fault) {
  using emulator::FaultKind;
  if (fault.kind == FaultKind::kBadLaunch) {
    say(fault.words);
    return kInvalidConfiguration;
  }
  if (fault.kind == FaultKind::kInstructionLimit) {
    if (traces_) say(fmt::format("fake hip: {}: {}", kernel.name, fault.words));
    hung_ = true;
    return kSuccess;
  }
  say(fault.words);
  if (fault.kind == FaultKind::kMemory) {
    if (!returns_faults_) std::abort();
    sticky_ = kIllegalAddress;
  } else {
    sticky_ = kLaunchFailure;
  }
  return kSuccess;  // launches are asynchronous: the next call tells
}

void FakeDevice::record(Event& event) {
  const std::lock_guard lock(mutex_);
  event.microseconds = clock_;
  event.recorded = true;
  event.done = !hung_;
}

Error FakeDevice::state() {
  const std::lock_guard lock(mutex_);
  return sticky_;
}

bool FakeDevice::is_hung() {
  const std::lock_guard lock(mutex_);
  return hung_;
}

Error FakeDevice::synchronize() {
  while (is_hung()) std::this_thread::sleep_for(std::chrono::seconds(1));
  return state();
}

}  // namespace hone::fake_hip
