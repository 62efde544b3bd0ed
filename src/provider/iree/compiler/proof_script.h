// run.sh: what hone claims of a program, repeated by IREE's own tools alone.
#pragma once

#include <string>

#include "provider/program_provider.h"

namespace hone::iree {

// A POSIX shell script that compiles the program by both sets of flags, calls both modules in turn
// under iree-benchmark-module, on the cores or the device of `request.call`, prints the medians and
// their ratio, and compares the outputs (iree-run-module --expected_output). It ends with 1 where
// they differ by more than `request.tolerances` and that tool allow, unless the default's are known
// to be wrong. Results that no .npy file can hold are not compared.
Result<std::string> proof_script(const provider::ProofScript& request);

}  // namespace hone::iree
