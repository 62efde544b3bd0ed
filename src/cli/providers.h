// The lists of what this program compiles with: each provider is a line of providers.cc.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "provider/compile_worker.h"

namespace hone::cli {

// The half of the provider called `name` that runs in a worker process; `installation` is the
// provider's own word for which of its compilers. An input error for a name that none has, else
// what opening the compiler gives.
Result<std::unique_ptr<provider::CompileWorker>> open_compile_worker(
    std::string_view name, const std::string& installation);

}  // namespace hone::cli
