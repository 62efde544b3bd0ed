// Names processes for the store, so that another process can tell whether one of them still lives.
#pragma once

#include <string>
#include <string_view>

namespace hone::store {

// "host/boot/namespace/pid/start" of this process: host name, boot id of the kernel, inode of the
// process-id namespace, pid, and start time in ticks since boot, so that neither a pid used again
// nor a container with pids of its own is mistaken for another process. A lease's owner is this,
// with "#text" behind it where one process has several.
std::string this_process();

// Whether the process is known to be gone: of this host but another boot, or of this boot and
// namespace with no such pid and start time any more. False where that cannot be known.
bool is_gone(std::string_view process);

}  // namespace hone::store
