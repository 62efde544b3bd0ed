#include "cli/version.h"

namespace hone::cli {

std::string_view version() {
  return HONE_VERSION;
}

}  // namespace hone::cli
