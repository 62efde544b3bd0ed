// Time in the store's format. Private to this folder.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace hone::store {

// UTC, ISO 8601 with milliseconds: "2026-01-31T12:00:00.123Z". Texts order as times do.
std::string to_text(std::chrono::system_clock::time_point time);
std::string now_text();

// The running kernel's boot id (/proc/sys/kernel/random/boot_id).
std::string boot_id();

// CLOCK_BOOTTIME: runs while the machine sleeps, and cannot be set.
std::int64_t boot_milliseconds();

}  // namespace hone::store
