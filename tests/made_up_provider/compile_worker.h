// Products of matrices written in C, as a provider: what a worker runs.
#pragma once

#include <memory>
#include <string>

#include "provider/compile_worker.h"

namespace hone::plain_c {

// Compiles with `cc`, looked up on PATH, to code that a CPU device loads. An environment error
// where there is none.
Result<std::unique_ptr<provider::CompileWorker>> open_compile_worker(const std::string& cc);

}  // namespace hone::plain_c
