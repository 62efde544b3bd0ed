// Facts of the host that the store depends on: clocks, processes, and the file system of its file.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace hone::store {

// UTC, ISO 8601 with milliseconds: "2026-01-31T12:00:00.123Z". Texts order as times do.
std::string to_text(std::chrono::system_clock::time_point time);
std::string now_text();

// The running kernel's boot id (/proc/sys/kernel/random/boot_id).
std::string boot_id();

// CLOCK_BOOTTIME: runs while the machine sleeps, and cannot be set.
std::int64_t boot_milliseconds();

// "host/boot/namespace/pid/start" of this process: host name, boot id of the kernel, inode of the
// process-id namespace, pid, and start time in ticks since boot, so that neither a pid used again
// nor a container with pids of its own is mistaken for another process. A lease's owner is this,
// with "#text" behind it where one process has several.
std::string this_process();

// Whether the process is known to be gone: of this host but another boot, or of this boot and
// namespace with no such pid and start time any more. False where that cannot be known.
bool is_gone(std::string_view process);

// Whether statfs(2)'s f_type is of a file system whose files several machines or a user-space
// server share: there SQLite's write-ahead log, which needs shared memory, must not be used
// (https://www.sqlite.org/wal.html, "disadvantages").
bool is_shared_file_system(long type);

// Whether `path`, or its folder while it does not exist, lies on one.
bool is_on_shared_file_system(const std::filesystem::path& path);

}  // namespace hone::store
