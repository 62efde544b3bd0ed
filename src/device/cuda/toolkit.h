// Finds the installed parts of NVIDIA's toolkit: hone needs none of them, and uses those it finds.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::device::cuda {

// Folders that may hold bin/ or lib/ of a toolkit, most wanted first: $CUDA_HOME, $CUDA_PATH, the
// Python environments, /usr/local/cuda. The environments are python_environments(), $VIRTUAL_ENV
// and that of the python3 on PATH. Their wheels are nvidia-cuda-nvcc, nvidia-cuda-nvrtc,
// nvidia-cublas and triton's backend. Only existing folders are returned.
std::vector<std::filesystem::path> toolkit_folders();

// Names to open a library by: each of `files` by its name alone, which the system looks up
// (LD_LIBRARY_PATH), then where it is in lib64/ or lib/ of the toolkit folders.
std::vector<std::string> library_names(const std::vector<std::string>& files);

// The program `name` on PATH, else in bin/ of the toolkit folders; empty when there is none.
std::filesystem::path find_tool(std::string_view name);

// NVIDIA's run-time compiler for CUDA C++ (libnvrtc), opened at run time.

// Names under which the library is tried: the system's own, then those below toolkit_folders().
std::vector<std::string> nvrtc_names();

// PTX of `source` for compute capability 8.0 and later, by the first of `names` that opens.
// Environment error when none does; failure with the compiler's log when the source is wrong.
Result<std::string> compile_cuda(const std::string& source,
                                 const std::vector<std::string>& names = nvrtc_names());

// NVIDIA's assembler as a program: PTX to machine code on every core, where the driver's own
// compiler takes one kernel at a time and ten times as long.

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

struct AssembledKernel {
  std::string cubin;
  AssemblyFacts facts;
};

// Finds ptxas: on PATH, else in a toolkit (toolkit_folders(): /usr/local/cuda, the wheels of triton
// and nvidia-cuda-nvcc). An environment error says where to get it.
Result<std::filesystem::path> find_ptxas();

// Assembles `ptx` for `arch` ("sm_90"). Failures: ptxas's words, or that it took longer than
// `seconds`. Uses the folder for temporary files (TMPDIR) and leaves nothing there. Thread-safe.
Result<AssembledKernel> assemble(const std::filesystem::path& ptxas, const std::string& ptx,
                                 std::string_view arch, double seconds = 60);

// Returns the facts of `entry` from the output of `ptxas -v`, or of the only kernel if `entry` is
// empty. Fails if the output does not mention it.
Result<AssemblyFacts> parse_ptxas_output(std::string_view output, std::string_view entry = "");

}  // namespace hone::device::cuda
