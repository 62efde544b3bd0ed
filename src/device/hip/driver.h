// AMD's HIP runtime (libamdhip64), found and opened at run time. Names and values as in
// hip/hip_runtime_api.h of HIP 5.2.3, 6.4.3 and 7.2.4, which have the same: no ROCm is needed to
// build hone.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/gpu/driver.h"

namespace hone::device::hip {

using gpu::Driver;

// hipDeviceAttribute_t. WallClockRate is missing in HIP 5, NumberOfXccs before HIP 7.2.
inline constexpr int kAttributeClockRate = 5, kAttributeL2CacheSize = 19,
                     kAttributeMaxThreadsPerBlock = 56, kAttributeMultiprocessorCount = 63,
                     kAttributeMaxSharedMemoryPerBlock = 74, kAttributeWarpSize = 87,
                     kAttributeWallClockRate = 10017, kAttributeNumberOfXccs = 10018;
// hipDeviceProp_tR0600 of HIP 6 and 7, and hipDeviceProp_tR0000 of HIP 5: size, and where
// gcnArchName begins. Attributes say the rest.
struct PropertiesLayout {
  const char* symbol;
  std::size_t bytes, arch_name;
};
inline constexpr PropertiesLayout kPropertiesR0600{"hipGetDevicePropertiesR0600", 1472, 1160},
    kPropertiesR0000{"hipGetDeviceProperties", 792, 396};

// Versions as hipDriverGetVersion counts them: 70253211 is 7.2.53211.
inline constexpr int kVersionsOfAMajor = 10'000'000, kVersionsOfAMinor = 100'000;
// The first that runs kernels, and the first whose functions IREE's runtime finds complete.
inline constexpr int kOldestMajor = 5, kProgramsMajor = 6;
std::string version_text(int version);  // "7.2.53211"

// X(member of gpu::DriverApi, symbol).
#define HONE_HIP_CALLS(X)                                  \
  X(init, "hipInit")                                       \
  X(driver_version, "hipDriverGetVersion")                 \
  X(device_count, "hipGetDeviceCount")                     \
  X(device_get, "hipDeviceGet")                            \
  X(device_name, "hipDeviceGetName")                       \
  X(device_uuid, "hipDeviceGetUuid")                       \
  X(device_total_memory, "hipDeviceTotalMem")              \
  X(device_attribute, "hipDeviceGetAttribute")             \
  X(device_pci_bus_id, "hipDeviceGetPCIBusId")             \
  X(primary_context_retain, "hipDevicePrimaryCtxRetain")   \
  X(primary_context_release, "hipDevicePrimaryCtxRelease") \
  X(context_set_current, "hipCtxSetCurrent")               \
  X(context_synchronize, "hipDeviceSynchronize")           \
  X(memory_info, "hipMemGetInfo")                          \
  X(memory_allocate, "hipMalloc")                          \
  X(memory_free, "hipFree")                                \
  X(copy_to_device, "hipMemcpyHtoD")                       \
  X(copy_to_host, "hipMemcpyDtoH")                         \
  X(copy_on_device, "hipMemcpyDtoDAsync")                  \
  X(set_bytes, "hipMemsetD8")                              \
  X(module_load, "hipModuleLoadDataEx")                    \
  X(module_unload, "hipModuleUnload")                      \
  X(module_function, "hipModuleGetFunction")               \
  X(module_variable, "hipModuleGetGlobal")                 \
  X(function_attribute, "hipFuncGetAttribute")             \
  X(launch, "hipModuleLaunchKernel")                       \
  X(event_create, "hipEventCreateWithFlags")               \
  X(event_destroy, "hipEventDestroy")                      \
  X(event_record, "hipEventRecord")                        \
  X(event_synchronize, "hipEventSynchronize")              \
  X(event_milliseconds, "hipEventElapsedTime")

// Names under which `file` ("libamdhip64") is tried, most wanted first, each with every version's
// ending (".so.7", ".so.6", ".so.5", ".so"):
// - `given` alone, where it is not empty: the file itself, or the folder that holds it or its lib/;
// - wheels: AMD's ROCm packages, then torch;
// - the folders of LD_LIBRARY_PATH, $HIP_PATH/lib, $ROCM_PATH/lib;
// - the names alone, which the system looks up, then /opt/rocm/lib.
// Only existing files are returned, besides the names alone.
std::vector<std::string> library_names(const std::string& file, const std::string& given);

// Opens libamdhip64 and initialises it. `given`: as in library_names; empty: $HONE_HIP. Sets
// HIP_SKIP_ABORT_ON_GPU_ERROR before it is opened, unless the user has, and forbids core dumps: a
// kernel's illegal access is then an error, and no file of gigabytes. Environment errors that say
// what is missing: the library, one of its functions, HIP 5 or later, a GPU, the right to open
// /dev/kfd. Driver::library() is the file's absolute path.
Result<std::shared_ptr<Driver>> open_driver(const std::string& given = {});

// The ISA of a device as its driver states it: "gfx942:sramecc+:xnack-".
Result<std::string> isa_of(Driver& driver, int index);

// Why this process may not use the AMD GPUs that the kernel driver below `root` has: the file it
// may not open and what to do. Empty: it may, or there is none.
std::string access_problem(const std::filesystem::path& root = "/");

}  // namespace hone::device::hip
