#include "device/gpu/runtime_compiler.h"

#include "base/ranges.h"

namespace hone::device::gpu {
namespace {

struct ProgramState;
using Program = ProgramState*;

// nvrtc.h and hip/hiprtc.h; every call returns 0 for success.
struct Api {
  int (*create)(Program*, const char* source, const char* name, int headers, const char* const*,
                const char* const*) = nullptr;
  int (*compile)(Program, int options, const char* const*) = nullptr;
  int (*code_size)(Program, std::size_t*) = nullptr;
  int (*code)(Program, char*) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*destroy)(Program*) = nullptr;
};

bool find_all(const SharedLibrary& library, const RuntimeCompiler& names, Api& api) {
  const auto find = [&](const std::string& name, auto& function) {
    return library.find((names.prefix + name).c_str(), function);
  };
  return find("CreateProgram", api.create) && find("CompileProgram", api.compile) &&
         find("Get" + names.code + "Size", api.code_size) && find("Get" + names.code, api.code) &&
         find("GetProgramLogSize", api.log_size) && find("GetProgramLog", api.log) &&
         find("DestroyProgram", api.destroy);
}

std::string text(Program program, int (*size)(Program, std::size_t*), int (*get)(Program, char*)) {
  std::size_t bytes = 0;
  if (size(program, &bytes) != 0 || bytes == 0) return "";
  std::string text(bytes, '\0');
  return get(program, text.data()) == 0 ? text : "";
}

}  // namespace

Result<std::string> compile_source(const SharedLibrary& library, const RuntimeCompiler& compiler,
                                   const std::string& source,
                                   const std::vector<std::string>& options) {
  Api api;
  if (!find_all(library, compiler, api))
    return environment_error("{} has not the functions of {}", library.name(), compiler.name);
  Program program = nullptr;
  if (api.create(&program, source.c_str(), "hone.cc", 0, nullptr, nullptr) != 0)
    return failure("{} does not start", compiler.name);
  const auto given = mapped(options, [](const std::string& option) { return option.c_str(); });
  const int result = api.compile(program, static_cast<int>(given.size()), given.data());
  std::string code = result == 0 ? text(program, api.code_size, api.code) : "";
  const std::string log = text(program, api.log_size, api.log);
  api.destroy(&program);
  if (code.empty())
    return failure("{} cannot compile hone's kernels:\n{}", compiler.name, log.c_str());
  return code;
}

}  // namespace hone::device::gpu
