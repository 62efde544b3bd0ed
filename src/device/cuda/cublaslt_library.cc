#include "device/cuda/cublaslt_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "device/cuda/toolkit.h"

namespace hone::device::cuda {
namespace {

// cublasLtGetVersion counts 10000 x major + 100 x minor + patch from CUDA 12 on. Smaller numbers
// are older libraries in either way of counting.
constexpr std::size_t kOldestCublasLt = 120000;
constexpr const char* kWhereItIs = "PyTorch's wheels and the CUDA toolkit (12.0 or later) have it";
constexpr const char* kHowToName = "HONE_CUBLASLT names the file";

template <class Signature>
Status find_call(void* library, const std::string& name, const char* symbol, Signature& function) {
  function = reinterpret_cast<Signature>(dlsym(library, symbol));
  if (function == nullptr)
    return advised(
        environment_error("{} has no function {}: it is no cuBLASLt of CUDA 12.0 or later; {}",
                          name, symbol, kWhereItIs),
        kHowToName);
  return {};
}

Status find_calls(void* library, const std::string& name, CublasLtApi& api) {
#define HONE_CUBLASLT_FIND(member, symbol, parameters) \
  HONE_TRY(find_call(library, name, symbol, api.member));
  HONE_CUBLASLT_CALLS(HONE_CUBLASLT_FIND)
#undef HONE_CUBLASLT_FIND
  HONE_TRY(find_call(library, name, "cublasLtGetVersion", api.version));
  return find_call(library, name, "cublasLtGetStatusName", api.status_name);
}

}  // namespace

std::vector<std::string> cublaslt_names() {
  if (const char* given = std::getenv("HONE_CUBLASLT"); given != nullptr && *given != '\0')
    return {given};
  return library_names({"libcublasLt.so.13", "libcublasLt.so.12"});
}

Result<std::shared_ptr<const CublasLt>> CublasLt::open(const std::vector<std::string>& names) {
  void* library = nullptr;
  std::string opened, why = "no name to try";
  for (const std::string& name : names) {
    if (library != nullptr) break;
    library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr)
      opened = name;
    else
      why = dlerror();
  }
  if (library == nullptr)
    return advised(environment_error("cuBLASLt is not on this machine ({}): {}", why, kWhereItIs),
                   kHowToName);
  const std::shared_ptr<CublasLt> lt(new CublasLt);
  HONE_TRY(find_calls(library, opened, lt->api_));
  lt->version_ = lt->api_.version();
  if (lt->version_ < kOldestCublasLt)
    return advised(
        environment_error("{} is too old: version {}, hone needs {} (CUDA 12.0) or later; {}",
                          opened, lt->version_, kOldestCublasLt, kWhereItIs),
        kHowToName);
  return std::shared_ptr<const CublasLt>(lt);
}

std::string CublasLt::name() const {
  return fmt::format("cuBLASLt {}.{}.{}", version_ / 10000, version_ / 100 % 100, version_ % 100);
}

Status CublasLt::check(LtStatus code, std::string_view doing) const {
  if (code == 0) return {};
  const char* const name = api_.status_name(code);
  return failure("{}: cuBLASLt says {}", doing,
                 name != nullptr ? std::string(name) : fmt::format("error {}", code));
}

}  // namespace hone::device::cuda
