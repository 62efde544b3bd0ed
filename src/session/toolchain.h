// Toolchain that commands share: options for compiler and program, and the processes behind them.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "problem/target.h"
#include "provider/iree/compiler/library.h"
#include "provider/iree/iree_provider.h"
#include "provider/list_provider.h"
#include "trial/compile_service.h"
#include "worker/compile_pool.h"
#include "worker/persistent_pool.h"
#include "worker/runner_process.h"
#include "worker/session_folder.h"

namespace hone::session {

struct ToolchainOptions {
  std::string iree;             // where IREE is; empty: looked for
  std::string target = "host";  // CPU or GPU that code is compiled for
  // CPU of the machine that kernels run on, as the compiler names it, and its facts; none: this
  // machine's.
  std::string host = "host";
  std::optional<problem::CpuTarget> host_cpu;
  std::vector<std::string> flags;  // further ones for iree-compile
  std::string flags_file;          // they were in part read from; empty: none was given
  // "M=512", "M=1,16": of what programs leave open until run time (problem::given_sizes).
  std::vector<std::string> sizes;
  // "NAME=VALUE": variables that this process has set, and with it all that it starts.
  std::vector<std::string> environment;
  std::string audited_rule;      // hone's hard rule that candidates are to break; empty: none
  int jobs = 0;                  // compile processes; 0: one per core
  double compile_seconds = 60;   // limit of one candidate
  double compile_gigabytes = 4;  // likewise
};

// Returns the GPU that `options.target` names (the command line has checked it); nullopt for a CPU.
std::optional<problem::GpuTarget> gpu_of(const ToolchainOptions& options);
// Returns a line for the user if code is compiled for another target than named; else empty.
std::string target_note(const ToolchainOptions& options);
// Returns {"name", "compiled_as"} for JSON documents.
nlohmann::json target_json(const ToolchainOptions& options);
// Splits the program in the file into dispatches for `options.target`. On a GPU each dispatch has
// the compiler's constraints on it. Errors: those of CompileService::load_program.
Result<problem::Program> load_for_target(trial::CompileService& compiler,
                                         const ToolchainOptions& options, const std::string& path,
                                         const std::string& bytes,
                                         const std::optional<problem::GivenSizes>& given = {});

// Returns IREE for `options.target`. A CPU's space is this machine's, for kernels on so many cores
// (nullopt: all).
Result<std::unique_ptr<iree::IreeProvider>> make_provider(const ToolchainOptions& options,
                                                          const iree::Installation& installation,
                                                          std::optional<int> cores = {},
                                                          iree::Runtime runtime = nullptr);

// Returns the compiler flags for `options.target`: of the local device, CUDA's or HIP's.
std::vector<std::string> compile_flags(const ToolchainOptions& options);
// Returns the number of compile processes; the default is one for each core that this process may
// use.
int jobs_of(const ToolchainOptions& options);

// Returns the flags for a CPU that shares little code generation with the target: the oldest x86-64
// or aarch64, or when the target is a GPU this machine's CPU.
std::vector<std::string> reference_flags(const ToolchainOptions& options);

// Likewise for a run that only compiles: its references may run on another machine. Those of code
// for a GPU are for any CPU of this level.
inline constexpr std::string_view kTravellingReferenceCpu = "x86-64-v3";
std::vector<std::string> travelling_reference_flags(const ToolchainOptions& options);

// Makes a runner of candidates on this machine, with its folder in `temporary`; it starts with the
// first call.
worker::RunnerProcess make_runner(int stop_fd, const std::filesystem::path& temporary);
// Returns the CPU of the machine that kernels run on.
Result<problem::CpuTarget> host_cpu(const ToolchainOptions& options);

// Starts compile workers of a provider in the registry (registry.h). `installation`: the provider's
// own identifier of one of its compilers. The workers have their folders in `temporary`, and are
// not waited for once `stop_fd` is readable. Errors: those of the provider's open_compile_worker();
// environment errors if no process starts.
Result<std::unique_ptr<worker::CompilePool>> start_compile_workers(
    const std::string& provider, const std::string& installation, const ToolchainOptions& options,
    int stop_fd, const std::filesystem::path& temporary);
// Starts workers that run a program in another language, in the same number and with the same
// limits.
Result<std::unique_ptr<worker::PersistentPool>> start_program_workers(
    const provider::WorkerProgram& program, const ToolchainOptions& options, int stop_fd,
    const std::filesystem::path& temporary);

// The running compile workers of a command, and its folder for temporary files.
class Toolchain {
 public:
  // Starts IREE's workers. Environment errors: IREE is missing or too old, the workers do not
  // start. Input errors: those of given_sizes.
  static Result<Toolchain> start(const ToolchainOptions& options);
  // Starts those of a listed provider. `provider`: the name that `listed` is registered under.
  // `compiler`: that it found. Errors: those of start_compile_workers() and
  // start_program_workers().
  static Result<Toolchain> start(const ToolchainOptions& options, const std::string& provider,
                                 const provider::ListProvider& listed,
                                 const provider::FoundCompiler& compiler,
                                 const device::Facts& facts);

  // Starts nothing; asking its compiler for anything is an environment error.
  static Result<Toolchain> without_compiler();

  const iree::Installation& installation() const { return installation_; }  // empty if not IREE's
  trial::CompileService& compiler() const { return *compiler_; }
  int stop_fd() const { return stop_.fd(); }
  int jobs() const { return jobs_; }  // compile processes
  // Makes a runner on the machine of this address (device::Address::host).
  std::unique_ptr<worker::RunnerTransport> make_runner(
      const device::Address& address, const std::vector<std::string>& environment) const;
  // The folder in which further workers make theirs.
  std::filesystem::path temporary() const { return folder_.parent(); }
  // IREE's own name for its version.
  const std::string& revision() const { return revision_; }
  // The compiler's with its version, for the build identity.
  const std::string& name() const { return name_; }

 private:
  Toolchain(worker::TunerFolder folder, StopSignal stop)
      : folder_(std::move(folder)), stop_(std::move(stop)) {}
  static Result<Toolchain> claim_folder();

  worker::TunerFolder folder_;
  StopSignal stop_;
  iree::Installation installation_;
  std::string name_;
  std::string revision_;
  int jobs_ = 1;
  std::unique_ptr<worker::WorkerPool> pool_;
  std::unique_ptr<trial::CompileService> compiler_;
};

// Returns the path of this program, which workers run.
std::string own_executable();

}  // namespace hone::session
