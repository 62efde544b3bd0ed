// Assembles what a provider compiles for an NVIDIA GPU, in the worker that has compiled it.
#pragma once

#include <memory>

#include "provider/compile_worker.h"

namespace hone::cli {

// `worker`, and where a job names the GPU of its candidates ("assemble_for") and this machine has
// NVIDIA's assembler, PTX that it gives becomes machine code (device/cuda/ptxas.h). The driver
// would do that too, but one kernel at a time and in the runner.
std::unique_ptr<provider::CompileWorker> assembling(
    std::unique_ptr<provider::CompileWorker> worker);

}  // namespace hone::cli
