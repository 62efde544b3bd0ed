#include "provider/iree/gpu/executable.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "provider/ptx_kernel.h"
#include "provider/resources.h"

namespace hone::iree {
namespace {

// A flatbuffer read field by field (flatbuffers' internals document): every position is checked
// against the buffer's end; nothing where one lies outside or a field is absent.
class Flatbuffer {
 public:
  explicit Flatbuffer(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  std::optional<T> read(std::uint64_t at) const {
    T value;
    if (at > bytes_.size() || bytes_.size() - at < sizeof value) return std::nullopt;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }

  // Returns the target of the offset at `at`; nothing for offset 0.
  std::optional<std::uint64_t> follow(std::optional<std::uint64_t> at) const {
    const auto offset = at ? read<std::uint32_t>(*at) : std::nullopt;
    if (!offset || *offset == 0) return std::nullopt;
    return *at + *offset;
  }

  // Returns where field `index` of the table at `table` lies.
  std::optional<std::uint64_t> field(std::optional<std::uint64_t> table,
                                     std::uint64_t index) const {
    const auto to_vtable = table ? read<std::int32_t>(*table) : std::nullopt;
    if (!to_vtable) return std::nullopt;
    const std::int64_t vtable = static_cast<std::int64_t>(*table) - *to_vtable;
    if (vtable < 0) return std::nullopt;
    const auto start = static_cast<std::uint64_t>(vtable);
    const auto size = read<std::uint16_t>(start);
    const std::uint64_t slot = 4 + 2 * index;
    if (!size || *size < slot + 2) return std::nullopt;
    const auto offset = read<std::uint16_t>(start + slot);
    if (!offset || *offset == 0) return std::nullopt;
    return *table + *offset;
  }

  // Returns where element `index` of the vector at `vector` lies; nothing beyond its end.
  std::optional<std::uint64_t> element(std::optional<std::uint64_t> vector, std::uint64_t index,
                                       std::uint64_t size) const {
    const auto count = vector ? read<std::uint32_t>(*vector) : std::nullopt;
    if (!count || index >= *count) return std::nullopt;
    return *vector + sizeof(std::uint32_t) + index * size;
  }

  std::optional<std::string_view> string(std::optional<std::uint64_t> at) const {
    const auto size = at ? read<std::uint32_t>(*at) : std::nullopt;
    if (!size) return std::nullopt;
    const std::uint64_t begin = *at + sizeof(std::uint32_t);
    if (begin > bytes_.size() || bytes_.size() - begin < *size) return std::nullopt;
    return bytes_.substr(begin, *size);
  }

  template <class T>
  T value(std::optional<std::uint64_t> at, T otherwise) const {
    return at ? read<T>(*at).value_or(otherwise) : otherwise;
  }

 private:
  std::string_view bytes_;
};

constexpr std::string_view kMagics[] = {"CDA1", "HIP1"};
constexpr std::size_t kHeader = 64;
// Fields of ExecutableDef, ExportDef and ModuleDef by position.
constexpr std::uint64_t kExports = 0, kModules = 1;
constexpr std::uint64_t kModuleOrdinal = 0, kName = 1, kBlock = 2, kSharedBytes = 3, kConstants = 4;
constexpr std::uint64_t kImage = 0;

tl::unexpected<Error> damaged(std::string_view what) {
  return input_error("the compiled executable is damaged: {}", what);
}

}  // namespace

Result<GpuKernel> gpu_kernel(std::string_view executable, int ordinal) {
  if (executable.size() < kHeader) return damaged("it is shorter than its header");
  const std::string_view magic = executable.substr(0, 4);
  const bool cuda = magic == "CDA1";
  if (!cuda && magic != "HIP1") return damaged("it is neither CUDA's nor HIP's");
  std::uint64_t size = 0;
  std::memcpy(&size, executable.data() + 8, sizeof size);
  if (size > executable.size() - kHeader) return damaged("its header says more than there is");
  const Flatbuffer buffer(executable.substr(kHeader, size));

  const auto root = buffer.follow(0);
  const auto exports = buffer.follow(buffer.field(root, kExports));
  const auto exported =
      buffer.follow(buffer.element(exports, static_cast<std::uint64_t>(std::max(0, ordinal)), 4));
  if (!exported) return damaged(fmt::format("it has no export {}", ordinal));
  GpuKernel kernel;
  kernel.format = cuda ? provider::kCudaPtx : provider::kRocmHsaco;
  const auto name = buffer.string(buffer.follow(buffer.field(exported, kName)));
  if (!name) return damaged("its export has no name");
  kernel.entry = *name;
  const auto block = buffer.field(exported, kBlock);
  if (!block) return damaged("its export has no workgroup size");
  for (std::size_t i = 0; i < kernel.block.size(); ++i)
    kernel.block.at(i) = buffer.value<std::uint32_t>(*block + 4 * i, 0);
  kernel.shared_bytes = buffer.value<std::uint32_t>(buffer.field(exported, kSharedBytes), 0);
  kernel.constants = buffer.value<std::uint32_t>(buffer.field(exported, kConstants), 0);

  const auto module = buffer.value<std::uint32_t>(buffer.field(exported, kModuleOrdinal), 0);
  const auto modules = buffer.follow(buffer.field(root, kModules));
  const auto image = buffer.string(
      buffer.follow(buffer.field(buffer.follow(buffer.element(modules, module, 4)), kImage)));
  if (!image || image->empty()) return damaged("its export has no code");
  kernel.code = *image;
  return kernel;
}

std::vector<GpuKernel> kernels_in_module(std::string_view module) {
  std::vector<GpuKernel> kernels;
  for (const std::string_view magic : kMagics)
    for (std::size_t at = module.find(magic); at != std::string_view::npos;
         at = module.find(magic, at + 1))
      if (auto kernel = gpu_kernel(module.substr(at), 0)) kernels.push_back(std::move(*kernel));
  return kernels;
}

std::optional<GpuKernel> kernel_in_module(std::string_view module, std::string_view entry) {
  const std::string symbol = provider::symbol_in_code(entry);
  for (const std::string_view magic : kMagics) {
    for (std::size_t at = module.find(magic); at != std::string_view::npos;
         at = module.find(magic, at + 1)) {
      // Bytes that only look like a header have no export that can be read.
      for (int ordinal = 0;; ++ordinal) {
        auto kernel = gpu_kernel(module.substr(at), ordinal);
        if (!kernel) break;
        if (kernel->entry == entry || kernel->entry == symbol) return std::move(*kernel);
      }
    }
  }
  return std::nullopt;
}

}  // namespace hone::iree
