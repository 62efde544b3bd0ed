#include "cli/providers.h"

#include "cli/assembling_worker.h"
#include "provider/iree/compile_worker.h"

namespace hone::cli {
namespace {

struct CompileWorkerOf {
  std::string_view provider;
  Result<std::unique_ptr<provider::CompileWorker>> (*open)(const std::string& installation);
};

// Those whose compiler is a library that this program opens. One that is a program of its own
// (Triton's, in Python) is started by `hone worker exec`.
constexpr CompileWorkerOf kCompileWorkers[] = {
    {"iree", iree::open_compile_worker},
};

}  // namespace

Result<std::unique_ptr<provider::CompileWorker>> open_compile_worker(
    std::string_view name, const std::string& installation) {
  for (const CompileWorkerOf& each : kCompileWorkers)
    if (each.provider == name) {
      HONE_ASSIGN(auto worker, each.open(installation));
      return assembling(std::move(worker));
    }
  return input_error("there is no provider '{}' with compile workers in this program", name);
}

}  // namespace hone::cli
