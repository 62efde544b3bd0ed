// Whether bytes are a shared object that may be handed to the system's loader.
#pragma once

#include <string_view>

#include "base/result.h"

namespace hone::device::cpu {

// A failure unless `code` is a complete 64-bit ELF shared object for this machine's architecture.
// The loader maps a truncated file without complaint and dies of SIGBUS later; this reads the
// program headers and finds such files before.
Status check_shared_object(std::string_view code);

}  // namespace hone::device::cpu
