// IREE's half in the worker processes: the jobs of provider/jobs.h, done by libIREECompiler.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "provider/compile_worker.h"

namespace hone::iree {

// Opens the compiler of `installation`, as find_installation() takes it. Errors of it and of
// Library::open.
Result<std::unique_ptr<provider::CompileWorker>> open_compile_worker(
    const std::string& installation);

}  // namespace hone::iree
