// A place that candidates run on, as plain data: which device it is, its traits and its facts.
// Planning and comparing code reads traits and facts; no code above src/device asks for a device's
// kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "problem/target.h"

namespace hone::device {

// Device::kind() of the host's own cores.
inline constexpr std::string_view kHostKind = "cpu";

// Identifies a device to a runner, or to a runtime of whole programs.
struct Address {
  std::string kind = std::string(kHostKind);  // Device::kind()
  // Which device of that kind, as their driver numbers them. None: the cores are the device.
  std::optional<int> index = {};
  // Cores that run one thread each. With an index they are the host's, and compute references.
  std::vector<int> cores = {};
  // Machine of the device, as ssh names it: "[user@]name[:port]". Empty: this one.
  std::string host = {};
  // File of the driver that listed the device, for all that opens it. Empty: the system finds it.
  std::string library = {};

  bool operator==(const Address&) const = default;

  static void fields(auto& address, auto&& field) {
    field("kind", address.kind);
    field("cores", address.cores);
    field("index", address.index);
    field.when(!address.host.empty(), "host", address.host);
    field.when(!address.library.empty(), "library", address.library);
  }
};

// "cuda:1"; "cpu" without an index; "ssh://board/cuda:1" on another machine.
std::string name_of(const Address& address);
// The host's cores of an address, as a device of their own.
Address host_of(const Address& address);

// Differences between places that matter to a tuner. The defaults are those of a CPU.
struct Traits {
  // Kernels work in memory of the device's own, apart from the host's.
  bool own_memory = false;
  // Kernels take longer while the host compiles: compiling and measuring take turns.
  bool compiling_disturbs = true;
  // Batches of launches differ by only about a percent: one batch shows which candidate is clearly
  // slower, and short rounds separate the best.
  bool one_batch_tells = false;
  // The driver compiles the shipped code from text. Candidates are measured as machine code that
  // workers assemble from the same text for Facts::target.
  bool assembles_code = false;
  // Code compiled for the device also runs on the host's cores, so that a candidate's own flags can
  // give a reference. Otherwise a reference needs an independent compile for the host.
  bool runs_on_host = true;
  // Products have units of their own; their bound is the maker's figure, not a measured peak.
  bool matrix_units = false;

  bool operator==(const Traits&) const = default;

  static void fields(auto& traits, auto&& field) {
    field("own_memory", traits.own_memory);
    field("compiling_disturbs", traits.compiling_disturbs);
    field("one_batch_tells", traits.one_batch_tells);
    field("assembles_code", traits.assembles_code);
    field("runs_on_host", traits.runs_on_host);
    field("matrix_units", traits.matrix_units);
  }
};

struct Facts {
  std::string name;         // "NVIDIA H200"
  std::string driver;       // what runs it, with a version: "CUDA 13.0", a kernel's release
  std::string target;       // what code for it is compiled for: "sm_90", "znver4"
  std::string description;  // in words for people, what it is and has
  std::string id;           // of this very device on any machine, whoever numbers it; may be empty
  // JSON objects. `identity`: facts that two comparable measurements share, as members of
  // store::DeviceRow::protocol. `details`: all facts that the kind reports.
  std::string identity = "{}", details = "{}";
  std::int64_t last_level_cache_bytes = 0;
  std::int64_t memory_bytes = 0;            // of its own; 0: it has none
  std::int64_t workgroup_memory_bytes = 0;  // that one workgroup may have; 0: not known
  int units = 0;  // that run a workgroup as a whole (problem::GpuTarget), or cores
  // Throughput per second, before the peak is measured. It is correct to a factor of a few, enough
  // to weigh dispatches against one another.
  double rough_flops = 3e10, rough_bytes = 1e10;
  double launch_seconds = 0;  // of a kernel that does next to nothing, behind another; roughly
  // Kernels run on an emulator: their results are the device's, their times are no device's.
  bool emulated = false;
  // Why the runtime of whole programs does not run on this device, though kernels do; empty: it
  // does.
  std::string no_programs = {};
  // Variables of its process, "NAME=VALUE", that make the driver report another device than there
  // is. Such a device is used only by who asks for them (--env).
  std::vector<std::string> overrides = {};

  bool operator==(const Facts&) const = default;

  static void fields(auto& facts, auto&& field) {
    field("name", facts.name);
    field("driver", facts.driver);
    field("target", facts.target);
    field("description", facts.description);
    field.text("identity", facts.identity);
    field.text("details", facts.details);
    field("id", facts.id);
    field("last_level_cache_bytes", facts.last_level_cache_bytes);
    field("memory_bytes", facts.memory_bytes);
    field("workgroup_memory_bytes", facts.workgroup_memory_bytes);
    field("units", facts.units);
    field("rough_flops", facts.rough_flops);
    field("rough_bytes", facts.rough_bytes);
    field.or_default("launch_seconds", facts.launch_seconds);
    field.when(facts.emulated, "emulated", facts.emulated);
    field.when(!facts.no_programs.empty(), "no_programs", facts.no_programs);
    field.when(!facts.overrides.empty(), "overrides", facts.overrides);
  }
};

struct Place {
  Address address;
  Traits traits = {};
  Facts facts = {};
  problem::CpuTarget host_cpu = {};  // of the machine, which computes references

  bool operator==(const Place&) const = default;

  static void fields(auto& place, auto&& field) {
    field("address", place.address);
    field("traits", place.traits);
    field("facts", place.facts);
    field.or_default("host_cpu", place.host_cpu);
  }
};

// Returns the place with the index among `places`, all of this kind. An input error lists the
// devices that exist: "device cuda:7 is not there: this machine has cuda:0 (NVIDIA H200)".
Result<Place> find_place(const std::vector<Place>& places, std::string_view kind, int index);
// Returns the error of find_place(); `present` names each device and its index.
tl::unexpected<Error> no_such_device(std::string_view kind, int index,
                                     const std::vector<std::pair<int, std::string>>& present);

}  // namespace hone::device
