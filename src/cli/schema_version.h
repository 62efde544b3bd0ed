#pragma once

namespace hone::cli {

// "schema_version" of the documents that --json prints: raised when a key of one changes its name
// or meaning.
inline constexpr int kSchemaVersion = 1;

}  // namespace hone::cli
