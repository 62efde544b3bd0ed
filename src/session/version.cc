#include "session/version.h"

namespace hone::session {

std::string_view version() {
  return HONE_VERSION;
}

}  // namespace hone::session
