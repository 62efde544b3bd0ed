#include "device/hip/gpu.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <nlohmann/json.hpp>

namespace hone::device::hip {
namespace {

// The Infinity Cache of MI300 and MI350, where the kernel does not state it (AMD's CDNA 3 and 4
// white papers): rotations must exceed it, whatever a partition sees of it.
constexpr std::int64_t kInfinityCacheBytes = std::int64_t{256} << 20;
// Rough throughput of kernels on an MI300X, per second: f16 operations, and bytes from its memory.
// A quarter of what AMD states, not measured.
constexpr double kRoughFlops = 3e14, kRoughBytes = 3e12;
constexpr double kLaunchSeconds = 5e-6;  // likewise a guess

// The UUID of an emulated GPU begins with these bytes (tests/amd).
constexpr std::string_view kEmulatorMark = "emulated";

// HIP fills a UUID with the 16 hexadecimal digits of the GPU's unique number.
std::string id_of(const gpu::Uuid& uuid) {
  if (!std::ranges::all_of(uuid.bytes, [](unsigned char byte) { return std::isxdigit(byte) != 0; }))
    return gpu::text_of(uuid);
  std::string text = "GPU-";
  for (const unsigned char byte : uuid.bytes) text += static_cast<char>(byte);
  return text;
}

bool has_infinity_cache(std::string_view arch) {
  return arch == "gfx940" || arch == "gfx941" || arch == "gfx942" || arch == "gfx950";
}

Result<GpuFacts> facts_of(Driver& driver, int index, const std::filesystem::path& root) {
  GpuFacts facts;
  {
    HONE_ASSIGN(gpu::GpuFacts shared, gpu::shared_facts(driver, kKind, index));
    static_cast<gpu::GpuFacts&>(facts) = std::move(shared);
  }
  const gpu::DriverApi& call = driver.call();
  const std::string doing = fmt::format("asking for the facts of hip:{}", index);
  gpu::DeviceHandle device = 0;
  HONE_TRY(driver.check(call.device_get(&device, index), doing));
  gpu::Uuid uuid{};
  HONE_TRY(driver.check(call.device_uuid(&uuid, device), doing));
  int l2 = 0, shared_bytes = 0, kilohertz = 0;
  const std::pair<int, int*> attributes[] = {{kAttributeMultiprocessorCount, &facts.units},
                                             {kAttributeL2CacheSize, &l2},
                                             {kAttributeMaxSharedMemoryPerBlock, &shared_bytes},
                                             {kAttributeWarpSize, &facts.wave_size}};
  for (const auto& [attribute, value] : attributes)
    HONE_TRY(driver.check(call.device_attribute(value, attribute, device), doing));
  // Virtual functions may not report it; nothing depends on it.
  if (call.device_attribute(&kilohertz, kAttributeClockRate, device) != 0) kilohertz = 0;
  HONE_ASSIGN(facts.isa, isa_of(driver, index));
  facts.arch = facts.isa.substr(0, facts.isa.find(':'));
  facts.shared_bytes = shared_bytes;
  facts.megahertz = kilohertz / 1000;
  facts.l2_bytes = l2;
  facts.emulated = std::memcmp(uuid.bytes, kEmulatorMark.data(), kEmulatorMark.size()) == 0;
  facts.overrides = overrides_in(environ);
  const auto node = find_node(facts.pci, root);
  // A runtime before HIP 7.2 does not know the number of dies.
  if (call.device_attribute(&facts.xccs, kAttributeNumberOfXccs, device) != 0 || facts.xccs <= 0)
    facts.xccs = node ? node->xccs : 0;
  facts.gpu_id = node ? node->gpu_id : 0;
  facts.last_level_cache_bytes = std::max(facts.l2_bytes, node ? node->last_level_cache_bytes : 0);
  if (!node && !facts.emulated && has_infinity_cache(facts.arch))
    facts.last_level_cache_bytes = kInfinityCacheBytes;
  facts.partition = partition_of(facts.pci, root);
  facts.id = fmt::format("{}-{}-{}x{}", id_of(uuid), facts.pci, facts.xccs, facts.units);
  for (const std::string& part : {facts.partition.compute, facts.partition.memory})
    if (!part.empty()) facts.id += "-" + part;
  return facts;
}

std::string partition_text(const GpuFacts& facts) {
  std::string text = facts.partition.compute;
  if (!facts.partition.memory.empty()) text += (text.empty() ? "" : "/") + facts.partition.memory;
  return text;
}

// Facts that two comparable measurements share.
nlohmann::json identity_of(const GpuFacts& facts) {
  nlohmann::json identity{{"kind", kKind},
                          {"name", facts.name},
                          {"arch", facts.isa},
                          {"compute_units", facts.units},
                          {"xccs", facts.xccs},
                          {"memory_bytes", facts.memory_bytes},
                          {"driver_version", facts.driver_version}};
  if (const std::string partition = partition_text(facts); !partition.empty())
    identity["partition"] = partition;
  if (!facts.overrides.empty()) identity["overrides"] = facts.overrides;
  if (facts.emulated) identity["emulated"] = true;
  return identity;
}

nlohmann::json details_of(const GpuFacts& facts, const std::string& library) {
  return {{"index", facts.index},
          {"name", facts.name},
          {"id", facts.id},
          {"pci", facts.pci},
          {"arch", facts.arch},
          {"isa", facts.isa},
          {"compute_units", facts.units},
          {"xccs", facts.xccs},
          {"wave_size", facts.wave_size},
          {"partition", partition_text(facts)},
          {"l2_bytes", facts.l2_bytes},
          {"last_level_cache_bytes", facts.last_level_cache_bytes},
          {"memory_bytes", facts.memory_bytes},
          {"shared_bytes", facts.shared_bytes},
          {"megahertz", facts.megahertz},
          {"driver_version", facts.driver_version},
          {"library", library},
          {"overrides", facts.overrides},
          {"emulated", facts.emulated}};
}

std::string describe(const GpuFacts& facts, const std::string& driver) {
  std::string text = fmt::format(
      "{}: {}, {} compute units{}, {:.0f} GiB, LDS {} KiB, last-level cache {:.0f} MiB, {}",
      facts.name, facts.arch, facts.units,
      facts.xccs > 1 ? fmt::format(" of {} dies", facts.xccs) : "",
      static_cast<double>(facts.memory_bytes) / (1 << 30), facts.shared_bytes >> 10,
      static_cast<double>(facts.last_level_cache_bytes) / (1 << 20), driver);
  if (const std::string partition = partition_text(facts); !partition.empty())
    text += ", partition " + partition;
  return text;
}

}  // namespace

std::vector<std::string> overrides_in(const char* const* environment) {
  constexpr std::string_view kOverride = "HSA_OVERRIDE_GFX_VERSION";
  std::vector<std::string> overrides;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals + 1 == entry.size()) continue;
    const std::string_view name = entry.substr(0, equals);
    if (name == kOverride || (name.starts_with(kOverride) && name[kOverride.size()] == '_'))
      overrides.emplace_back(entry);
  }
  std::ranges::sort(overrides);
  return overrides;
}

Result<std::vector<GpuFacts>> list_devices(Driver& driver, const std::filesystem::path& root) {
  int count = 0;
  HONE_TRY(driver.check(driver.call().device_count(&count), "counting the GPUs"));
  std::vector<GpuFacts> devices;
  for (int index = 0; index < count; ++index) {
    HONE_ASSIGN(GpuFacts facts, facts_of(driver, index, root));
    devices.push_back(std::move(facts));
  }
  return devices;
}

Place place_of(const GpuFacts& facts, const std::string& library, std::vector<int> cores) {
  Place place;
  place.address = {.kind = std::string(kKind),
                   .index = facts.index,
                   .cores = std::move(cores),
                   .library = library};
  place.traits = {.own_memory = true,
                  .compiling_disturbs = false,
                  .one_batch_tells = true,
                  .assembles_code = false,
                  .runs_on_host = false,
                  .matrix_units = true};
  const std::string version = version_text(facts.driver_version);
  const std::string driver = "HIP " + version;
  place.facts = {.name = facts.name,
                 .driver = driver,
                 .target = facts.arch,
                 .description = describe(facts, driver),
                 .id = facts.id,
                 .identity = nlohmann::json{{"identity", identity_of(facts)}}.dump(),
                 .details = details_of(facts, library).dump(),
                 .last_level_cache_bytes = facts.last_level_cache_bytes,
                 .memory_bytes = facts.memory_bytes,
                 .workgroup_memory_bytes = facts.shared_bytes,
                 .units = facts.units,
                 .rough_flops = kRoughFlops,
                 .rough_bytes = kRoughBytes,
                 .launch_seconds = kLaunchSeconds,
                 .emulated = facts.emulated,
                 .overrides = facts.overrides};
  if (facts.driver_version < kProgramsMajor * kVersionsOfAMajor)
    place.facts.no_programs = fmt::format(
        "HIP {} runs kernels only: whole programs need HIP {} or later", version, kProgramsMajor);
  return place;
}

}  // namespace hone::device::hip
