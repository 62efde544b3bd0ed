// The process in which one dispatch is prepared and from which its candidates are forked.
#pragma once

#include <filesystem>

#include "worker/envelope.h"

namespace hone::worker {

// The life of a prepared server, in the freshly forked process: prepares, answers on `socket`, and
// if that went well serves "run" and "cancel" until the socket closes. Jobs have folders in
// `folder`.
void serve_prepared(UniqueFd socket, const Message& message, const CompileHandlers& handlers,
                    const TreeSettings& settings, const std::filesystem::path& folder);

}  // namespace hone::worker
