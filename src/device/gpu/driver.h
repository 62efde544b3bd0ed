// The driver of a vendor's GPUs, opened at run time: the calls that hone makes, under names that
// are no vendor's. CUDA's driver and HIP have the same calls with the same arguments. A vendor's
// folder fills DriverApi from its own table of symbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone::device::gpu {

using DriverCode = int;  // CUresult, hipError_t; 0: success
using DeviceHandle = int;
using DevicePointer = std::uint64_t;  // CUdeviceptr; HIP's void* is passed likewise
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

// CUfunction_attribute and hipFunction_attribute have the same numbers.
inline constexpr int kFunctionMaxThreads = 0, kFunctionSharedBytes = 1, kFunctionLocalBytes = 3,
                     kFunctionRegisters = 4, kFunctionMaxDynamicShared = 8;
// CUjit_option.
inline constexpr int kJitErrorLog = 5, kJitErrorLogBytes = 6;

// Calls of a driver; null: it has no such call. All but the last two are in every vendor's table.
struct DriverApi {
  DriverCode (*init)(unsigned flags) = nullptr;
  DriverCode (*driver_version)(int* version) = nullptr;
  DriverCode (*device_count)(int* count) = nullptr;
  DriverCode (*device_get)(DeviceHandle* device, int index) = nullptr;
  DriverCode (*device_name)(char* name, int bytes, DeviceHandle device) = nullptr;
  DriverCode (*device_uuid)(Uuid* uuid, DeviceHandle device) = nullptr;
  DriverCode (*device_total_memory)(std::size_t* bytes, DeviceHandle device) = nullptr;
  DriverCode (*device_attribute)(int* value, int attribute, DeviceHandle device) = nullptr;
  DriverCode (*device_pci_bus_id)(char* id, int bytes, DeviceHandle device) = nullptr;
  DriverCode (*primary_context_retain)(ContextHandle* context, DeviceHandle device) = nullptr;
  DriverCode (*primary_context_release)(DeviceHandle device) = nullptr;
  DriverCode (*context_set_current)(ContextHandle context) = nullptr;
  DriverCode (*context_synchronize)() = nullptr;
  DriverCode (*memory_info)(std::size_t* free, std::size_t* total) = nullptr;
  DriverCode (*memory_allocate)(DevicePointer* address, std::size_t bytes) = nullptr;
  DriverCode (*memory_free)(DevicePointer address) = nullptr;
  DriverCode (*copy_to_device)(DevicePointer to, const void* from, std::size_t bytes) = nullptr;
  DriverCode (*copy_to_host)(void* to, DevicePointer from, std::size_t bytes) = nullptr;
  DriverCode (*copy_on_device)(DevicePointer to, DevicePointer from, std::size_t bytes,
                               StreamHandle stream) = nullptr;
  DriverCode (*set_bytes)(DevicePointer to, unsigned char value, std::size_t bytes) = nullptr;
  DriverCode (*module_load)(ModuleHandle* module, const void* image, unsigned options, int* names,
                            void** values) = nullptr;
  bool module_load_logs = false;  // module_load takes CUDA's options for its compiler's log
  DriverCode (*module_unload)(ModuleHandle module) = nullptr;
  DriverCode (*module_function)(FunctionHandle* function, ModuleHandle module,
                                const char* name) = nullptr;
  DriverCode (*module_variable)(DevicePointer* address, std::size_t* bytes, ModuleHandle module,
                                const char* name) = nullptr;
  DriverCode (*function_attribute)(int* value, int attribute, FunctionHandle function) = nullptr;
  DriverCode (*launch)(FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       StreamHandle stream, void** arguments, void** extra) = nullptr;
  DriverCode (*event_create)(EventHandle* event, unsigned flags) = nullptr;
  DriverCode (*event_destroy)(EventHandle event) = nullptr;
  DriverCode (*event_record)(EventHandle event, StreamHandle stream) = nullptr;
  DriverCode (*event_synchronize)(EventHandle event) = nullptr;
  DriverCode (*event_milliseconds)(float* milliseconds, EventHandle start,
                                   EventHandle end) = nullptr;
  // Asks for more dynamic shared memory than a block has without asking. HIP gives all unasked.
  DriverCode (*function_set_attribute)(FunctionHandle function, int attribute, int value) = nullptr;
  // cuTensorMapEncodeTiled, of CUDA 12.0 and later.
  DriverCode (*encode_tensor_map)(TensorMapBytes* map, int element_type, std::uint32_t rank,
                                  DevicePointer address, const std::uint64_t* shape,
                                  const std::uint64_t* strides, const std::uint32_t* box,
                                  const std::uint32_t* element_strides, int interleave, int swizzle,
                                  int promotion, int outside) = nullptr;
};

// Not before the last fork of the process that opens it: a driver does not survive one. The library
// is never closed. A vendor's folder has the function that opens it. Not thread-safe.
class Driver {
 public:
  // "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)".
  using ErrorWords = std::function<std::string(DriverCode)>;

  Driver(const DriverApi& api, ErrorWords words, std::string library)
      : api_(api), words_(std::move(words)), library_(std::move(library)) {}

  const DriverApi& call() const { return api_; }
  const std::string& library() const { return library_; }  // as it was opened
  // Starts the driver. Environment errors in its words; `no_device` if its code is one of
  // `no_device_codes`.
  Status start(std::string_view name, std::string_view no_device,
               std::initializer_list<DriverCode> no_device_codes);
  int version() const { return version_; }  // in the vendor's way of counting

  // A failure in the driver's words: "launching the kernel: an illegal memory access was
  // encountered (CUDA_ERROR_ILLEGAL_ADDRESS)". After an error that ends the context every later
  // call fails too, and is_lost() says so.
  Status check(DriverCode code, std::string_view doing);
  // The context is dead: only another process can use the GPU again.
  bool is_lost() const { return lost_; }

 private:
  DriverApi api_;
  ErrorWords words_;
  std::string library_;
  int version_ = 0;
  bool lost_ = false;
};

// Whether this error leaves the context unusable (cuda.h: "the process must be terminated and
// relaunched"). HIP has the same numbers for the same errors.
bool ends_context(DriverCode code);

// "GPU-1b4d...", as nvidia-smi and amd-smi write it.
std::string text_of(const Uuid& uuid);

}  // namespace hone::device::gpu
