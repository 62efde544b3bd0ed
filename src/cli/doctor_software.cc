#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "cli/command.h"
#include "cli/doctor.h"
#include "cli/help_command.h"
#include "device/cpu/target.h"
#include "device/cuda/cublaslt.h"
#include "device/cuda/gpu.h"
#include "device/cuda/toolkit.h"
#include "provider/iree/compiler/library.h"
#include "provider/library/host_libraries.h"
#include "provider/triton/triton_provider.h"
#include "session/places.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

// Releases that CI runs with (scripts/versions).
constexpr std::string_view kTestedIree = "3.13.";

// Variables by which hone knows the processes it starts.
constexpr std::string_view kOwnVariables[] = {"HONE_PROCESS", "HONE_WORKER_FOLDER"};

Finding from_error(std::string group, std::string subject, Health health, const Error& error,
                   std::string fix) {
  // Without the error's advice: `fix` has it in the words for this command.
  const bool advised = !error.without_advice.empty();
  return {std::move(group), std::move(subject), health,
          advised ? error.without_advice : error.message, std::move(fix)};
}

// Returns a finding with the text of what was found, else with its error.
template <class Found, class Text>
Finding finding_of(std::string group, std::string subject, const Result<Found>& found,
                   const Text& text, Health otherwise, std::string fix) {
  if (found) return {std::move(group), std::move(subject), kGood, text(*found)};
  return from_error(std::move(group), std::move(subject), otherwise, found.error(), std::move(fix));
}

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

void check_iree(const std::string& given, std::vector<Finding>& findings) {
  const Result<iree::Installation> installation = iree::find_installation(given);
  const auto library = installation ? iree::CompilerLibrary::open(*installation)
                                    : tl::unexpected(installation.error());
  if (!library) {
    findings.push_back(from_error("compiler", "IREE compiler", kMissing, library.error(),
                                  is_set("HONE_IREE") ? "unset HONE_IREE, or let it name IREE"
                                                      : "pip install iree-base-compiler "
                                                        "iree-base-runtime where hone is, "
                                                        "or scripts/setup"));
    return;
  }
  Finding compiler{
      "compiler", "IREE compiler", kGood,
      fmt::format("{} at {}", library->revision(), installation->compiler_library.string())};
  if (!installation->version.empty() && !installation->version.starts_with(kTestedIree)) {
    compiler.health = kWarning;
    compiler.found += fmt::format("; tested is {}x only", kTestedIree);
    compiler.fix = "the extra iree of hone's wheel, or scripts/setup, brings the tested one";
  }
  findings.push_back(std::move(compiler));

  std::vector<std::string> missing;
  for (const auto& [tool, name] :
       {std::pair(installation->benchmark_module, "iree-benchmark-module"),
        std::pair(installation->run_module, "iree-run-module")})
    if (tool.empty()) missing.emplace_back(name);
  if (missing.empty())
    findings.push_back(
        {"compiler", "IREE runtime tools", kGood, installation->run_module.parent_path().string()});
  else
    findings.push_back(
        {"compiler", "IREE runtime tools", kMissing,
         fmt::format("no {}: specs cannot be proved in whole programs", fmt::join(missing, ", ")),
         "pip install iree-base-runtime, beside iree-base-compiler"});
}

void check_openblas(std::vector<Finding>& findings) {
  const char* asked = std::getenv("OPENBLAS_CORETYPE");
  const std::string core_type = asked == nullptr ? "" : asked;
  const std::vector<int> cores = device::cpu::available_cores();
  const auto library = library::open_openblas(std::span(cores).first(1));
  if (!library) {
    findings.push_back(from_error("compiler", "OpenBLAS", kWarning, library.error(),
                                  "apt install libopenblas0-pthread"));
    return;
  }
  Finding finding{"compiler", "OpenBLAS", kGood, library->version};
  if (!core_type.empty() &&
      CLI::detail::to_lower(finding.found).find(CLI::detail::to_lower(core_type)) ==
          std::string::npos) {
    finding.health = kWarning;
    finding.found += fmt::format("; OPENBLAS_CORETYPE={} is not what it uses", core_type);
    finding.fix = "unset OPENBLAS_CORETYPE";
  }
  findings.push_back(std::move(finding));
}

bool has_nvidia_gpu() {
  std::error_code code;
  return fs::exists("/dev/nvidiactl", code) || fs::exists("/proc/driver/nvidia/version", code);
}

}  // namespace

std::string name_of(Health health) {
  switch (health) {
    case kGood:
      return "ok";
    case kNote:
      return "note";
    case kWarning:
      return "warning";
    case kMissing:
      return "missing";
  }
  return "";
}

std::vector<Finding> check_compilers(const DoctorPlaces& places) {
  std::vector<Finding> findings;
  check_iree(places.iree, findings);
  const auto triton = triton::find_installation(places.triton);
  const bool named = !places.triton.empty() || is_set("HONE_TRITON");
  // Only GEMMs on GPUs are tuned with it.
  findings.push_back(finding_of(
      "compiler", "Triton", triton,
      [](const auto& found) {
        return fmt::format("{} in {}", found.version, found.python.string());
      },
      named ? kWarning : kNote,
      is_set("HONE_TRITON") ? "unset HONE_TRITON"
                            : "pip install triton where hone is, or scripts/setup"));
  check_openblas(findings);
  // A missing oneDNN is only a note: OpenBLAS suffices for the comparison.
  const std::vector<int> cores = device::cpu::available_cores();
  findings.push_back(finding_of(
      "compiler", "oneDNN", library::open_onednn(std::span(cores).first(1)),
      [](const auto& found) { return found.version; }, kNote, "apt install libdnnl2"));
  return findings;
}

std::vector<Finding> check_gpus() {
  std::vector<Finding> findings;
  const auto add = [&](std::string subject, const auto& found, const auto& text, std::string fix) {
    findings.push_back(
        finding_of("gpu", std::move(subject), found, text, kWarning, std::move(fix)));
  };
  const auto gpus = list_places(std::string(device::cuda::kKind));
  if (!gpus) {
    const bool there = has_nvidia_gpu();
    findings.push_back(from_error("gpu", "NVIDIA driver", there ? kWarning : kNote, gpus.error(),
                                  there ? "nvidia-smi says what is wrong with the driver" : ""));
    if (!there) return findings;
  } else {
    for (const device::Place& gpu : *gpus) {
      findings.push_back({"gpu", device::name_of(gpu.address), kGood,
                          fmt::format("{} ({}), driver of {}", gpu.facts.name, gpu.facts.target,
                                      gpu.facts.driver)});
      add(
          "NVML", device::cuda::Nvml::open(gpu.facts.id),
          [](const auto&) { return "clocks and power are seen"; },
          "install libnvidia-ml1 of the driver's version");
    }
  }
  add(
      "ptxas", device::cuda::find_ptxas(), [](const auto& path) { return path.string(); },
      "pip install nvidia-cuda-nvcc");
  add(
      "NVRTC", device::cuda::compile_cuda("extern \"C\" __global__ void nothing() {}"),
      [](const auto&) { return "compiles"; }, "pip install nvidia-cuda-nvrtc");
  add(
      "cuBLASLt", device::cuda::open_cublaslt(),
      [](const auto& library) { return library->name; }, "pip install nvidia-cublas");
  return findings;
}

std::vector<Finding> check_environment() {
  std::vector<Finding> findings;
  std::vector<std::string> known;
  for (const EnvironmentVariable& variable : environment_variables()) {
    known.emplace_back(variable.name);
    const char* value = std::getenv(known.back().c_str());
    if (value == nullptr || *value == '\0') continue;
    std::error_code code;
    if (variable.is_path && !fs::exists(value, code))
      findings.push_back({"environment", known.back(), kWarning,
                          fmt::format("'{}' does not exist", value),
                          fmt::format("unset {}, or name {}", variable.name, variable.meaning)});
    else
      findings.push_back({"environment", known.back(), kNote, value});
  }
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry, name = text.substr(0, text.find('='));
    if (name.starts_with("HONE_") && std::ranges::count(known, name) == 0 &&
        std::ranges::count(kOwnVariables, name) == 0)
      findings.push_back({"environment", name, kWarning,
                          "hone knows no such variable" + did_you_mean(name, known),
                          "unset " + name});
  }
  return findings;
}

}  // namespace hone::cli
