// Knows the file system on which the store's file lies.
#pragma once

#include <filesystem>

namespace hone::store {

// Whether statfs(2)'s f_type is of a file system whose files several machines or a user-space
// server share: there SQLite's write-ahead log, which needs shared memory, must not be used
// (https://www.sqlite.org/wal.html, "disadvantages").
bool is_shared_file_system(long type);

// Whether `path`, or its folder while it does not exist, lies on one.
bool is_on_shared_file_system(const std::filesystem::path& path);

}  // namespace hone::store
