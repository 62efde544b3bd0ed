// The HTML report as a file.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "store/store.h"

namespace hone::cli {

// Writes what the store holds to `file`. An input error where it holds no dispatch.
Status write_report(store::Store& store, const std::filesystem::path& file);

}  // namespace hone::cli
