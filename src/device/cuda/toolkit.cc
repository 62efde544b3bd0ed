#include "device/cuda/toolkit.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <sstream>

#include "base/file.h"
#include "base/process.h"
#include "base/python_environments.h"
#include "device/gpu/runtime_compiler.h"
#include "device/library.h"

namespace hone::device::cuda {
namespace {

namespace fs = std::filesystem;

void add(std::vector<fs::path>& folders, const fs::path& folder) {
  std::error_code error;
  if (!folder.empty() && fs::is_directory(folder, error)) folders.push_back(folder);
}

fs::path variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? fs::path(value) : fs::path();
}

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::vector<fs::path> toolkit_folders() {
  std::vector<fs::path> folders;
  add(folders, variable("CUDA_HOME"));
  add(folders, variable("CUDA_PATH"));
  for (const fs::path& packages : python_packages()) {
    for (const char* part :
         {"nvidia/cu13", "nvidia/cuda_nvcc", "nvidia/cuda_nvrtc", "nvidia/cublas"})
      add(folders, packages / part);
    add(folders, packages / "triton/backends/nvidia");
  }
  add(folders, "/usr/local/cuda");
  return folders;
}

std::vector<std::string> library_names(const std::vector<std::string>& files) {
  std::vector<std::string> names = files;
  for (const fs::path& folder : toolkit_folders())
    for (const char* part : {"lib64", "lib"})
      for (const std::string& file : files)
        if (std::error_code error; fs::exists(folder / part / file, error))
          names.push_back(folder / part / file);
  return names;
}

fs::path find_tool(std::string_view name) {
  for (const fs::path& folder : path_folders())
    if (is_program(folder / name)) return folder / name;
  for (const fs::path& folder : toolkit_folders())
    if (is_program(folder / "bin" / name)) return folder / "bin" / name;
  return {};
}

std::vector<std::string> nvrtc_names() {
  return library_names({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"});
}

Result<std::string> compile_cuda(const std::string& source, const std::vector<std::string>& names) {
  const auto library = SharedLibrary::open(names);
  if (!library)
    return environment_error("NVIDIA's run-time compiler (libnvrtc) is not on this machine");
  HONE_ASSIGN(std::string ptx, gpu::compile_source(*library, {"libnvrtc", "nvrtc", "PTX"}, source,
                                                   {"--gpu-architecture=compute_80"}));
  ptx.pop_back();  // the zero at its end
  return ptx;
}

namespace {

// The number before `word` in a line such as "0 bytes stack frame, 16 bytes spill stores"; 0 if the
// line does not have it.
int number_before(std::string_view line, std::string_view word) {
  const auto found = line.find(word);
  if (found == std::string_view::npos) return 0;
  std::size_t end = found;
  while (end > 0 && line[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  int number = 0;
  std::from_chars(line.data() + begin, line.data() + end, number);
  return number;
}

}  // namespace

Result<std::filesystem::path> find_ptxas() {
  std::filesystem::path path = find_tool("ptxas");
  if (path.empty())
    return advised(environment_error(
                       "ptxas is neither on PATH nor in /usr/local/cuda nor in a Python package"),
                   "the driver compiles instead, which is slower: pip install nvidia-cuda-nvcc");
  return path;
}

Result<AssemblyFacts> parse_ptxas_output(std::string_view output, std::string_view entry) {
  AssemblyFacts facts;
  bool inside = false, found = false;
  std::istringstream lines{std::string(output)};
  for (std::string line; std::getline(lines, line);) {
    const auto says = [&](std::string_view words) { return line.find(words) != std::string::npos; };
    if (says("Compiling entry function"))
      inside = entry.empty() || says(fmt::format("'{}'", entry));
    if (!inside) continue;
    if (says(" bytes stack frame")) {
      facts.stack_bytes = number_before(line, "bytes stack frame");
      facts.spill_store_bytes = number_before(line, "bytes spill stores");
      facts.spill_load_bytes = number_before(line, "bytes spill loads");
    }
    if (says("Used ")) {
      facts.registers = number_before(line, "registers");
      facts.barriers = number_before(line, "barriers");
      facts.shared_bytes = number_before(line, "bytes smem");
      found = true;
    }
  }
  if (!found) return failure("ptxas -v says nothing of the kernel '{}'", entry);
  return facts;
}

Result<AssembledKernel> assemble(const std::filesystem::path& ptxas, const std::string& ptx,
                                 std::string_view arch, double seconds) {
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-ptxas-"));
  const std::filesystem::path source = folder.path() / "kernel.ptx",
                              target = folder.path() / "kernel.cubin";
  HONE_TRY(write_file_atomically(source, ptx));
  const Command command{.arguments = {ptxas.string(), "-v", fmt::format("-arch={}", arch),
                                      source.string(), "-o", target.string()}};
  const ProcessLimits limits{.seconds = seconds};
  HONE_ASSIGN(const ProcessResult result, run_process(command, limits));
  const std::string words = result.standard_error.text() + result.standard_output.text();
  if (!result.succeeded()) return failure("ptxas: {}\n{}", describe(result, limits), words);
  AssembledKernel assembly;
  HONE_ASSIGN(assembly.facts, parse_ptxas_output(words));
  HONE_ASSIGN(assembly.cubin, read_file(target));
  return assembly;
}

}  // namespace hone::device::cuda
