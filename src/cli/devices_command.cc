// hone devices: what hone can run on and compile with, and what is missing.
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/command.h"
#include "cli/device_options.h"
#include "cli/schema_version.h"
#include "device/cpu/target.h"
#include "device/cuda/cublaslt_library.h"
#include "device/cuda/facts.h"
#include "device/cuda/ptxas.h"
#include "output/json_text.h"
#include "provider/iree/library.h"

namespace hone::cli {
namespace {

void print_gpus(const Result<std::vector<device::cuda::Facts>>& found) {
  if (!found) {
    fmt::print("cuda  missing: {}\n", found.error().message);
    return;
  }
  for (const device::cuda::Facts& gpu : *found)
    fmt::print(
        "cuda:{} {}: {}, {} multiprocessors, {:.0f} GiB, L2 {:.0f} MiB, driver of CUDA {}.{}\n",
        gpu.index, gpu.name, gpu.arch(), gpu.multiprocessors,
        static_cast<double>(gpu.memory_bytes) / (1 << 30),
        static_cast<double>(gpu.l2_bytes) / (1 << 20), gpu.driver_version / 1000,
        gpu.driver_version % 1000 / 10);
  const auto ptxas = device::cuda::find_ptxas();
  fmt::print("ptxas {}\n", ptxas ? ptxas->string() : "missing: " + ptxas.error().message);
  const auto library = device::cuda::CublasLt::open();
  fmt::print("{}\n", library ? (*library)->name() : "missing: " + library.error().message);
}

CommandResult show_devices(const std::string& iree, bool json) {
  HONE_ASSIGN(const problem::CpuTarget target, device::cpu::detect_target());
  const Result<iree::Installation> installation = iree::find_installation(iree);
  const auto found = all_gpus();
  if (json) {
    nlohmann::json document{{"schema_version", kSchemaVersion},
                            {"devices", {{{"kind", "cpu"}, {"target", target}}}}};
    for (const device::cuda::Facts& gpu : found.value_or(std::vector<device::cuda::Facts>{}))
      document["devices"].push_back({{"kind", "cuda"}, {"target", gpu}});
    if (!found) document["cuda"] = {{"missing", found.error().message}};
    if (installation)
      document["iree"] = {{"version", installation->version},
                          {"library", installation->compiler_library}};
    else
      document["iree"] = {{"missing", installation.error().message}};
    fmt::print("{}\n", output::json_text(document));
    return 0;
  }
  fmt::print(
      "cpu   {}: {} cores, {}-bit vectors, {} vector registers, L1d {} KiB, L2 {} KiB, "
      "L3 {} KiB\n",
      target.cpu, target.cores, target.vector_bits, target.vector_registers, target.l1d_bytes >> 10,
      target.l2_bytes >> 10, target.l3_bytes >> 10);
  print_gpus(found);
  if (installation)
    fmt::print("IREE  {} at {}\n", installation->version, installation->compiler_library.string());
  else
    fmt::print("IREE  missing: {}\n", installation.error().message);
  return 0;
}

}  // namespace

void add_devices_command(CLI::App& app, Run& run) {
  auto iree = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("devices", "Show devices and compilers, and what is missing");
  command->add_option("--iree", *iree, "where IREE is");
  command->add_flag("--json", *json, "one JSON document on stdout");
  command->callback([&run, iree, json] { run = [=] { return show_devices(*iree, *json); }; });
}

}  // namespace hone::cli
