#include "device/cuda/ptxas.h"

#include <charconv>

#include "base/file.h"
#include "base/process.h"
#include "device/cuda/toolkit.h"

namespace hone::device::cuda {
namespace {

// The number before `word` in a line such as "0 bytes stack frame, 16 bytes spill stores"; 0 where
// the line does not have it.
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

std::string_view next_line(std::string_view& text) {
  const auto end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return line;
}

}  // namespace

Result<std::filesystem::path> find_ptxas() {
  std::filesystem::path path = find_tool("ptxas");
  if (path.empty())
    return environment_error(
        "ptxas is neither on PATH nor in /usr/local/cuda nor in a Python package; the driver "
        "compiles instead, which is slower: pip install nvidia-cuda-nvcc");
  return path;
}

Result<AssemblyFacts> parse_ptxas_output(std::string_view output, std::string_view entry) {
  AssemblyFacts facts;
  bool inside = false, found = false;
  while (!output.empty()) {
    const std::string_view line = next_line(output);
    if (line.find("Compiling entry function") != std::string_view::npos)
      inside = entry.empty() || line.find(fmt::format("'{}'", entry)) != std::string_view::npos;
    if (!inside) continue;
    if (line.find(" bytes stack frame") != std::string_view::npos) {
      facts.stack_bytes = number_before(line, "bytes stack frame");
      facts.spill_store_bytes = number_before(line, "bytes spill stores");
      facts.spill_load_bytes = number_before(line, "bytes spill loads");
    }
    if (line.find("Used ") != std::string_view::npos) {
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
