#include "device/gpu/gpu.h"

#include <algorithm>
#include <utility>

#include "device/place.h"

namespace hone::device::gpu {

Result<GpuFacts> shared_facts(Driver& driver, std::string_view kind, int index) {
  const DriverApi& call = driver.call();
  const std::string doing = fmt::format("asking for the facts of {}:{}", kind, index);
  DeviceHandle device = 0;
  HONE_TRY(driver.check(call.device_get(&device, index), doing));
  char name[256] = {}, pci[64] = {};
  HONE_TRY(driver.check(call.device_name(name, sizeof(name) - 1, device), doing));
  HONE_TRY(driver.check(call.device_pci_bus_id(pci, sizeof(pci) - 1, device), doing));
  Uuid uuid{};
  HONE_TRY(driver.check(call.device_uuid(&uuid, device), doing));
  std::size_t bytes = 0;
  HONE_TRY(driver.check(call.device_total_memory(&bytes, device), doing));
  GpuFacts facts;
  facts.kind = kind;
  facts.index = index;
  facts.name = name;
  facts.id = text_of(uuid);
  facts.pci = pci;
  facts.memory_bytes = static_cast<std::int64_t>(bytes);
  facts.driver_version = driver.version();
  return facts;
}

Result<GpuFacts> find_device(const std::vector<GpuFacts>& devices, std::string_view kind,
                             int index) {
  const auto found = std::ranges::find(devices, index, &GpuFacts::index);
  if (found != devices.end()) return *found;
  std::vector<std::pair<int, std::string>> present;
  for (const GpuFacts& facts : devices) present.emplace_back(facts.index, facts.name);
  return no_such_device(kind, index, present);
}

Result<std::shared_ptr<GpuContext>> GpuContext::open(std::shared_ptr<Driver> driver,
                                                     const GpuFacts& facts) {
  const std::shared_ptr<GpuContext> gpu(new GpuContext);
  gpu->driver_ = std::move(driver);
  gpu->facts_ = facts;
  const DriverApi& call = gpu->call();
  ContextHandle context = nullptr;
  const auto open = [&]() -> Status {
    const std::string doing =
        fmt::format("opening {}:{} ({})", facts.kind, facts.index, facts.name);
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

Result<GpuStopwatch> GpuStopwatch::create(std::shared_ptr<GpuContext> gpu) {
  GpuStopwatch watch(std::move(gpu));
  for (EventHandle* event : {&watch.start_, &watch.end_})
    HONE_TRY(watch.gpu_->check(watch.gpu_->call().event_create(event, 0), "making an event"));
  return watch;
}

GpuStopwatch::~GpuStopwatch() {
  for (EventHandle event : {start_, end_})
    if (event != nullptr) gpu_->call().event_destroy(event);
}

GpuStopwatch::GpuStopwatch(GpuStopwatch&& other) noexcept
    : gpu_(other.gpu_),
      start_(std::exchange(other.start_, nullptr)),
      end_(std::exchange(other.end_, nullptr)) {}

Status GpuStopwatch::start() {
  return gpu_->check(gpu_->call().event_record(start_, nullptr), "starting to time");
}

Result<double> GpuStopwatch::stop() {
  const DriverApi& call = gpu_->call();
  HONE_TRY(gpu_->check(call.event_record(end_, nullptr), "ending to time"));
  HONE_TRY(gpu_->check(call.event_synchronize(end_), "running the kernel"));
  float milliseconds = 0;
  HONE_TRY(gpu_->check(call.event_milliseconds(&milliseconds, start_, end_), "timing"));
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace hone::device::gpu
