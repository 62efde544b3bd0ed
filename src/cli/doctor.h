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

struct Finding {
  std::string group;    // "compiler", "gpu", "machine", "storage", "environment"
  std::string subject;  // "IREE compiler"
  Health health = Health::kGood;
  std::string found;  // what there is, or is not
  std::string fix{};  // a command or a step that mends it; empty where there is nothing to mend
};

// "ok", "note", "warning", "missing".
std::string name_of(Health health);

// -- what of this machine disturbs measuring, and where results go

// Cores that a control group allows, from the text of its cpu.max ("50000 100000": half a core of
// time in each period); nothing for "max" and for anything else.
std::optional<double> allowed_cores(std::string_view cpu_max);

// Cores and affinity, frequency governor, turbo, simultaneous threads, control groups, memory, what
// else runs (looked at for 0.3 s).
std::vector<Finding> check_machine_for_measuring();
// The findings about background load, stolen time and governors in two samples' difference.
std::vector<Finding> findings_of(const device::MachineState& state);
// Space in the store's folder and in the one for temporary files, and whether the store lies on a
// file system of the network.
std::vector<Finding> check_storage(const std::filesystem::path& store);

// -- what is installed

struct DoctorPlaces {
  std::string iree, triton;  // as --iree and --triton name them; empty: looked for
  std::string store = "hone.db";
};

// IREE's compiler (which is opened) and runtime tools, Triton, OpenBLAS.
std::vector<Finding> check_compilers(const DoctorPlaces& places);
// NVIDIA's driver and what of its toolkit hone uses where it is there. Without a GPU of NVIDIA's
// one note.
std::vector<Finding> check_gpus();
// Variables that name what is not there, and names near those that hone knows.
std::vector<Finding> check_environment();

}  // namespace hone::cli
