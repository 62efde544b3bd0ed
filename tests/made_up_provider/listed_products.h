// Products of matrices that a user lists in a JSON file: [{"m": 48, "n": 48, "k": 64}, ...].
#pragma once

#include "provider/list_provider.h"

namespace hone::plain_c {

// Input errors name the file: one that cannot be read, and what is no such list.
Result<std::unique_ptr<provider::ListProvider>> open_list(const std::string& path);

}  // namespace hone::plain_c
