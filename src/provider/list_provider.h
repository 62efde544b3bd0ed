// A provider for dispatches that a user lists, instead of those of a program, and for their
// kernels. A line of session/registry.cc registers each such provider; `hone tune --provider NAME`
// selects it.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process.h"
#include "device/place.h"
#include "problem/dispatch.h"
#include "provider/compile_worker.h"
#include "provider/provider.h"

namespace hone::provider {

// A program in another language that long-lived worker processes run (worker/persistent_pool.h).
struct WorkerProgram {
  std::vector<std::string> command;
  std::vector<EnvironmentChange> environment = {};
  // Names the code that a job asks for: jobs of one name are compiled once (PersistentPoolOptions).
  std::function<std::string(const Message&)> same_work = {};
};

struct FoundCompiler {
  std::string name;          // "Triton 3.6.0", of the build's row in the store
  std::string installation;  // what open_compile_worker() is told
};

class ListProvider {
 public:
  virtual ~ListProvider() = default;

  // Path of the file that lists the dispatches, for messages. Each dispatch occurs once, in the
  // file's order.
  virtual const std::string& path() const = 0;
  virtual const std::vector<problem::Dispatch>& dispatches() const = 0;
  // "sizes.yaml:3: " for a dispatch of the file, else empty.
  virtual std::string place_of(const problem::Dispatch&) const { return {}; }
  // Default of --device if neither a device nor a target is named; empty: this machine's cores.
  virtual std::string device() const { return {}; }

  // Makes the Provider. `facts`: of the device, or of a target alone if no device is here. Input
  // errors if there are no kernels for it, or a dispatch does not fit on it.
  virtual Result<std::unique_ptr<Provider>> provider_for(const device::Facts& facts) const = 0;
  // Flags of the workers' job "prepare".
  virtual Result<std::vector<std::string>> flags(const device::Facts& facts) const = 0;

  // Finds the compiler; an environment error if there is none.
  virtual Result<FoundCompiler> find_compiler() = 0;
  // Returns the program of long-lived workers, with its files in `folder`. Call it after
  // find_compiler(). None: the CompileWorker that is registered beside it compiles in forked
  // processes.
  virtual Result<std::optional<WorkerProgram>> worker_program(
      const device::Facts&, const std::filesystem::path& /*folder*/) const {
    return std::optional<WorkerProgram>();
  }

  // Name of a dispatch in tables.
  virtual std::string shown_name(const problem::Dispatch& dispatch) const { return dispatch.name; }
  // Name of the result file in the folder of --out, and its line for a dispatch. `configured`:
  // Artifact::configured of the chosen kernel; `seconds`: of a launch, if it was measured.
  virtual std::string result_file() const = 0;
  virtual std::string result_line(const problem::Dispatch& dispatch, const std::string& configured,
                                  std::optional<double> seconds) const = 0;
};

}  // namespace hone::provider
