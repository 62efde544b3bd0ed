#include "device/cuda/nvrtc.h"

#include <dlfcn.h>

#include "device/cuda/toolkit.h"

namespace hone::device::cuda {
namespace {

struct ProgramState;
using Program = ProgramState*;

// nvrtc.h; every call returns an nvrtcResult, 0 for success.
struct Api {
  int (*create)(Program*, const char* source, const char* name, int headers, const char* const*,
                const char* const*) = nullptr;
  int (*compile)(Program, int options, const char* const*) = nullptr;
  int (*ptx_size)(Program, std::size_t*) = nullptr;
  int (*ptx)(Program, char*) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*destroy)(Program*) = nullptr;
};

bool find_all(void* library, Api& api) {
  bool found = true;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    found = found && function != nullptr;
  };
  find(api.create, "nvrtcCreateProgram");
  find(api.compile, "nvrtcCompileProgram");
  find(api.ptx_size, "nvrtcGetPTXSize");
  find(api.ptx, "nvrtcGetPTX");
  find(api.log_size, "nvrtcGetProgramLogSize");
  find(api.log, "nvrtcGetProgramLog");
  find(api.destroy, "nvrtcDestroyProgram");
  return found;
}

std::string text(Program program, int (*size)(Program, std::size_t*), int (*get)(Program, char*)) {
  std::size_t bytes = 0;
  if (size(program, &bytes) != 0 || bytes == 0) return "";
  std::string text(bytes, '\0');
  if (get(program, text.data()) != 0) return "";
  text.pop_back();  // the zero at its end
  return text;
}

}  // namespace

std::vector<std::string> nvrtc_names() {
  return library_names({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"});
}

Result<std::string> compile_cuda(const std::string& source, const std::vector<std::string>& names) {
  void* library = nullptr;
  for (const std::string& name : names)
    if (library == nullptr) library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  Api api;
  if (library == nullptr || !find_all(library, api))
    return environment_error("NVIDIA's run-time compiler (libnvrtc) is not on this machine");
  Program program = nullptr;
  if (api.create(&program, source.c_str(), "hone.cu", 0, nullptr, nullptr) != 0)
    return failure("libnvrtc does not start");
  const char* const options[] = {"--gpu-architecture=compute_80"};
  const int result = api.compile(program, 1, options);
  std::string ptx = result == 0 ? text(program, api.ptx_size, api.ptx) : "";
  const std::string log = text(program, api.log_size, api.log);
  api.destroy(&program);
  if (ptx.empty()) return failure("libnvrtc cannot compile hone's kernels:\n{}", log);
  return ptx;
}

}  // namespace hone::device::cuda
