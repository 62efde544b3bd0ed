// Spells values as the tables hold them: JSON with one spelling, enumerators by name, large texts
// and binaries as compressed blobs. Private to this folder.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "store/rows.h"
#include "store/sqlite.h"

struct ZSTD_DCtx_s;

namespace hone::store {

// Returns `text` with sorted keys and without blanks. An input error, naming `what`, if it is not
// JSON.
Result<std::string> canonical_json(std::string_view what, std::string_view text);

// Returns an input error, naming `what`, if `text` is not JSON. (The tables do not check it: SQLite
// 3.40 counts json_valid() as unsafe in a schema that is not trusted.)
Status check_json(std::string_view what, std::string_view text);

// Returns the texts as one JSON array: a hash over it tells ("a", "bc") from ("ab", "c").
std::string joined(std::initializer_list<std::string_view> texts);

// Returns the id of the blob with these bytes, made if there is none.
Result<Id> intern_blob(Database& database, std::string_view bytes);

// Returns the bytes; an input error if they differ from those stored.
Result<std::string> load_blob(Database& database, Id id);
// Does so for many blobs, with one decompressor: making one costs more than a kernel's code.
class BlobReader {
 public:
  BlobReader();
  ~BlobReader();
  BlobReader(const BlobReader&) = delete;
  Result<std::string> load(Database& database, Id id);

 private:
  ZSTD_DCtx_s* decompressor_;
};

// Names of an enumeration's values. A column of the enumeration admits no other text.
template <class E>
inline constexpr std::pair<E, std::string_view> kNames[] = {{}};
template <>
inline constexpr std::pair<RunState, std::string_view> kNames<RunState>[] = {
    {RunState::kRunning, "running"},
    {RunState::kFinished, "finished"},
    {RunState::kInterrupted, "interrupted"},
    {RunState::kFailed, "failed"}};
template <>
inline constexpr std::pair<Phase, std::string_view> kNames<Phase>[] = {
    {Phase::kSearch, "search"},
    {Phase::kSentinel, "sentinel"},
    {Phase::kFinalist, "finalist"},
    {Phase::kOwnRuntime, "iree_runtime"},
    {Phase::kProgram, "program"}};
template <>
inline constexpr std::pair<Purpose, std::string_view> kNames<Purpose>[] = {
    {Purpose::kProof, "proof"}, {Purpose::kFlags, "flags"}};

// Set `value` to the enumerator called `name`. An input error if there is none: a file may have
// been made without the CHECK of the tables.
Status find_named(std::string_view name, RunState& value);
Status find_named(std::string_view name, Phase& value);
Status find_named(std::string_view name, Purpose& value);

}  // namespace hone::store
