// NVIDIA's driver (libcuda.so.1), opened at run time. The calls that hone makes are declared here,
// since no CUDA toolkit is needed to build hone. Names and values as in cuda.h (CUDA 11.0 to 13.0;
// the ABI of a versioned symbol never changes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone::device::cuda {

using DriverCode = int;  // CUresult; 0: success
using DeviceHandle = int;
using DevicePointer = std::uint64_t;  // CUdeviceptr
struct ContextState;
struct ModuleState;
struct FunctionState;
struct StreamState;
struct EventState;
using ContextHandle = ContextState*;
using ModuleHandle = ModuleState*;
using FunctionHandle = FunctionState*;
using StreamHandle = StreamState*;
using EventHandle = EventState*;

// CUtensorMap.
struct alignas(64) TensorMapBytes {
  unsigned char bytes[128];
};

struct Uuid {
  unsigned char bytes[16];
};

// CUdevice_attribute.
inline constexpr int kAttributeClockKilohertz = 13, kAttributeMultiprocessors = 16,
                     kAttributeL2Bytes = 38, kAttributeMajor = 75, kAttributeMinor = 76,
                     kAttributeSharedOptIn = 97;
// CUfunction_attribute.
inline constexpr int kFunctionMaxThreads = 0, kFunctionSharedBytes = 1, kFunctionLocalBytes = 3,
                     kFunctionRegisters = 4, kFunctionMaxDynamicShared = 8;
// CUjit_option.
inline constexpr int kJitErrorLog = 5, kJitErrorLogBytes = 6;

// X(member, symbol, parameters): every call returns a DriverCode.
#define HONE_CUDA_CALLS(X)                                                                         \
  X(init, "cuInit", (unsigned flags))                                                              \
  X(driver_version, "cuDriverGetVersion", (int* version))                                          \
  X(error_name, "cuGetErrorName", (DriverCode code, const char** name))                            \
  X(error_string, "cuGetErrorString", (DriverCode code, const char** text))                        \
  X(device_count, "cuDeviceGetCount", (int* count))                                                \
  X(device_get, "cuDeviceGet", (DeviceHandle * device, int index))                                 \
  X(device_name, "cuDeviceGetName", (char* name, int bytes, DeviceHandle device))                  \
  X(device_uuid, "cuDeviceGetUuid", (Uuid * uuid, DeviceHandle device))                            \
  X(device_total_memory, "cuDeviceTotalMem_v2", (std::size_t * bytes, DeviceHandle device))        \
  X(device_attribute, "cuDeviceGetAttribute", (int* value, int attribute, DeviceHandle device))    \
  X(device_pci_bus_id, "cuDeviceGetPCIBusId", (char* id, int bytes, DeviceHandle device))          \
  X(primary_context_retain, "cuDevicePrimaryCtxRetain",                                            \
    (ContextHandle * context, DeviceHandle device))                                                \
  X(primary_context_release, "cuDevicePrimaryCtxRelease_v2", (DeviceHandle device))                \
  X(context_set_current, "cuCtxSetCurrent", (ContextHandle context))                               \
  X(context_synchronize, "cuCtxSynchronize", ())                                                   \
  X(memory_info, "cuMemGetInfo_v2", (std::size_t * free, std::size_t * total))                     \
  X(memory_allocate, "cuMemAlloc_v2", (DevicePointer * address, std::size_t bytes))                \
  X(memory_free, "cuMemFree_v2", (DevicePointer address))                                          \
  X(copy_to_device, "cuMemcpyHtoD_v2", (DevicePointer to, const void* from, std::size_t bytes))    \
  X(copy_to_host, "cuMemcpyDtoH_v2", (void* to, DevicePointer from, std::size_t bytes))            \
  X(copy_on_device, "cuMemcpyDtoDAsync_v2",                                                        \
    (DevicePointer to, DevicePointer from, std::size_t bytes, StreamHandle stream))                \
  X(set_bytes, "cuMemsetD8_v2", (DevicePointer to, unsigned char value, std::size_t bytes))        \
  X(module_load, "cuModuleLoadDataEx",                                                             \
    (ModuleHandle * module, const void* image, unsigned options, int* names, void** values))       \
  X(module_unload, "cuModuleUnload", (ModuleHandle module))                                        \
  X(module_function, "cuModuleGetFunction",                                                        \
    (FunctionHandle * function, ModuleHandle module, const char* name))                            \
  X(module_variable, "cuModuleGetGlobal_v2",                                                       \
    (DevicePointer * address, std::size_t * bytes, ModuleHandle module, const char* name))         \
  X(function_attribute, "cuFuncGetAttribute",                                                      \
    (int* value, int attribute, FunctionHandle function))                                          \
  X(function_set_attribute, "cuFuncSetAttribute",                                                  \
    (FunctionHandle function, int attribute, int value))                                           \
  X(launch, "cuLaunchKernel",                                                                      \
    (FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, StreamHandle stream,               \
     void** arguments, void** extra))                                                              \
  X(event_create, "cuEventCreate", (EventHandle * event, unsigned flags))                          \
  X(event_destroy, "cuEventDestroy_v2", (EventHandle event))                                       \
  X(event_record, "cuEventRecord", (EventHandle event, StreamHandle stream))                       \
  X(event_synchronize, "cuEventSynchronize", (EventHandle event))                                  \
  X(event_milliseconds, "cuEventElapsedTime",                                                      \
    (float* milliseconds, EventHandle start, EventHandle end))

// cuTensorMapEncodeTiled, of drivers of CUDA 12.0 and later.
using EncodeTensorMap = DriverCode (*)(TensorMapBytes* map, int element_type, std::uint32_t rank,
                                       DevicePointer address, const std::uint64_t* shape,
                                       const std::uint64_t* strides, const std::uint32_t* box,
                                       const std::uint32_t* element_strides, int interleave,
                                       int swizzle, int promotion, int outside);

struct DriverApi {
#define HONE_CUDA_MEMBER(member, symbol, parameters) DriverCode(*member) parameters = nullptr;
  HONE_CUDA_CALLS(HONE_CUDA_MEMBER)
#undef HONE_CUDA_MEMBER
  EncodeTensorMap encode_tensor_map = nullptr;  // null where the driver has none
};

// Not before the last fork of the process that opens it: a driver does not survive one.
class Driver {
 public:
  // Opens `library` and initialises the driver. Environment errors that say what is missing: the
  // library, one of its functions, a driver of CUDA 11.0 or later (the first for sm_80), a GPU it
  // can use. The library is never closed.
  static Result<std::shared_ptr<Driver>> open(const std::string& library = "libcuda.so.1");

  const DriverApi& call() const { return api_; }
  int version() const { return version_; }  // 13000: CUDA 13.0, the newest it can run

  // A failure in the driver's words: "launching the kernel: an illegal memory access was
  // encountered (CUDA_ERROR_ILLEGAL_ADDRESS)". After an error that ends the context every later
  // call fails too, and is_lost() says so. Not thread-safe.
  Status check(DriverCode code, std::string_view doing);
  // The context is dead: only another process can use the GPU again.
  bool is_lost() const { return lost_; }

 private:
  Driver() = default;
  DriverApi api_;
  int version_ = 0;
  bool lost_ = false;
};

// Whether this error leaves the context unusable (cuda.h: "the process must be terminated and
// relaunched").
bool ends_context(DriverCode code);

}  // namespace hone::device::cuda
