#include "session/places.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/process.h"
#include "base/text.h"
#include "device/cpu/code_features.h"
#include "device/cpu/target.h"
#include "device/cuda/gpu.h"
#include "device/hip/gpu.h"
#include "device/hip/kind.h"
#include "provider/resources.h"
#include "session/registry.h"
#include "session/remote_jobs.h"
#include "worker/remote_host.h"

namespace hone::session {
namespace {

// Drivers that have not answered within a minute never do.
constexpr ProcessLimits kLimits{.seconds = 60};

Result<std::vector<device::Place>> answer_in(const std::string& text, const std::string& host) {
  try {
    const nlohmann::json answer = nlohmann::json::parse(text);
    if (const auto error = answer.find("error"); error != answer.end()) {
      Error said = error->get<Error>();
      if (!host.empty()) said.message = fmt::format("'{}': {}", host, said.message);
      return tl::unexpected(std::move(said));
    }
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

// An item of --device.
struct NamedDevice {
  std::string host;  // device::Address::host
  std::string kind;  // empty: a bare number
  std::optional<int> index = {};
  std::vector<int> cores = {};  // of "cpu:0-7"
};

// "0-7" or "3".
std::optional<std::vector<int>> range_in(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = index_in(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : index_in(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  std::vector<int> numbers;
  for (int number = *first; number <= *last; ++number) numbers.push_back(number);
  return numbers;
}

// "cpu", "0,2", "cuda:0,2", "cpu:0-7" or "ssh://a/cuda:0,ssh://b/cuda:0"; a bare number continues
// the item before. Nothing where the text is no such list.
std::optional<std::vector<NamedDevice>> devices_in(std::string_view text) {
  constexpr std::string_view kScheme = "ssh://";
  std::vector<NamedDevice> named;
  for (std::size_t begin = 0; begin <= text.size() && !text.empty();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string_view item = text.substr(begin, end - begin);
    begin = end + 1;
    NamedDevice device;
    if (item.starts_with(kScheme)) {
      const std::size_t slash = item.find('/', kScheme.size());
      if (slash == std::string_view::npos) return std::nullopt;
      device.host = item.substr(kScheme.size(), slash - kScheme.size());
      item.remove_prefix(slash + 1);
    } else if (!named.empty() && index_in(item)) {
      device = {named.back().host, named.back().kind};
    }
    if (const std::size_t colon = item.find(':'); colon != std::string_view::npos) {
      device.kind = item.substr(0, colon);
      item.remove_prefix(colon + 1);
      if (item.empty()) return std::nullopt;
    } else if (!index_in(item)) {
      device.kind = std::exchange(item, {});
      if (device.kind.empty()) return std::nullopt;
    }
    const bool on_cores = device.kind == device::kHostKind;
    if (!item.empty() && on_cores) {
      const auto cores = range_in(item);
      if (!cores) return std::nullopt;
      device.cores = *cores;
    } else if (!item.empty()) {
      device.index = index_in(item);
      if (!device.index) return std::nullopt;
    }
    named.push_back(std::move(device));
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
  return "devices are " + names + several + "; on another machine: ssh://name/cuda:0";
}

// Returns the place of one item, which has a kind.
Result<device::Place> place_of(const NamedDevice& named, const CoreOptions& options) {
  CoreOptions wanted = options;
  if (!named.cores.empty()) wanted = {.cores = named.cores};
  std::vector<int> cores = wanted.cores;
  if (named.host.empty()) {
    HONE_ASSIGN(cores, choose_cores(wanted));
  }
  HONE_ASSIGN(std::vector<device::Place> there, list_places(named.kind, cores, named.host));
  if (!named.host.empty() && cores.empty() && wanted.threads > 0 && !there.empty()) {
    // Which cores there are is known now; facts depend on how many are used.
    cores = there.front().address.cores;
    if (wanted.threads > static_cast<int>(cores.size()))
      return input_error("--threads {}: '{}' has {} cores", wanted.threads, named.host,
                         cores.size());
    cores.resize(static_cast<std::size_t>(wanted.threads));
    HONE_ASSIGN(there, list_places(named.kind, cores, named.host));
  }
  if (named.kind != device::kHostKind)
    return device::find_place(there, named.kind, named.index.value_or(0));
  if (there.empty()) return environment_error("'{}' has no cores", named.host);
  return std::move(there.front());
}

Result<std::vector<device::Place>> places_of(const std::vector<NamedDevice>& devices,
                                             const CoreOptions& cores) {
  std::vector<device::Place> places;
  for (const NamedDevice& each : devices) {
    HONE_ASSIGN(device::Place place, place_of(each, cores));
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

// Refuses code that the place's CPU cannot run, as far as its target says so.
Status check_cpu(const device::Place& place, const std::string& target) {
  const problem::CpuTarget& cpu = place.host_cpu;
  const auto needed = device::cpu::code_features(target, cpu);
  const std::vector<std::string> missing =
      device::cpu::missing_features(needed.value_or(std::vector<std::string>()), cpu);
  const bool foreign = device::cpu::is_foreign(target, cpu);
  if (missing.empty() && !foreign) return {};
  return input_error(
      "--target {}: {} ({}) {}; leave --target out to compile for it, or name its level: --target "
      "{}",
      target, name_of(place.address), cpu.cpu,
      foreign ? "is of another architecture" : fmt::format("lacks {}", fmt::join(missing, ", ")),
      device::cpu::architecture_level(cpu));
}

// Refuses a place that does not run the target's code, and a GPU that a variable makes look like
// another one.
Status check_code(const device::Place& place, const ToolchainOptions& toolchain) {
  if (!place.address.index) return check_cpu(place, toolchain.target);
  const std::string name = name_of(place.address);
  for (const std::string& variable : place.facts.overrides)
    if (std::ranges::find(toolchain.environment, variable) == toolchain.environment.end())
      return input_error(
          "{} makes {} look like a {}, which it may not be; unset it, or tune for that GPU on "
          "purpose: --env {}",
          variable.substr(0, variable.find('=')), name, place.facts.target, variable);
  if (const auto known = problem::gpu_target(place.facts.target); !known)
    return input_error("{} ({}): {}", name, place.facts.name, known.error().message);
  // PTX runs on later GPUs, machine code on its own alone.
  if (toolchain.target != "host" && !place.traits.assembles_code &&
      toolchain.target != place.facts.target)
    return input_error("--target {}: {} ({}) runs code for {} only", toolchain.target, name,
                       place.facts.name, place.facts.target);
  return {};
}

// Code for the machine's CPU; "host" means this one.
void compile_for(const device::Place& place, ToolchainOptions& toolchain) {
  if (place.address.host.empty()) return;
  toolchain.host_cpu = place.host_cpu;
  const auto here = device::cpu::detect_target();
  if (here && here->cpu == place.host_cpu.cpu && here->features == place.host_cpu.features) return;
  toolchain.host = device::cpu::architecture_level(place.host_cpu);
}

}  // namespace

Result<std::vector<device::Place>> list_places(const std::string& kind,
                                               const std::vector<int>& cores,
                                               const std::string& host) {
  std::vector<std::string> arguments{"worker", "devices", kind};
  if (!cores.empty()) {
    arguments.emplace_back("--cores");
    arguments.push_back(fmt::format("{}", fmt::join(cores, ",")));
  }
  Command command;
  if (host.empty()) {
    command.arguments = std::move(arguments);
    command.arguments.insert(command.arguments.begin(), own_executable());
  } else {
    HONE_TRY(worker::install_at(host));
    command.arguments = worker::command_at(host, arguments);
  }
  HONE_ASSIGN(ProcessResult listed, run_process(command, kLimits));
  if (listed.signal != 0) {  // somebody may have killed it
    HONE_ASSIGN(listed, run_process(command, kLimits));
  }
  if (!listed.succeeded())
    return environment_error("the process that lists the devices of kind '{}' failed{}: {}{}{}",
                             kind, host.empty() ? "" : fmt::format(" on '{}'", host),
                             describe(listed, kLimits),
                             listed.standard_error.text().empty() ? "" : "; ",
                             reason_of(readable(listed.standard_error.text())));
  HONE_ASSIGN(std::vector<device::Place> places, answer_in(listed.standard_output.text(), host));
  for (device::Place& place : places) {
    if (host.empty()) break;
    place.address.host = host;
    place.traits.compiling_disturbs = false;  // hone compiles here
  }
  return places;
}

Result<std::string> places_answer(const std::string& kind, const std::vector<int>& cores) {
  const std::vector<device::DeviceKind> kinds = device_kinds();
  const auto found = std::ranges::find(kinds, kind, &device::DeviceKind::name);
  if (found == kinds.end()) return input_error("there are no devices of kind '{}'", kind);
  nlohmann::json answer;
  HONE_ASSIGN(const problem::CpuTarget cpu, device::cpu::detect_target());
  if (auto places = found->places(cores)) {
    for (device::Place& place : *places) place.host_cpu = cpu;
    answer["places"] = *places;
  } else {
    answer["error"] = places.error();
  }
  return answer.dump();
}

Result<device::Place> absent_place(const std::string& target, const CoreOptions& cores) {
  std::vector<int> used = cores.cores;
  if (used.empty() && cores.threads > 0) {
    used.resize(static_cast<std::size_t>(cores.threads));
    std::iota(used.begin(), used.end(), 0);
  }
  if (used.empty()) used = device::cpu::available_cores();
  device::Place place;
  if (device::hip::kind().runs(target))
    place = device::hip::place_of(device::hip::GpuFacts(), "", std::move(used));
  else if (problem::names_gpu(target))
    place = device::cuda::place_of(device::cuda::GpuFacts(), std::move(used));
  else
    place.address.cores = std::move(used);
  place.facts.target = target;
  return place;
}

Result<std::vector<device::Place>> choose_places(const std::string& device,
                                                 ToolchainOptions& toolchain,
                                                 const CoreOptions& cores) {
  std::string& target = toolchain.target;
  const std::vector<device::DeviceKind> kinds = device_kinds();
  auto named = devices_in(device);
  if (!named) return input_error("--device '{}': {}", device, devices_there_are(kinds));
  if (named->empty()) named->emplace_back();
  auto kind = kinds.end();
  for (NamedDevice& each : *named) {
    const auto own =
        each.kind.empty()
            ? std::ranges::find_if(kinds, [&](const auto& k) { return k.runs(target); })
            : std::ranges::find(kinds, each.kind, &device::DeviceKind::name);
    // A bare number is no core.
    if (own == kinds.end() || (kind != kinds.end() && own != kind) ||
        (own->name == device::kHostKind && each.index))
      return input_error("--device '{}': {}", device, devices_there_are(kinds));
    each.kind = own->name;
    kind = own;
  }
  if (target != "host" && !kind->runs(target))
    return input_error("--device {} does not run code for --target {}", device, target);
  auto chosen = places_of(*named, cores);
  if (!chosen && chosen.error().kind == ErrorKind::kEnvironment && device.empty())
    return advised(tl::unexpected(std::move(chosen.error())),
                   fmt::format("without a GPU, compile and rank candidates for --target {} with "
                               "hone tune --compile-only",
                               target));
  HONE_ASSIGN(std::vector<device::Place> places, std::move(chosen));
  for (const device::Place& place : places) HONE_TRY(check_code(place, toolchain));
  const device::Place& first = places.front();
  compile_for(first, toolchain);
  if (target == "host") target = first.address.index ? first.facts.target : toolchain.host;
  return places;
}

Result<device::Place> choose_place(const std::string& device, ToolchainOptions& toolchain,
                                   const CoreOptions& cores) {
  HONE_ASSIGN(std::vector<device::Place> places, choose_places(device, toolchain, cores));
  if (places.size() > 1)
    return input_error("--device {}: this command runs on one device; hone tune takes several",
                       device);
  if (!places.front().address.host.empty())
    return input_error(
        "--device {}: this command runs on this machine; hone tune, hone flags and hone profile "
        "run on others",
        device);
  return std::move(places.front());
}

Status check_runs_programs(const device::Place& place) {
  if (place.facts.no_programs.empty()) return {};
  return input_error("{} ({}): {}; hone tune --no-program tunes dispatches without them",
                     name_of(place.address), place.facts.name, place.facts.no_programs);
}

std::string gpu_or_cores() {
  for (const device::DeviceKind& kind : device_kinds()) {
    if (kind.name == device::kHostKind) continue;
    const auto places = list_places(kind.name);
    if (places && !places->empty() && !places->front().facts.emulated) return kind.name + ":0";
  }
  return std::string(device::kHostKind);
}

std::string device_for_code(const std::set<std::string>& formats) {
  const auto has = [&](std::string_view format) { return formats.contains(std::string(format)); };
  if (has(provider::kCudaPtx) || has(provider::kCudaCubin))
    return fmt::format("{}:0", device::cuda::kKind);
  return has(provider::kRocmHsaco) ? fmt::format("{}:0", device::hip::kKind) : std::string();
}

Result<std::vector<device::LockFile>> lease_here(std::span<const device::Place> places) {
  const std::vector<device::DeviceKind> kinds = device_kinds();
  std::vector<device::LockFile> locks;
  for (const device::Place& place : places) {
    const auto kind = std::ranges::find(kinds, place.address.kind, &device::DeviceKind::name);
    if (kind == kinds.end())
      return input_error("there are no devices of kind '{}'", place.address.kind);
    HONE_ASSIGN(auto more, kind->lease(place));
    std::ranges::move(more, std::back_inserter(locks));
  }
  return locks;
}

Result<Leases> lease(std::span<const device::Place> places,
                     const std::vector<std::string>& environment) {
  std::map<std::string, std::vector<device::Place>> by_host;
  for (const device::Place& place : places) by_host[place.address.host].push_back(place);
  Leases leases;
  for (const auto& [host, there] : by_host) {
    if (host.empty()) {
      HONE_ASSIGN(leases.locks, lease_here(there));
      continue;
    }
    const auto machine = std::make_shared<worker::RemoteWorker>(
        worker::RemoteOptions{.host = host, .first = remote::kBegin.ask({environment, there})});
    HONE_TRY(machine->connect());
    leases.machines.emplace(host, machine);
  }
  return leases;
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
