// posix_spawn as hone's child processes need it; for process.cc and process.cc.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/process.h"

namespace hone {

// Starts `command` in a process group of its own with default signal handling, stdin from
// /dev/null and, of all descriptors, only `descriptors`: the number in the child (1 and up, without
// gaps) and the descriptor here. An environment error that names the program.
Result<pid_t> spawn(const Command& command, const std::vector<std::pair<int, int>>& descriptors);

// A descriptor that becomes readable when the child `pid` ends; empty before Linux 5.3.
UniqueFd open_pid(pid_t pid);

// Whether the child `pid` has ended; it is left to be waited for, so that its pid and process group
// stay its own.
bool has_ended(pid_t pid);

// SIGKILL to the descendants of the child `pid` and to its process group. Valid until the child is
// waited for.
void kill_tree(pid_t pid);

// Resident memory of `pid` and its descendants.
std::uint64_t tree_resident_bytes(pid_t pid);

}  // namespace hone
