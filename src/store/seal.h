// Who compiled an artifact. A store is a file that may come from anybody, by `hone store merge` or
// as it is, and what it calls compiled code would be loaded and run. So each artifact carries a
// seal, a keyed hash (SipHash-2-4 with 128 bits; Aumasson and Bernstein, SipHash: a fast
// short-input PRF, 2012) over its code and how it is launched, by a key that only this user has.
// Whoever has not got the key cannot make a seal that holds, whatever else they write into the
// file.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "store/rows.h"

namespace hone::store {

using SealKey = std::array<std::uint64_t, 2>;

// 32 lower-case hex digits.
std::string seal_of(const Artifact& artifact, const SealKey& key);

// The key in `folder` (file "seal-key"), drawn by the system's random numbers where there is none.
// When it can neither be read nor written, or others may read it, the key holds for this process
// only: what it compiles is its own, and what was compiled before is compiled again.
SealKey seal_key_in(const std::filesystem::path& folder);
// That in $XDG_STATE_HOME/hone, else ~/.local/state/hone.
SealKey own_seal_key();

// SipHash-2-4-128 of `bytes` as 32 lower-case hex digits.
std::string sip_hash(std::string_view bytes, const SealKey& key);

}  // namespace hone::store
