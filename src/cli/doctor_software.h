// What is installed, for hone doctor.
#pragma once

#include <string>
#include <vector>

#include "cli/doctor_finding.h"

namespace hone::cli {

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
