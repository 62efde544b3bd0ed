// libamdhip64.so without a GPU: the calls of HIP 7 that IREE's runtime and hone make, over
// FakeDevice.
//
// Environment (docs/emulator.md):
// - HONE_FAKE_HIP_TIMES=FILE: lines "KERNEL[@WORKGROUPS] MICROSECONDS", "... hang" or "... lost";
// - HONE_FAKE_HIP_INSTRUCTIONS=N: wave instructions after which a launch is a hang [2000000000];
// - HONE_FAKE_HIP_TRACE=1: a line on stderr for each launch;
// - HONE_FAKE_HIP_IN_TURN=1: waves run an instruction each in turn. Another result tells of a race;
// - HONE_FAKE_HIP_RACES=1: a race in local memory fails the launch, with words;
// - HONE_FAKE_HIP_UUID=WORD: up to 16 bytes of the device's UUID, for a lease of its own;
// - HIP_SKIP_ABORT_ON_GPU_ERROR=1: a memory fault is error 700 and no abort, as in HIP 7.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "tests/amd/fake_device.h"

#define HIP extern "C" __attribute__((visibility("default")))

namespace {

using namespace hone::fake_hip;
using hone::emulator::LaunchSizes;

// hipGetLastError: the last error of the thread.
thread_local int last_error = kSuccess;

int result(Error error) {
  if (error != kSuccess) last_error = error;
  return error;
}

FakeDevice& device() {
  return FakeDevice::get();
}

// Host functions run in their order on a thread of their own, as HIP's callback thread does.
class HostFunctions {
 public:
  static HostFunctions& get() {
    static auto* functions = new HostFunctions;
    return *functions;
  }
  void add(std::function<void()> function) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(function));
    changed_.notify_one();
  }

 private:
  HostFunctions() {
    std::thread([this] { serve(); }).detach();
  }
  void serve() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !waiting_.empty(); });
      const std::function<void()> function = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      function();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
};

// The numbers of hipDeviceAttribute_t, the same in HIP 5, 6 and 7; values of an MI300X, but for the
// one that HONE_FAKE_HIP_ATTRIBUTE=NUMBER:VALUE states.
int attribute_value(int attribute) {
  if (const char* stated = std::getenv("HONE_FAKE_HIP_ATTRIBUTE")) {
    char* end = nullptr;
    if (std::strtol(stated, &end, 10) == attribute && *end == ':') return std::atoi(end + 1);
  }
  switch (attribute) {
    case 5:  // ClockRate, kHz
      return 2100000;
    case 19:  // L2CacheSize: of one XCD
      return 4 << 20;
    case 23:  // ComputeCapabilityMajor
      return 9;
    case 61:  // ComputeCapabilityMinor
      return 4;
    case 26:  // MaxBlockDimX, Y, Z
    case 27:
    case 28:
    case 56:  // MaxThreadsPerBlock
      return 1024;
    case 29:  // MaxGridDimX, Y, Z
      return 2147483647;
    case 30:
    case 31:
      return 65535;
    case 59:  // MemoryBusWidth
      return 8192;
    case 60:  // MemoryClockRate, kHz
      return 1300000;
    case 63:     // MultiprocessorCount
    case 10015:  // PhysicalMultiProcessorCount
      return 304;
    case 67:  // PciBusId
      return 0xe5;
    case 74:  // MaxSharedMemoryPerBlock
    case 75:
    case 76:
    case 10002:  // MaxSharedMemoryPerMultiprocessor
      return 65536;
    case 87:  // WarpSize
      return 64;
    case 10017:  // WallClockRate, kHz
      return 100000;
    case 10018:  // NumberOfXccs
      return 8;
    default:
      return 0;
  }
}

template <class T>
void put(char* structure, std::size_t offset, T value) {
  std::memcpy(structure + offset, &value, sizeof value);
}

// Arguments that the metadata does not list are not passed, as in AMD's runtime.
int launch(Function* function, const LaunchSizes& sizes, void** parameters, void** extra) {
  if (extra != nullptr) return result(kNotSupported);
  const hone::emulator::Kernel& kernel = *function->kernel;
  std::vector<std::byte> arguments(kernel.argument_bytes);
  if (parameters != nullptr) {
    std::size_t index = 0;
    for (const auto& argument : kernel.arguments) {
      if (argument.is_hidden()) continue;
      if (argument.offset + argument.size > arguments.size()) return result(kInvalidValue);
      std::memcpy(arguments.data() + argument.offset, parameters[index++], argument.size);
    }
  } else if (!arguments.empty()) {
    return result(kInvalidValue);
  }
  return result(device().launch(*function, sizes, arguments));
}

}  // namespace

// -- start and device --
HIP int hipInit(unsigned) {
  return kSuccess;
}
HIP int hipDriverGetVersion(int* version) {
  return *version = 70253211, kSuccess;
}
HIP int hipRuntimeGetVersion(int* version) {
  return *version = 70253211, kSuccess;
}
HIP int hipGetDeviceCount(int* count) {
  *count = device().state() == kUnknown ? 0 : 1;
  return *count == 1 ? kSuccess : result(kNoDevice);
}
HIP int hipGetDevice(int* number) {
  return *number = 0, kSuccess;
}
HIP int hipDeviceGet(int* handle, int number) {
  return *handle = 0, number == 0 ? kSuccess : result(kInvalidDevice);
}
HIP int hipSetDevice(int number) {
  return number == 0 ? result(device().state()) : result(kInvalidDevice);
}
HIP int hipDeviceGetName(char* name, int bytes, int) {
  std::snprintf(name, static_cast<std::size_t>(bytes), "%s", kDeviceName);
  return kSuccess;
}
HIP int hipDeviceGetUuid(char* uuid, int) {
  const char* given = std::getenv("HONE_FAKE_HIP_UUID");
  std::memset(uuid, 0, 16);
  std::strncpy(uuid, given != nullptr ? given : "emulated-gfx942", 16);
  return kSuccess;
}
HIP int hipDeviceTotalMem(std::size_t* bytes, int) {
  return *bytes = kMemoryBytes, kSuccess;
}
HIP int hipDeviceGetPCIBusId(char* text, int bytes, int) {
  std::snprintf(text, static_cast<std::size_t>(bytes), "0000:e5:00.0");
  return kSuccess;
}
HIP int hipDeviceGetAttribute(int* value, int attribute, int) {
  return *value = attribute_value(attribute), kSuccess;
}
// hipDeviceProp_tR0000 (792 bytes) and hipDeviceProp_tR0600 (1472 bytes): the fields that are asked
// for.
HIP int hipGetDeviceProperties(char* properties, int) {
  std::memset(properties, 0, 792);
  std::strcpy(properties, kDeviceName);
  put(properties, 256, kMemoryBytes);
  put(properties, 264, std::size_t{65536});  // sharedMemPerBlock
  put(properties, 276, 64);                  // warpSize
  put(properties, 280, 1024);                // maxThreadsPerBlock
  for (std::size_t axis = 0; axis < 3; ++axis) put(properties, 284 + 4 * axis, 1024);
  put(properties, 308, attribute_value(5));   // clockRate
  put(properties, 312, attribute_value(60));  // memoryClockRate
  put(properties, 316, attribute_value(59));  // memoryBusWidth
  put(properties, 328, 9);                    // major
  put(properties, 332, 4);                    // minor
  put(properties, 336, 304);                  // multiProcessorCount
  put(properties, 340, attribute_value(19));  // l2CacheSize
  put(properties, 368, attribute_value(67));  // pciBusID
  put(properties, 376, std::size_t{65536});   // maxSharedMemoryPerMultiProcessor
  std::strcpy(properties + 396, kArchitecture);
  return kSuccess;
}
HIP int hipGetDevicePropertiesR0600(char* properties, int) {
  std::memset(properties, 0, 1472);
  std::strcpy(properties, kDeviceName);
  put(properties, 288, kMemoryBytes);
  put(properties, 296, std::size_t{65536});
  put(properties, 308, 64);
  put(properties, 388, 304);
  std::strcpy(properties + 1160, kArchitecture);
  return kSuccess;
}
HIP int hipDeviceSynchronize() {
  return result(device().synchronize());
}
HIP int hipDeviceCanAccessPeer(int* can, int, int) {
  return *can = 0, kSuccess;
}
HIP int hipDeviceEnablePeerAccess(int, unsigned) {
  return kSuccess;
}
HIP int hipDevicePrimaryCtxRetain(void** context, int) {
  return *context = &device(), kSuccess;
}
HIP int hipDevicePrimaryCtxRelease(int) {
  return kSuccess;
}
HIP int hipDevicePrimaryCtxGetState(int, unsigned* flags, int* active) {
  return *flags = 0, *active = 1, kSuccess;
}
HIP int hipCtxSetCurrent(void*) {
  return kSuccess;
}
HIP int hipCtxGetCurrent(void** context) {
  return *context = &device(), kSuccess;
}
HIP int hipCtxPushCurrent(void*) {
  return kSuccess;
}
HIP int hipCtxPopCurrent(void** context) {
  if (context != nullptr) *context = &device();
  return kSuccess;
}

// -- errors --
HIP const char* hipGetErrorName(int error) {
  switch (error) {
    case kSuccess:
      return "hipSuccess";
    case kInvalidValue:
      return "hipErrorInvalidValue";
    case kOutOfMemory:
      return "hipErrorOutOfMemory";
    case kInvalidConfiguration:
      return "hipErrorInvalidConfiguration";
    case kNoDevice:
      return "hipErrorNoDevice";
    case kInvalidDevice:
      return "hipErrorInvalidDevice";
    case kInvalidImage:
      return "hipErrorInvalidImage";
    case kNoBinaryForGpu:
      return "hipErrorNoBinaryForGpu";
    case kNotFound:
      return "hipErrorNotFound";
    case kNotReady:
      return "hipErrorNotReady";
    case kIllegalAddress:
      return "hipErrorIllegalAddress";
    case kLaunchFailure:
      return "hipErrorLaunchFailure";
    case kNotSupported:
      return "hipErrorNotSupported";
    default:
      return "hipErrorUnknown";
  }
}
HIP const char* hipGetErrorString(int error) {
  switch (error) {
    case kSuccess:
      return "no error";
    case kOutOfMemory:
      return "out of memory";
    case kNoDevice:
      return "no ROCm-capable device is detected";
    case kNoBinaryForGpu:
      return "no kernel image is available for execution on the device";
    case kIllegalAddress:
      return "an illegal memory access was encountered";
    case kLaunchFailure:
      return "unspecified launch failure";
    default:
      return hipGetErrorName(error);
  }
}
HIP int hipGetLastError() {
  return std::exchange(last_error, kSuccess);
}

// -- memory --
HIP int hipMalloc(void** pointer, std::size_t bytes) {
  return result(device().allocate(pointer, bytes));
}
HIP int hipMallocAsync(void** pointer, std::size_t bytes, void*) {
  return hipMalloc(pointer, bytes);
}
HIP int hipMallocFromPoolAsync(void** pointer, std::size_t bytes, void*, void*) {
  return hipMalloc(pointer, bytes);
}
HIP int hipMallocManaged(void** pointer, std::size_t bytes, unsigned) {
  return result(device().allocate(pointer, bytes, true));
}
HIP int hipHostMalloc(void** pointer, std::size_t bytes, unsigned) {
  return result(device().allocate(pointer, bytes, true));
}
HIP int hipFree(void* pointer) {
  return result(device().release(pointer));
}
HIP int hipFreeAsync(void* pointer, void*) {
  return hipFree(pointer);
}
HIP int hipHostFree(void* pointer) {
  return hipFree(pointer);
}
HIP int hipHostGetDevicePointer(void** pointer, void* host, unsigned) {
  return *pointer = host, kSuccess;
}
HIP int hipHostRegister(void* pointer, std::size_t bytes, unsigned) {
  return result(device().register_host(pointer, bytes, true));
}
HIP int hipHostUnregister(void* pointer) {
  return result(device().register_host(pointer, 0, false));
}
HIP int hipMemGetInfo(std::size_t* free, std::size_t* total) {
  *total = kMemoryBytes;
  *free = kMemoryBytes - device().used_bytes();
  return result(device().state());
}
// hipMemcpyKind: 0 host to host, 1 to the device, 2 to the host, 3 on the device, 4 by the
// addresses.
HIP int hipMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  return result(device().copy(to, from, bytes, kind == 1 || kind == 3, kind == 2 || kind == 3));
}
HIP int hipMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind, void*) {
  return hipMemcpy(to, from, bytes, kind);
}
HIP int hipMemcpyHtoD(void* to, const void* from, std::size_t bytes) {
  return hipMemcpy(to, from, bytes, 1);
}
HIP int hipMemcpyHtoDAsync(void* to, const void* from, std::size_t bytes, void*) {
  return hipMemcpy(to, from, bytes, 1);
}
HIP int hipMemcpyDtoH(void* to, const void* from, std::size_t bytes) {
  return hipMemcpy(to, from, bytes, 2);
}
HIP int hipMemcpyDtoHAsync(void* to, const void* from, std::size_t bytes, void*) {
  return hipMemcpy(to, from, bytes, 2);
}
HIP int hipMemcpyDtoD(void* to, const void* from, std::size_t bytes) {
  return hipMemcpy(to, from, bytes, 3);
}
HIP int hipMemcpyDtoDAsync(void* to, const void* from, std::size_t bytes, void*) {
  return hipMemcpy(to, from, bytes, 3);
}
HIP int hipMemset(void* to, int value, std::size_t bytes) {
  return result(device().fill(to, static_cast<std::uint32_t>(value), 1, bytes));
}
HIP int hipMemsetAsync(void* to, int value, std::size_t bytes, void*) {
  return hipMemset(to, value, bytes);
}
HIP int hipMemsetD8(void* to, unsigned char value, std::size_t count) {
  return result(device().fill(to, value, 1, count));
}
HIP int hipMemsetD8Async(void* to, unsigned char value, std::size_t count, void*) {
  return hipMemsetD8(to, value, count);
}
HIP int hipMemsetD16(void* to, unsigned short value, std::size_t count) {
  return result(device().fill(to, value, 2, count));
}
HIP int hipMemsetD16Async(void* to, unsigned short value, std::size_t count, void*) {
  return hipMemsetD16(to, value, count);
}
HIP int hipMemsetD32(void* to, int value, std::size_t count) {
  return result(device().fill(to, static_cast<std::uint32_t>(value), 4, count));
}
HIP int hipMemsetD32Async(void* to, int value, std::size_t count, void*) {
  return hipMemsetD32(to, value, count);
}
HIP int hipMemPrefetchAsync(const void*, std::size_t, int, void*) {
  return kSuccess;
}
HIP int hipMemPoolCreate(void** pool, const void*) {
  return *pool = &device(), kSuccess;
}
HIP int hipMemPoolDestroy(void*) {
  return kSuccess;
}
HIP int hipMemPoolGetAttribute(void*, int, void* value) {
  return std::memset(value, 0, 8), kSuccess;
}
HIP int hipMemPoolSetAttribute(void*, int, void*) {
  return kSuccess;
}
HIP int hipMemPoolTrimTo(void*, std::size_t) {
  return kSuccess;
}

// -- modules and launches --
HIP int hipModuleLoadDataEx(Module** module, const void* image, unsigned, int*, void**) {
  std::unique_ptr<Module> loaded;
  const Error error = device().load(loaded, image);
  *module = loaded.release();
  return result(error);
}
HIP int hipModuleLoadData(Module** module, const void* image) {
  return hipModuleLoadDataEx(module, image, 0, nullptr, nullptr);
}
HIP int hipModuleUnload(Module* module) {
  device().unload(module);
  delete module;
  return result(device().state());
}
HIP int hipModuleGetFunction(Function** function, Module* module, const char* name) {
  const hone::emulator::Kernel* kernel = module->code.kernel(name);
  if (kernel == nullptr) return result(kNotFound);
  *function = new Function{
      module, kernel};  // lives as long as the process, as HIP's do while their module does
  return kSuccess;
}
HIP int hipModuleGetGlobal(void** pointer, std::size_t* bytes, Module* module, const char* name) {
  return result(device().variable(*module, name, pointer, bytes));
}
HIP int hipFuncGetAttribute(int* value, int attribute, const Function* function) {
  const hone::emulator::Kernel& kernel = *function->kernel;
  switch (attribute) {
    case 0:
      *value = static_cast<int>(kernel.most_threads);
      break;
    case 1:
      *value = static_cast<int>(kernel.local_bytes);
      break;
    case 3:
      *value = static_cast<int>(kernel.private_bytes);
      break;
    case 4:
      *value = static_cast<int>(kernel.vector_registers);
      break;
    case 8:
      *value = static_cast<int>(hone::emulator::kLargestLocalBytes - kernel.local_bytes);
      break;
    default:
      *value = 0;
  }
  return kSuccess;
}
HIP int hipFuncSetAttribute(const void*, int, int) {
  return kSuccess;
}
HIP int hipModuleLaunchKernel(Function* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z,
                              unsigned local_bytes, void*, void** parameters, void** extra) {
  return launch(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, local_bytes},
                parameters, extra);
}
HIP int hipLaunchKernel(const void*, std::uint64_t, std::uint64_t, void**, std::size_t, void*) {
  return result(kNotSupported);
}
HIP int hipLaunchHostFunc(void*, void (*function)(void*), void* data) {
  if (const Error error = device().state(); error != kSuccess) return result(error);
  if (!device().is_hung()) HostFunctions::get().add([function, data] { function(data); });
  return kSuccess;
}

// -- streams and events --
HIP int hipStreamCreateWithFlags(void** stream, unsigned) {
  return *stream = new char, kSuccess;
}
HIP int hipStreamCreate(void** stream) {
  return hipStreamCreateWithFlags(stream, 0);
}
HIP int hipStreamDestroy(void* stream) {
  return delete static_cast<char*>(stream), kSuccess;
}
HIP int hipStreamSynchronize(void*) {
  return result(device().synchronize());
}
HIP int hipStreamQuery(void*) {
  return device().is_hung() ? static_cast<int>(kNotReady) : result(device().state());
}
HIP int hipStreamWaitEvent(void*, void*, unsigned) {
  return result(device().state());
}
HIP int hipEventCreateWithFlags(Event** event, unsigned) {
  return *event = new Event, kSuccess;
}
HIP int hipEventCreate(Event** event) {
  return hipEventCreateWithFlags(event, 0);
}
HIP int hipEventDestroy(Event* event) {
  return delete event, kSuccess;
}
HIP int hipEventRecord(Event* event, void*) {
  device().record(*event);
  return result(device().state());
}
HIP int hipEventQuery(Event* event) {
  return event->done ? result(device().state()) : static_cast<int>(kNotReady);
}
HIP int hipEventSynchronize(Event* event) {
  return event->done ? result(device().state()) : result(device().synchronize());
}
HIP int hipEventElapsedTime(float* milliseconds, Event* begin, Event* end) {
  if (!begin->recorded || !end->recorded) return result(kInvalidValue);
  if (!begin->done || !end->done) return kNotReady;
  *milliseconds = static_cast<float>((end->microseconds - begin->microseconds) / 1000);
  return result(device().state());
}

// -- graphs, which IREE looks up and does not use with streams --
#define NOT_SUPPORTED(name)       \
  HIP int name() {                \
    return result(kNotSupported); \
  }
NOT_SUPPORTED(hipDrvGraphAddMemcpyNode)
NOT_SUPPORTED(hipGraphAddEmptyNode)
NOT_SUPPORTED(hipGraphAddEventRecordNode)
NOT_SUPPORTED(hipGraphAddKernelNode)
NOT_SUPPORTED(hipGraphAddMemsetNode)
NOT_SUPPORTED(hipGraphCreate)
NOT_SUPPORTED(hipGraphDestroy)
NOT_SUPPORTED(hipGraphExecDestroy)
NOT_SUPPORTED(hipGraphInstantiate)
NOT_SUPPORTED(hipGraphLaunch)
