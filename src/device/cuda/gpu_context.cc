#include "device/cuda/gpu_context.h"

namespace hone::device::cuda {

Result<std::shared_ptr<GpuContext>> GpuContext::open(std::shared_ptr<Driver> driver,
                                                     const Facts& facts) {
  const std::shared_ptr<GpuContext> gpu(new GpuContext);
  gpu->driver_ = std::move(driver);
  gpu->facts_ = facts;
  const DriverApi& call = gpu->call();
  Context context = nullptr;
  const auto open = [&]() -> Status {
    const std::string doing = fmt::format("opening cuda:{} ({})", facts.index, facts.name);
    HONE_TRY(gpu->check(call.device_get(&gpu->device_, facts.index), doing));
    HONE_TRY(gpu->check(call.primary_context_retain(&context, gpu->device_), doing));
    gpu->retained_ = true;
    return gpu->check(call.context_set_current(context), doing);
  };
  if (const Status opened = open(); !opened) return environment_error("{}", opened.error().message);
  return gpu;
}

GpuContext::~GpuContext() {
  if (retained_) call().primary_context_release(device_);
}

}  // namespace hone::device::cuda
