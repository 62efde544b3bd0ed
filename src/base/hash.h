// Names of things: content hashes (xxHash's XXH3, 128 bits; they do not protect against forgery),
// and random numbers of the system, for unique names and keys. std::random_device is not used:
// libstdc++ may take its numbers from arc4random, depending on how it was built, and so requires
// glibc 2.36. getrandom(2) is in every glibc since 2.25 and gives no worse numbers.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace hone {

// 32 lower-case hex digits of XXH3-128 over `bytes`.
std::string content_hash(std::string_view bytes);

// Fills `bytes` with what the kernel's generator gives; at most 256 bytes, which are given whole or
// not at all (getrandom(2)). Waits until the system has gathered randomness, which it has soon
// after its start. Threads may call it at once.
void fill_with_system_random(std::span<std::byte> bytes);

// 16 lower-case hex digits of it, for the name of something that is new.
std::string system_random_name();

}  // namespace hone
