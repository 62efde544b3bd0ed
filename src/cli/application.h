// The command line: composition root of hone.
#pragma once

#include "base/result.h"

namespace hone::cli {

// Runs one command and returns its exit code: 0 done, 1 finished with failures the user should see,
// 2 wrong use or input, 3 environment, 130 interrupted.
int run(int argc, char** argv);

int exit_code_of(ErrorKind kind);

}  // namespace hone::cli
