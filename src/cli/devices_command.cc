// hone devices: devices and compilers that hone can use, and those that are missing.
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/common_options.h"
#include "device/cuda/cublaslt.h"
#include "device/cuda/toolkit.h"
#include "output/json_text.h"
#include "provider/iree/compiler/library.h"
#include "session/places.h"
#include "session/registry.h"

namespace hone::cli {
namespace {

void print(const std::string& kind, const Result<std::vector<device::Place>>& places) {
  if (!places) {
    fmt::print("{:5} missing: {}\n", kind, places.error().message);
    return;
  }
  for (const device::Place& place : *places)
    fmt::print("{:5} {}\n", device::name_of(place.address), place.facts.description);
}

struct DevicesOptions {
  std::string iree;
  bool json = false;
};

CommandResult show_devices(DevicesOptions& options) {
  const Result<iree::Installation> installation = iree::find_installation(options.iree);
  nlohmann::json document{{"devices", nlohmann::json::array()}};
  bool any_assembled = false;
  for (const device::DeviceKind& kind : device_kinds()) {
    const Result<std::vector<device::Place>> places = list_places(kind.name);
    if (!options.json) print(kind.name, places);
    if (!places) document[kind.name] = {{"missing", places.error().message}};
    for (const device::Place& place : places.value_or(std::vector<device::Place>())) {
      any_assembled = any_assembled || place.traits.assembles_code;
      document["devices"].push_back(
          {{"kind", kind.name}, {"target", nlohmann::json::parse(place.facts.details)}});
    }
  }
  if (options.json) {
    if (installation)
      document["iree"] = {{"version", installation->version},
                          {"library", installation->compiler_library}};
    else
      document["iree"] = {{"missing", installation.error().message}};
    output::print_document(std::move(document));
    return 0;
  }
  if (any_assembled) {
    const auto ptxas = device::cuda::find_ptxas();
    fmt::print("ptxas {}\n", ptxas ? ptxas->string() : "missing: " + ptxas.error().message);
    const auto library = device::cuda::open_cublaslt();
    fmt::print("{}\n", library ? (*library)->name : "missing: " + library.error().message);
  }
  if (installation)
    fmt::print("IREE  {} at {}\n", installation->version, installation->compiler_library.string());
  else
    fmt::print("IREE  missing: {}\n", installation.error().message);
  return 0;
}

}  // namespace

void add_devices_command(CLI::App& app, Action& run) {
  const auto [command, options] =
      add_command<DevicesOptions>(app, run, "devices", "Show devices and compilers", show_devices);
  command.add_option("--iree", options.iree, kIreeHelp);
  add_hip_option(command);
  command.add_flag("--json", options.json, "print one JSON document");
}

}  // namespace hone::cli
