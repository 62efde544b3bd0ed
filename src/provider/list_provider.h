// Dispatches that a user lists, instead of a program that they are pieces of, and who makes their
// kernels. Each such provider is registered by a line of session/registry.cc, and named by
// `hone tune --provider NAME`.
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

  // The file that lists them, for messages; each dispatch once, in the file's order.
  virtual const std::string& path() const = 0;
  virtual const std::vector<problem::Dispatch>& dispatches() const = 0;
  // "sizes.yaml:3: " for one of a file's lines, else empty.
  virtual std::string place_of(const problem::Dispatch& dispatch) const {
    static_cast<void>(dispatch);
    return {};
  }
  // --device where neither a device nor a target is named; empty: this machine's cores.
  virtual std::string device() const { return {}; }

  // Makes what the tuner asks. `facts`: of the device, or, where none is here, of a target alone.
  // Input errors where there are no kernels for it, and for a dispatch that does not fit on it.
  virtual Result<std::unique_ptr<Provider>> provider_for(const device::Facts& facts) const = 0;
  // Flags of the workers' job "prepare".
  virtual Result<std::vector<std::string>> flags(const device::Facts& facts) const = 0;

  // Looks for the compiler; an environment error where there is none.
  virtual Result<FoundCompiler> find_compiler() = 0;
  // After find_compiler(): what long-lived workers run, its files in `folder`. None: the
  // CompileWorker that is registered beside it, in forked processes.
  virtual Result<std::optional<WorkerProgram>> worker_program(
      const device::Facts& facts, const std::filesystem::path& folder) const {
    static_cast<void>(facts);
    static_cast<void>(folder);
    return std::optional<WorkerProgram>();
  }

  // How tables call a dispatch.
  virtual std::string shown_name(const problem::Dispatch& dispatch) const { return dispatch.name; }
  // The results' file in the folder of --out, and the line of it for one of the dispatches.
  // `configured`: Artifact::configured of what is to be used; `seconds`: of a launch, where it was
  // measured.
  virtual std::string result_file() const = 0;
  virtual std::string result_line(const problem::Dispatch& dispatch, const std::string& configured,
                                  std::optional<double> seconds) const = 0;
};

}  // namespace hone::provider
