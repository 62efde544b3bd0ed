// The cores that a command measures on.
#pragma once

#include <CLI/CLI.hpp>
#include <vector>

#include "base/result.h"

namespace hone::cli {

struct CoreOptions {
  std::vector<int> cores;  // which; empty: the first `threads`
  int threads = 0;         // 0: all
};

void add_core_options(CLI::App& command, CoreOptions& options);

// One thread runs on each. An input error for cores this process may not use.
Result<std::vector<int>> choose_cores(const CoreOptions& options);

}  // namespace hone::cli
