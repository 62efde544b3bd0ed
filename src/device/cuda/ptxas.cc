#include "device/cuda/ptxas.h"

#include <charconv>
#include <sstream>

#include "base/file.h"
#include "base/process.h"
#include "device/cuda/toolkit.h"

namespace hone::device::cuda {
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

Result<Assembly> assemble(const std::filesystem::path& ptxas, const std::string& ptx,
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
  Assembly assembly;
  HONE_ASSIGN(assembly.facts, parse_ptxas_output(words));
  HONE_ASSIGN(assembly.cubin, read_file(target));
  return assembly;
}

}  // namespace hone::device::cuda
