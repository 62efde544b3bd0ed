// Seals that prove who compiled an artifact. A store may come from anybody, by `hone store merge`
// or as a file, and its code would be loaded and run. Each artifact therefore carries a seal over
// its code and its launch: a keyed hash by a key that only this user has. (SipHash-2-4 with 128
// bits; Aumasson and Bernstein, SipHash: a fast short-input PRF, 2012.) Without the key nobody can
// make a valid seal, whatever else they write into the file.
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
std::string seal_of(const ArtifactRow& artifact, const SealKey& key);

// Returns the key in `folder` (file "seal-key"), drawn from the system's random numbers if there is
// none. If the file can neither be read nor written, or others may read it, the key holds for this
// process only. Then earlier code is compiled again.
SealKey seal_key_in(const std::filesystem::path& folder);
// Returns the key in $XDG_STATE_HOME/hone, else ~/.local/state/hone.
SealKey own_seal_key();

// SipHash-2-4-128 of `bytes` as 32 lower-case hex digits.
std::string sip_hash(std::string_view bytes, const SealKey& key);

}  // namespace hone::store
