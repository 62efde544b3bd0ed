// Checks of hone doctor and their findings.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/machine_state.h"

namespace hone::cli {

enum class Health {
  kGood,
  kNote,     // good to know
  kWarning,  // works, but worse than it could, or only in part
  kMissing,  // tuning on this machine does not work without it
};
using enum Health;

struct Finding {
  std::string group;    // "compiler", "gpu", "machine", "storage", "environment"
  std::string subject;  // "IREE compiler"
  Health health = kGood;
  std::string found;  // what there is, or is not
  std::string fix{};  // a command or a step that mends it; empty where there is nothing to mend
};

// "ok", "note", "warning", "missing".
std::string name_of(Health health);

// -- conditions of this machine that disturb measuring, and the places of results

// Returns the cores that a control group allows, from the text of its cpu.max ("50000 100000": half
// a core of time in each period). Nullopt for "max" and for anything else.
std::optional<double> allowed_cores(std::string_view cpu_max);

// Checks cores and affinity, frequency governor, turbo, simultaneous threads, control groups,
// memory, and other load (observed for 0.3 s).
std::vector<Finding> check_machine_for_measuring();
// Returns the findings about background load, stolen time and governors in two samples' difference.
std::vector<Finding> findings_of(const device::MachineState& state);
// Checks the space in the store's folder and in the one for temporary files, and whether the store
// lies on a network file system.
std::vector<Finding> check_storage(const std::filesystem::path& store);

// -- installed software

struct DoctorPlaces {
  std::string iree = {}, triton = {};  // as --iree and --triton name them; empty: looked for
  std::string store = "hone.db";
};

// Checks IREE's compiler (by opening it) and runtime tools, Triton, OpenBLAS.
std::vector<Finding> check_compilers(const DoctorPlaces& places);
// Checks NVIDIA's driver and the parts of its toolkit that hone uses if they are there. Without an
// NVIDIA GPU there is a single note.
std::vector<Finding> check_gpus();
// Checks AMD's HIP runtime and the parts of ROCm that hone uses if they are there. Without an AMD
// GPU there is a single note.
std::vector<Finding> check_amd_gpus();
// Checks variables: those that name something missing, and names near those that hone knows.
std::vector<Finding> check_environment();

}  // namespace hone::cli
