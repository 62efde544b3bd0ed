#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/doctor.h"
#include "device/hip/gpu.h"
#include "device/hip/hipblaslt.h"
#include "device/hip/own_kernels.h"
#include "session/places.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJoinGroups = "sudo usermod -aG render,video $USER, then log in again";

Finding gpu(std::string subject, Health health, std::string found, std::string fix = {}) {
  return {"gpu", std::move(subject), health, std::move(found), std::move(fix)};
}

void check_gpu(const device::Place& place, std::vector<Finding>& findings) {
  const std::string name = device::name_of(place.address);
  findings.push_back(gpu(name, kGood, place.facts.description + ", by " + place.address.library));
  if (!place.facts.no_programs.empty())
    findings.push_back(gpu(name, kWarning, place.facts.no_programs, "install ROCm 6 or later"));
  for (const std::string& variable : place.facts.overrides)
    findings.push_back(gpu(name, kWarning,
                           fmt::format("{} makes it look like a {}", variable, place.facts.target),
                           "unset " + variable.substr(0, variable.find('='))));
  const auto details = nlohmann::json::parse(place.facts.details, nullptr, false);
  const std::string pci = details.is_object() ? details.value("pci", "") : "";
  const fs::path folder = device::hip::pci_folder(pci);
  std::error_code code;
  if (!place.facts.emulated && !fs::exists(folder / "gpu_metrics", code))
    findings.push_back(gpu(name + " clocks", kWarning,
                           "clocks, power and throttling are not seen: no gpu_metrics in /sys",
                           "mount /sys into the container, or use the amdgpu driver of the host"));
}

}  // namespace

std::vector<Finding> check_amd_gpus() {
  std::vector<Finding> findings;
  const auto places = list_places(std::string(device::hip::kKind));
  std::error_code code;
  const bool there = fs::exists("/dev/kfd", code);
  if (!places) {
    const bool closed = !device::hip::access_problem().empty();
    findings.push_back(gpu("HIP runtime", there ? kWarning : kNote, places.error().message,
                           closed  ? kJoinGroups
                           : there ? "rocminfo says what is wrong with the driver"
                                   : ""));
    return findings;
  }
  for (const device::Place& place : *places) check_gpu(place, findings);
  if (places->empty()) return findings;
  const device::Place& first = places->front();
  const auto compiled =
      device::hip::compile_hip("extern \"C\" __global__ void nothing() {}", first.facts.target,
                               device::hip::hiprtc_names(first.address.library));
  if (compiled)
    findings.push_back(gpu("hiprtc", kGood, "compiles"));
  else
    findings.push_back(gpu("hiprtc", kWarning,
                           compiled.error().message + "; outputs are compared on the host",
                           "install hip-runtime-amd or libhiprtc of the driver's version"));
  const auto library = device::hip::open_hipblaslt();
  findings.push_back(library ? gpu("hipBLASLt", kGood, (*library)->name)
                             : gpu("hipBLASLt", kNote, library.error().without_advice,
                                   "apt install hipblaslt, or let HONE_HIPBLASLT name it"));
  return findings;
}

}  // namespace hone::cli
