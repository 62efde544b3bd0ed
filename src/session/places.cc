#include "session/places.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/json.h"
#include "base/process.h"
#include "device/cpu/target.h"
#include "device/cuda/gpu.h"
#include "provider/resources.h"
#include "session/registry.h"

namespace hone::session {
namespace {

// Drivers that have not answered within a minute never do.
constexpr ProcessLimits kLimits{.seconds = 60};

constexpr std::pair<ErrorKind, std::string_view> kErrorKinds[] = {
    {ErrorKind::kInput, "input"},
    {ErrorKind::kEnvironment, "environment"},
    {ErrorKind::kFailure, "failure"},
    {ErrorKind::kInterrupted, "interrupted"}};

Result<std::vector<device::Place>> answer_in(const std::string& text) {
  try {
    const nlohmann::json answer = nlohmann::json::parse(text);
    if (const auto error = answer.find("error"); error != answer.end())
      return tl::unexpected(
          Error{named(error->at("kind"), kErrorKinds), error->at("message").get<std::string>()});
    return answer.at("places").get<std::vector<device::Place>>();
  } catch (const nlohmann::json::exception& error) {
    return environment_error("its answer cannot be read: {}", error.what());
  }
}

std::optional<int> index_in(std::string_view text) {
  int index = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (code != std::errc() || end != text.data() + text.size() || index < 0) return std::nullopt;
  return index;
}

bool is_amd(const std::string& target) {
  return target.starts_with("gfx");
}

struct NamedDevices {
  std::string kind;  // empty: bare numbers
  std::vector<int> indices;
};

// "cpu", "0,2", "cuda:0,2" or "cuda:0,cuda:2"; nothing where the text is no such list.
std::optional<NamedDevices> devices_in(const std::string& text) {
  NamedDevices named;
  for (std::string_view rest = text; !rest.empty();) {
    const auto comma = rest.find(',');
    std::string_view item = rest.substr(0, comma);
    const auto colon = item.find(':');
    if (colon != std::string_view::npos) {
      const std::string_view kind = item.substr(0, colon);
      if (!named.kind.empty() && named.kind != kind) return std::nullopt;
      named.kind = kind;
      item.remove_prefix(colon + 1);
    }
    const auto index = index_in(item);
    if (!index && item != text) return std::nullopt;
    if (index)
      named.indices.push_back(*index);
    else
      named.kind = item;
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
    if (rest.empty()) return std::nullopt;
  }
  return named;
}

// "devices are cpu and cuda:0, cuda:1, ...; several: cuda:0,1".
std::string devices_there_are(const std::vector<device::DeviceKind>& kinds) {
  std::string names, several;
  for (const device::DeviceKind& kind : kinds) {
    const bool host = kind.name == device::kHostKind;
    if (!names.empty()) names += " and ";
    names += host ? kind.name : fmt::format("{0}:0, {0}:1, ...", kind.name);
    if (!host && several.empty()) several = fmt::format("; several: {}:0,1", kind.name);
  }
  return "devices are " + names + several;
}

// Returns the places of one kind with these indices.
Result<std::vector<device::Place>> places_at(const std::string& kind,
                                             const std::vector<int>& indices,
                                             const std::vector<int>& cores) {
  HONE_ASSIGN(const std::vector<device::Place> there, list_places(kind, cores));
  std::vector<device::Place> places;
  for (const int index : indices) {
    HONE_ASSIGN(device::Place place, device::find_place(there, kind, index));
    const std::string name = name_of(place.address);
    for (const device::Place& other : places) {
      if (other.address == place.address) return input_error("--device names {} twice", name);
      if (other.facts.identity != place.facts.identity)
        return input_error(
            "--device: {} ({}) and {} ({}) are not of one kind, and their results cannot "
            "be shared; tune for one after the other",
            name_of(other.address), other.facts.name, name, place.facts.name);
    }
    places.push_back(std::move(place));
  }
  return places;
}

}  // namespace

Result<std::vector<device::Place>> list_places(const std::string& kind,
                                               const std::vector<int>& cores) {
  Command command{{own_executable(), "worker", "devices", kind}};
  if (!cores.empty()) {
    command.arguments.emplace_back("--cores");
    command.arguments.push_back(fmt::format("{}", fmt::join(cores, ",")));
  }
  HONE_ASSIGN(ProcessResult listed, run_process(command, kLimits));
  if (listed.signal != 0) {  // somebody may have killed it
    HONE_ASSIGN(listed, run_process(command, kLimits));
  }
  if (!listed.succeeded())
    return environment_error("the process that lists the devices of kind '{}' failed: {}{}{}", kind,
                             describe(listed, kLimits),
                             listed.standard_error.text().empty() ? "" : "; ",
                             listed.standard_error.text());
  return answer_in(listed.standard_output.text());
}

Result<std::string> places_answer(const std::string& kind, const std::vector<int>& cores) {
  const std::vector<device::DeviceKind> kinds = device_kinds();
  const auto found = std::ranges::find(kinds, kind, &device::DeviceKind::name);
  if (found == kinds.end()) return input_error("there are no devices of kind '{}'", kind);
  nlohmann::json answer;
  if (const auto places = found->places(cores))
    answer["places"] = *places;
  else
    answer["error"] = {{"kind", name_in(kErrorKinds, places.error().kind)},
                       {"message", places.error().message}};
  return answer.dump();
}

Result<std::vector<device::Place>> choose_places(const std::string& device,
                                                 ToolchainOptions& toolchain,
                                                 const std::vector<int>& cores) {
  std::string& target = toolchain.target;
  if (device.starts_with("hip") || device.starts_with("rocm"))
    return input_error(
        "--device {}: hone runs kernels on CPUs and NVIDIA GPUs; for an AMD GPU it "
        "states spaces and compiles (hone space --target gfx942)",
        device);
  if (is_amd(target))
    return input_error(
        "--target {} is an AMD GPU, which hone does not run on; --compile-only compiles, "
        "stores and ranks candidates for it",
        target);
  const std::vector<device::DeviceKind> kinds = device_kinds();
  const auto named = devices_in(device);
  const auto kind =
      named && !named->kind.empty()
          ? std::ranges::find(kinds, named->kind, &device::DeviceKind::name)
          : std::ranges::find_if(kinds, [&](const auto& k) { return k.runs(target); });
  const bool on_host = kind != kinds.end() && kind->name == device::kHostKind;
  if (!named || kind == kinds.end() || (on_host && !named->indices.empty()))
    return input_error("--device '{}': {}", device, devices_there_are(kinds));
  if (target != "host" && !kind->runs(target))
    return input_error("--device {} does not run code for --target {}", device, target);
  if (on_host) return list_places(kind->name, cores);
  const std::vector<int> first{0};
  HONE_ASSIGN(std::vector<device::Place> places,
              places_at(kind->name, named->indices.empty() ? first : named->indices, cores));
  if (target == "host") target = places.front().facts.target;
  return places;
}

Result<device::Place> choose_place(const std::string& device, ToolchainOptions& toolchain,
                                   const std::vector<int>& cores) {
  HONE_ASSIGN(std::vector<device::Place> places, choose_places(device, toolchain, cores));
  if (places.size() > 1)
    return input_error("--device {}: this command runs on one device; hone tune takes several",
                       device);
  return std::move(places.front());
}

std::string gpu_or_cores() {
  for (const device::DeviceKind& kind : device_kinds()) {
    if (kind.name == device::kHostKind) continue;
    if (const auto places = list_places(kind.name); places && !places->empty())
      return kind.name + ":0";
  }
  return std::string(device::kHostKind);
}

std::string device_for_code(const std::set<std::string>& formats) {
  const bool gpu = formats.contains(std::string(provider::kCudaPtx)) ||
                   formats.contains(std::string(provider::kCudaCubin));
  return gpu ? std::string(device::cuda::kKind) + ":0" : std::string();
}

Result<std::vector<device::LockFile>> lease(std::span<const device::Place> places) {
  const std::vector<device::DeviceKind> kinds = device_kinds();
  std::vector<device::LockFile> locks;
  for (const device::Place& place : places) {
    const auto kind = std::ranges::find(kinds, place.address.kind, &device::DeviceKind::name);
    HONE_ASSIGN(auto more, kind->lease(place));
    std::ranges::move(more, std::back_inserter(locks));
  }
  return locks;
}

Result<std::vector<int>> choose_cores(const CoreOptions& options) {
  std::vector<int> available = device::cpu::available_cores();
  if (!options.cores.empty()) {
    for (const int core : options.cores)
      if (std::find(available.begin(), available.end(), core) == available.end())
        return input_error("--cores {}: this process may run on {} only", core,
                           fmt::join(available, ", "));
    return options.cores;
  }
  if (options.threads > static_cast<int>(available.size()))
    return input_error("--threads {}: this process may run on {} cores", options.threads,
                       available.size());
  if (options.threads > 0) available.resize(static_cast<std::size_t>(options.threads));
  return available;
}

}  // namespace hone::session
