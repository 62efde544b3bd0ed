// IREE's own runtime, through the native tools of the iree-base-runtime wheel: how users run what
// hone tuned. A process per call loads the module, runs it, and leaves nothing behind; a process
// that stays times many programs.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/place.h"
#include "problem/dispatch.h"
#include "problem/npy.h"
#include "provider/iree/compiler/library.h"
#include "provider/program_provider.h"

namespace hone::iree {

// Flags that make IREE's runtime run on the device. Devices with an index have the same names in
// IREE as here, by their kind. The host's cores have one thread each: the synchronous device for
// one core (no worker thread, no queue), else the task system with a worker pinned to each core.
std::vector<std::string> device_flags(const device::Address& address);

// The tools' --input flags. Values that NumPy's files cannot express, such as packed integers, are
// written beside such a file as raw bytes (.bin); a scalar is text. Errors: a file that cannot be
// read or written.
Result<std::vector<std::string>> input_flags(const provider::ProgramCall& call);

// A host module that calls a function and returns its results, followed by the arguments that it
// overwrites: IREE's tools print no arguments. Compile it, and load it after the program. Text;
// empty if the function overwrites nothing.
std::string returning_module(const provider::ProgramCall& call);
// The flags that such a text is compiled with.
std::vector<std::string> returning_module_flags();

// Runs iree-dump-module and returns the module's metadata as it prints them. A failure with the
// tool's words if the file is no module.
Result<std::string> dump_module(const Installation& installation,
                                const std::filesystem::path& module);

// Reads the functions from the output of iree-dump-module, by the declarations that the compiler
// keeps in a module for its users (the attribute iree.abi.declaration):
//   sync func @f(%input0: tensor<4x8xf32>, %input1: tensor<f32>) -> (%output0: tensor<4x8xf32>)
// A function without one, or with an argument that is no tensor of a type hone knows, is omitted.
std::vector<problem::Function> functions_in_dump(std::string_view dump);

// The exported functions there without a declaration that take and return references only, without
// those that take fences ("f$async", which "f" calls) and the compiler's own ("__init").
std::vector<provider::UntypedFunction> untyped_in_dump(std::string_view dump);

// iree-run-module: calls the function once and returns its results. A failure with the tool's
// words when it does not run; an environment error when the tool is not installed.
Result<std::vector<problem::Array>> run_module(const Installation& installation,
                                               const provider::ProgramCall& call,
                                               std::size_t results);

// iree-benchmark-module: seconds per call, the mean of one repetition of about `seconds`.
Result<double> benchmark_module(const Installation& installation, const provider::ProgramCall& call,
                                double seconds);

// iree-benchmark-module --print_device_statistics, likewise: what each kernel takes while the
// module runs. No seconds: of its first call alone. One pair of runs showed no cost (ResNet-50 on
// two cores: 91.4 ms a call without, 89.2 with). Without kernels where the runtime says nothing of
// them.
Result<provider::ProgramTimes> kernel_times_in_module(const Installation& installation,
                                                      const provider::ProgramCall& call,
                                                      double seconds);

// Parses the output of --print_device_statistics into kernels of the host's cores:
//   host_execute main_dispatch_0_matmul_64x64x64_f32  count=9 total=1.832 ms avg=203.621 us
//   tiles=504
std::vector<provider::KernelTime> kernel_times_in_statistics(std::string_view text);

// iree-benchmark-executable: seconds per launch, likewise.
Result<double> benchmark_executable(const Installation& installation,
                                    const provider::ArtifactCall& call, double seconds);

// The time of the one benchmark in google-benchmark's JSON report, in seconds per iteration. A
// failure when there is none, or it reports an error.
Result<double> time_in_report(const std::string& report);

// Timing of whole programs one after the other in a resident process of IREE's runtime. The process
// opens the device and maps weight files once; iree-benchmark-module does so for each sample. Each
// sample still loads its module anew, since the place of its memory changes times by some percent.
// The process runs Python (python/resident_programs.py), because the wheel has no C library. If it
// cannot run, every sample is a process of iree-benchmark-module. Reasons are no Python, no NumPy,
// or flags of the runtime's tools that it does not know. Not thread-safe.
class ResidentPrograms {
 public:
  explicit ResidentPrograms(Installation installation);
  ResidentPrograms(ResidentPrograms&&) noexcept;
  ~ResidentPrograms();  // ends the processes

  // Seconds per call, the mean over calls that together take about `seconds`, after one or more
  // that are not timed. Errors: benchmark_module's.
  Result<double> time(const provider::ProgramCall& call, double seconds);

  // Results of one call. What an earlier program has computed may still lie in the memory that the
  // next one gets: call programs on one set of arguments after another, lest a kernel that writes
  // nothing pass. Errors: run_module's.
  Result<std::vector<problem::Array>> run(const provider::ProgramCall& call, std::size_t results);

  // Whether the last sample or result came from a process that stays.
  bool is_resident() const { return resident_; }

 private:
  class Process;

  // Returns the process for the call's device and flags, and starts it if there is none. nullptr if
  // the process cannot serve the call.
  Result<Process*> process_for(const provider::ProgramCall& call);
  void end(const Process& process);

  Installation installation_;
  std::vector<std::unique_ptr<Process>> processes_;
  bool can_be_ = true;  // no start of a process has failed
  bool resident_ = false;
};

// run.sh: what hone claims of a program, repeated by IREE's own tools alone. A POSIX shell script
// that compiles the program by both sets of flags, calls both modules in turn under
// iree-benchmark-module, on the cores or the device of `request.call`, prints the medians and their
// ratio, and compares the outputs (iree-run-module --expected_output). It ends with 1 where they
// differ by more than `request.tolerances` and that tool allow, unless the default's are known to
// be wrong. Results that no .npy file can hold are not compared.
Result<std::string> proof_script(const provider::ProofScript& request);

}  // namespace hone::iree
