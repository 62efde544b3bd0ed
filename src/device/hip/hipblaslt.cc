#include "device/hip/hipblaslt.h"

#include <cstdlib>

#include "device/hip/driver.h"
#include "device/hip/gpu.h"

namespace hone::device::hip {
namespace {

using gpu::LtStatus;

constexpr const char* kHowToName = "HONE_HIPBLASLT names the file";

// HIPBLAS_COMPUTE_32F; HIPBLAS_OP_N and _T; HIPBLASLT_MATMUL_DESC_TRANSA and _TRANSB;
// HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT and _STRIDED_BATCH_OFFSET;
// HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES. An algorithm has 24 bytes.
constexpr gpu::LtNumbers kNumbers{.compute_f32 = 2,
                                  .plain = 111,
                                  .transposed = 112,
                                  .transpose_a = 0,
                                  .transpose_b = 1,
                                  .batch_count = 0,
                                  .batch_offset = 1,
                                  .most_workspace = 1,
                                  .result_bytes = 56,
                                  .workspace_at = 24,
                                  .status_at = 32};

// hipblasLtGetVersion counts 100000 x major + 100 x minor + patch.
std::string version_of(const gpu::LtApi& call, LtStatus (*version)(gpu::LtHandle, int*)) {
  gpu::LtHandle handle = nullptr;
  if (version == nullptr || call.create(&handle) != 0) return "";
  int number = 0;
  const LtStatus status = version(handle, &number);
  call.destroy(handle);
  if (status != 0) return "";
  return fmt::format(" {}.{}.{}", number / 100000, number / 100 % 1000, number % 100);
}

}  // namespace

std::vector<std::string> hipblaslt_names() {
  if (const char* given = std::getenv("HONE_HIPBLASLT"); given != nullptr && *given != '\0')
    return {given};
  return library_names("libhipblaslt", "");
}

Result<std::shared_ptr<const gpu::LtLibrary>> open_hipblaslt(
    const std::vector<std::string>& names) {
  const auto library = SharedLibrary::open(names);
  if (!library)
    return advised(environment_error("hipBLASLt is not on this machine ({}): ROCm has it",
                                     library.error().message),
                   kHowToName);
  gpu::LtLibrary lt;
  const std::string missing = gpu::find_lt_calls(*library, "hipblasLt", lt.call);
  if (!missing.empty())
    return advised(environment_error("{} has no function {}: it is no hipBLASLt of ROCm 6 or later",
                                     library->name(), missing),
                   kHowToName);
  LtStatus (*version)(gpu::LtHandle, int*) = nullptr;
  library->find("hipblasLtGetVersion", version);
  lt.numbers = kNumbers;
  lt.title = "hipBLASLt";
  lt.name = "hipBLASLt" + version_of(lt.call, version);
  lt.status_name = [](LtStatus code) { return fmt::format("error {}", code); };
  return std::make_shared<const gpu::LtLibrary>(std::move(lt));
}

std::unique_ptr<Library> hipblaslt() {
  return gpu::lt_library(
      {.name = "hipblaslt", .title = "hipBLASLt", .device_kind = kKind, .open = [] {
         return open_hipblaslt();
       }});
}

}  // namespace hone::device::hip
