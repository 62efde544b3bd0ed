// The HTML report as a file.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "store/store.h"

namespace hone::cli {

// Writes what the store holds to `file`. `name`: the store as the user calls it. An input error
// where it holds no dispatch.
Status write_report(store::Store& store, const std::string& name,
                    const std::filesystem::path& file);

}  // namespace hone::cli
