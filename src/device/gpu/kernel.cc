#include "device/gpu/kernel.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "problem/code_target.h"

namespace hone::device::gpu {

using problem::LaunchArgument;
using problem::TensorMap;

Result<const void*> TensorMaps::of(const LaunchArgument& argument, DevicePointer address) {
  const auto encode = gpu_.call().encode_tensor_map;
  if (encode == nullptr) return failure("the driver makes no tensor maps, which are of later ones");
  const auto [found, is_new] = maps_.try_emplace({&argument, address});
  if (!is_new) return &found->second;
  const TensorMap& map = argument.map;
  // The driver's order is the innermost dimension first, and it takes no stride for that one.
  std::vector<std::uint64_t> shape(map.shape.rbegin(), map.shape.rend()), strides;
  const std::vector<std::uint32_t> box(map.box.rbegin(), map.box.rend()), ones(shape.size(), 1);
  for (std::size_t i = map.strides.size(); i-- > 1;)
    strides.push_back(static_cast<std::uint64_t>(map.strides[i - 1] * map.element_bytes));
  // No interleaving, L2 promotion to 128 bytes, zeros outside: what Triton's own launcher asks for
  // (third_party/nvidia/backend/driver.c, fillTMADescriptor).
  constexpr int kNoInterleave = 0, kPromote128 = 2, kZeros = 0;
  const DriverCode code =
      encode(&found->second, map.element_type, static_cast<std::uint32_t>(shape.size()), address,
             shape.data(), strides.data(), box.data(), ones.data(), kNoInterleave, map.swizzle,
             kPromote128, kZeros);
  const Status encoded = gpu_.check(code, "describing a matrix to the GPU");
  if (encoded) return &found->second;
  maps_.erase(found);
  return tl::unexpected(encoded.error());
}

namespace {

// More dynamic shared memory than this has to be asked for (CUDA C++ programming guide, compute
// capabilities 7.0 and later).
constexpr std::uint32_t kSharedWithoutAsking = 48 * 1024;

// Neither what a module's memory holds at first nor a number that kernels are likely to write.
constexpr unsigned char kGuardByte = 0xA5;

}  // namespace

Status QueuedKernel::enqueue(std::span<const Buffer> bindings) {
  return launch(bindings);
}

GpuKernel::GpuKernel(std::shared_ptr<GpuContext> gpu, const LaunchParameters& parameters,
                     DevicePointer scratch)
    : gpu_(std::move(gpu)),
      parameters_(parameters),
      maps_(*gpu_),
      arguments_(parameters_, scratch,
                 [this](const LaunchArgument& argument, DevicePointer address) {
                   return maps_.of(argument, address);
                 }) {}

Result<std::unique_ptr<GpuKernel>> GpuKernel::load(std::shared_ptr<GpuContext> gpu,
                                                   std::string_view code,
                                                   const LaunchParameters& parameters,
                                                   DevicePointer scratch) {
  std::unique_ptr<GpuKernel> kernel(new GpuKernel(std::move(gpu), parameters, scratch));
  HONE_TRY(kernel->load_module(code));
  HONE_TRY(kernel->find_function());
  HONE_TRY(kernel->fill_guards());
  return kernel;
}

GpuKernel::~GpuKernel() {
  if (module_ != nullptr) gpu_->call().module_unload(module_);
}

Status GpuKernel::load_module(std::string_view code) {
  const GpuFacts& gpu = gpu_->facts();
  if (const Status meant = problem::check_code_target(code, gpu.arch); !meant)
    return failure("{} ({})", meant.error().message, gpu.name);
  const std::string image(code);  // PTX must end with a zero byte
  const DriverApi& call = gpu_->call();
  std::string log(call.module_load_logs ? 8192 : 0, '\0');
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  // An integer is passed in the place of its pointer.
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  const DriverCode result = call.module_load_logs
                                ? call.module_load(&module_, image.data(), 2, options, values)
                                : call.module_load(&module_, image.data(), 0, nullptr, nullptr);
  const Status loaded = gpu_->check(result, "the driver cannot load the code");
  log.resize(log.find('\0') == std::string::npos ? log.size() : log.find('\0'));
  if (!loaded && !log.empty()) return failure("{}:\n{}", loaded.error().message, log);
  return loaded;
}

Status GpuKernel::find_function() {
  const DriverApi& call = gpu_->call();
  HONE_TRY(gpu_->check(call.module_function(&function_, module_, parameters_.entry.c_str()),
                       fmt::format("the code has no kernel '{}'", parameters_.entry)));
  const std::pair<int, int*> attributes[] = {{kFunctionRegisters, &facts_.registers},
                                             {kFunctionSharedBytes, &facts_.shared_bytes},
                                             {kFunctionLocalBytes, &facts_.local_bytes},
                                             {kFunctionMaxThreads, &facts_.most_threads}};
  for (const auto& [attribute, value] : attributes)
    HONE_TRY(gpu_->check(call.function_attribute(value, attribute, function_),
                         "asking for the kernel's facts"));
  const auto& block = parameters_.block;
  const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
  if (threads < 1 || threads > static_cast<std::uint64_t>(facts_.most_threads))
    return failure("a block of {}x{}x{} threads; with its {} registers the kernel can have {}",
                   block[0], block[1], block[2], facts_.registers, facts_.most_threads);
  const std::uint32_t shared = parameters_.shared_bytes;
  const std::int64_t most = gpu_->facts().shared_bytes - facts_.shared_bytes;
  if (shared > most)
    return failure("{} bytes of dynamic shared memory; {} gives a block at most {}", shared,
                   gpu_->facts().name, most);
  if (shared > kSharedWithoutAsking && call.function_set_attribute != nullptr)
    HONE_TRY(gpu_->check(
        call.function_set_attribute(function_, kFunctionMaxDynamicShared, static_cast<int>(shared)),
        fmt::format("asking for {} bytes of dynamic shared memory", shared)));
  return {};
}

Status GpuKernel::fill_guards() {
  const DriverApi& call = gpu_->call();
  constexpr auto kGuard = static_cast<std::size_t>(problem::OwnMemory::kGuardBytes);
  for (const problem::OwnMemory& memory : parameters_.own_memory) {
    DevicePointer begin = 0;
    std::size_t bytes = 0;
    HONE_TRY(gpu_->check(call.module_variable(&begin, &bytes, module_, memory.variable.c_str()),
                         fmt::format("the code has no variable '{}'", memory.variable)));
    if (memory.bytes < 0 || bytes != 2 * kGuard + static_cast<std::size_t>(memory.bytes))
      return failure("the code's variable '{}' has {} bytes, not {} and two guards",
                     memory.variable, bytes, memory.bytes);
    const DevicePointer behind = begin + kGuard + static_cast<std::size_t>(memory.bytes);
    for (const DevicePointer guard : {begin, behind}) {
      HONE_TRY(gpu_->check(call.set_bytes(guard, kGuardByte, kGuard), "filling a guard"));
      guards_.push_back(guard);
    }
  }
  return {};
}

Result<std::string> GpuKernel::damage() {
  std::array<unsigned char, problem::OwnMemory::kGuardBytes> found{};
  for (std::size_t g = 0; g < guards_.size(); ++g) {
    HONE_TRY(gpu_->check(gpu_->call().copy_to_host(found.data(), guards_[g], found.size()),
                         "reading a guard"));
    const bool before = g % 2 == 0;
    const auto is_changed = [](unsigned char byte) { return byte != kGuardByte; };
    if (std::ranges::none_of(found, is_changed)) continue;
    // The changed byte nearest to the kernel's own.
    const problem::OwnMemory& memory = parameters_.own_memory[g / 2];
    const auto first = std::ranges::find_if(found, is_changed) - found.begin();
    const auto last =
        found.rend() - std::ranges::find_if(found.rbegin(), found.rend(), is_changed) - 1;
    return fmt::format("writes outside of its scratch memory, at byte {} of {}",
                       before ? last - std::ssize(found) : memory.bytes + first, memory.bytes);
  }
  return std::string();
}

Status GpuKernel::enqueue(std::span<const Buffer> bindings) {
  HONE_ASSIGN(const std::span<void*> arguments, arguments_.of(bindings));
  const auto &grid = parameters_.grid, &block = parameters_.block;
  return gpu_->check(
      gpu_->call().launch(function_, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                          parameters_.shared_bytes, nullptr, arguments.data(), nullptr),
      "launching the kernel");
}

Status GpuKernel::launch(std::span<const Buffer> bindings) {
  const BusyWait busy(*gpu_);
  HONE_TRY(enqueue(bindings));
  return gpu_->wait("running the kernel");
}

Result<std::unique_ptr<KernelSequence>> KernelSequence::load(const std::shared_ptr<GpuContext>& gpu,
                                                             std::string_view code,
                                                             const LaunchParameters& parameters) {
  std::unique_ptr<KernelSequence> sequence(new KernelSequence(gpu));
  const auto parts = problem::kernels_of(parameters, code);
  std::int64_t scratch_bytes = 0;
  for (const problem::KernelPart& part : parts)
    scratch_bytes = std::max(scratch_bytes, part.launch->scratch_bytes);
  if (scratch_bytes > 0) HONE_TRY(sequence->take_scratch(static_cast<std::size_t>(scratch_bytes)));
  for (const problem::KernelPart& part : parts) {
    HONE_ASSIGN(auto kernel, GpuKernel::load(gpu, part.code, *part.launch, sequence->scratch_));
    sequence->kernels_.push_back(std::move(kernel));
  }
  return sequence;
}

KernelSequence::~KernelSequence() {
  if (scratch_ != 0) gpu_->call().memory_free(scratch_);
}

Status KernelSequence::take_scratch(std::size_t bytes) {
  HONE_TRY(gpu_->check(gpu_->call().memory_allocate(&scratch_, bytes),
                       fmt::format("taking {} bytes of scratch memory", bytes)));
  return gpu_->check(gpu_->call().set_bytes(scratch_, 0, bytes), "clearing the scratch memory");
}

Status KernelSequence::enqueue(std::span<const Buffer> bindings) {
  for (const auto& kernel : kernels_) HONE_TRY(kernel->enqueue(bindings));
  return {};
}

Status KernelSequence::launch(std::span<const Buffer> bindings) {
  const BusyWait busy(*gpu_);
  HONE_TRY(enqueue(bindings));
  return gpu_->wait("running the kernels");
}

}  // namespace hone::device::gpu
