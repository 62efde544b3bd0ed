// NVIDIA's assembler as a program: PTX to machine code on every core, where the driver's own
// compiler takes one kernel at a time and ten times as long.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone::device::cuda {

// Facts of a kernel, as ptxas -v states them.
struct AssemblyFacts {
  int registers = 0;  // of a thread
  int spill_store_bytes = 0;
  int spill_load_bytes = 0;
  int stack_bytes = 0;   // of a thread
  int shared_bytes = 0;  // static, of a block
  int barriers = 0;

  bool operator==(const AssemblyFacts&) const = default;
};

struct Assembly {
  std::string cubin;
  AssemblyFacts facts;
};

// Finds ptxas: on PATH, else in a toolkit (toolkit.h: /usr/local/cuda, the wheels of triton and
// nvidia-cuda-nvcc). An environment error says where to get it.
Result<std::filesystem::path> find_ptxas();

// Assembles `ptx` for `arch` ("sm_90"). Failures: ptxas's words, or that it took longer than
// `seconds`. Uses the folder for temporary files (TMPDIR) and leaves nothing there. Thread-safe.
Result<Assembly> assemble(const std::filesystem::path& ptxas, const std::string& ptx,
                          std::string_view arch, double seconds = 60);

// Returns the facts of `entry` from the output of `ptxas -v`, or of the only kernel if `entry` is
// empty. Fails if the output does not mention it.
Result<AssemblyFacts> parse_ptxas_output(std::string_view output, std::string_view entry = "");

}  // namespace hone::device::cuda
