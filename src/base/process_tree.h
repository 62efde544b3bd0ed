// The process table as /proc shows it. Every function is a snapshot: processes come and go while it
// is taken, and a process that is gone counts as empty.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

// Contents of /proc/PID/stat; empty if the process is gone.
std::string stat_of(std::string_view pid);
// Field `index` of `stat`, numbered as in proc(5) (3 is the state); empty if `stat` is empty.
std::string stat_field(std::string_view stat, int index);

// Children of every thread of `pid`.
std::vector<pid_t> children_of(pid_t pid);

// Descendants of `pid` without `pid` itself, parents before children. Orphaned processes have left
// the tree (see become_subreaper).
std::vector<pid_t> descendants_of(pid_t pid);

// Resident memory in bytes, shared pages included; 0 when gone or a zombie.
std::uint64_t resident_bytes(pid_t pid);

// The process group of `pid`, or -1 when it is gone.
pid_t process_group_of(pid_t pid);

// Every other process of this user that was started with `assignment` ("NAME=VALUE") in its
// environment, or forked from one that was: whatever became of its parent, group and session.
// Walks all of /proc: milliseconds, tens on a crowded machine.
std::vector<pid_t> processes_started_with(std::string_view assignment);

// Kills (SIGKILL) the processes that processes_started_with finds, for at most a second, until it
// finds none.
void kill_processes_started_with(std::string_view assignment);

// Makes orphaned descendants children of the calling process instead of init's.
void become_subreaper();

// "SIGSEGV" for 11; "signal 77" for a signal without a name.
std::string signal_name(int signal);

}  // namespace hone
