// NVIDIA's driver (libcuda.so.1), opened at run time. Names and values as in cuda.h (CUDA 11.0 to
// 13.0; the ABI of a versioned symbol never changes): no CUDA toolkit is needed to build hone.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "device/gpu/driver.h"

namespace hone::device::cuda {

using gpu::Driver;

// CUdevice_attribute.
inline constexpr int kAttributeClockKilohertz = 13, kAttributeMultiprocessors = 16,
                     kAttributeL2Bytes = 38, kAttributeMajor = 75, kAttributeMinor = 76,
                     kAttributeSharedOptIn = 97;

// X(member of gpu::DriverApi, symbol).
#define HONE_CUDA_CALLS(X)                                   \
  X(init, "cuInit")                                          \
  X(driver_version, "cuDriverGetVersion")                    \
  X(device_count, "cuDeviceGetCount")                        \
  X(device_get, "cuDeviceGet")                               \
  X(device_name, "cuDeviceGetName")                          \
  X(device_uuid, "cuDeviceGetUuid")                          \
  X(device_total_memory, "cuDeviceTotalMem_v2")              \
  X(device_attribute, "cuDeviceGetAttribute")                \
  X(device_pci_bus_id, "cuDeviceGetPCIBusId")                \
  X(primary_context_retain, "cuDevicePrimaryCtxRetain")      \
  X(primary_context_release, "cuDevicePrimaryCtxRelease_v2") \
  X(context_set_current, "cuCtxSetCurrent")                  \
  X(context_synchronize, "cuCtxSynchronize")                 \
  X(memory_info, "cuMemGetInfo_v2")                          \
  X(memory_allocate, "cuMemAlloc_v2")                        \
  X(memory_free, "cuMemFree_v2")                             \
  X(copy_to_device, "cuMemcpyHtoD_v2")                       \
  X(copy_to_host, "cuMemcpyDtoH_v2")                         \
  X(copy_on_device, "cuMemcpyDtoDAsync_v2")                  \
  X(set_bytes, "cuMemsetD8_v2")                              \
  X(module_load, "cuModuleLoadDataEx")                       \
  X(module_unload, "cuModuleUnload")                         \
  X(module_function, "cuModuleGetFunction")                  \
  X(module_variable, "cuModuleGetGlobal_v2")                 \
  X(function_attribute, "cuFuncGetAttribute")                \
  X(function_set_attribute, "cuFuncSetAttribute")            \
  X(launch, "cuLaunchKernel")                                \
  X(event_create, "cuEventCreate")                           \
  X(event_destroy, "cuEventDestroy_v2")                      \
  X(event_record, "cuEventRecord")                           \
  X(event_synchronize, "cuEventSynchronize")                 \
  X(event_milliseconds, "cuEventElapsedTime")

// Opens `library` and initialises the driver. Environment errors that say what is missing: the
// library, one of its functions, a driver of CUDA 11.0 or later (the first for sm_80), a GPU it
// can use. Driver::version() is 13000 for CUDA 13.0, the newest it can run.
Result<std::shared_ptr<Driver>> open_driver(const std::string& library = "libcuda.so.1");

}  // namespace hone::device::cuda
