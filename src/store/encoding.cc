#include "store/encoding.h"

#include <zstd.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/json.h"

namespace hone::store {
namespace {

std::string dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Code and IR shrink 3-10x; higher levels gain a few percent for several times the time.
constexpr int kCompressionLevel = 3;

// Sizes come from the file; one beyond this is damage and not worth the memory.
constexpr std::int64_t kLargestBlob = std::int64_t{1} << 30;

template <class E>
Status find_in_names(std::string_view what, std::string_view name, E& value) {
  const auto found = std::ranges::find(kNames<E>, name, &std::pair<E, std::string_view>::second);
  if (found == std::end(kNames<E>))
    return input_error("the store has a {} '{}', which means nothing here", what, name);
  value = found->first;
  return {};
}

}  // namespace

Result<std::string> canonical_json(std::string_view what, std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return input_error("the {} is not JSON: {}", what, text.substr(0, 200));
  return dump(json);
}

Status check_json(std::string_view what, std::string_view text) {
  if (nlohmann::json::accept(text)) return {};
  return input_error("the {} is not JSON: {}", what, text.substr(0, 200));
}

std::string joined(std::initializer_list<std::string_view> texts) {
  nlohmann::json array = nlohmann::json::array();
  for (const std::string_view text : texts) array.push_back(text);
  return dump(array);
}

Result<Id> intern_blob(Database& database, std::string_view bytes) {
  const std::string hash = content_hash(bytes);
  HONE_ASSIGN(const auto found, database.find<Id>("SELECT id FROM blob WHERE hash = ?", hash));
  if (found) return *found;
  if (bytes.size() > static_cast<std::size_t>(kLargestBlob))
    return failure("store '{}': {} bytes are more than one artifact may have",
                   database.path().string(), bytes.size());
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), kCompressionLevel);
  if (ZSTD_isError(size) != 0)
    return environment_error("store '{}': cannot compress: {}", database.path().string(),
                             ZSTD_getErrorName(size));
  packed.resize(size);
  HONE_TRY(database.execute("INSERT INTO blob (hash, size, zstd) VALUES (?, ?, ?)", hash,
                            static_cast<std::int64_t>(bytes.size()), Bytes{packed}));
  return database.last_id();
}

Result<std::string> load_blob(Database& database, Id id) {
  return BlobReader().load(database, id);
}

BlobReader::BlobReader() : decompressor_(ZSTD_createDCtx()) {}
BlobReader::~BlobReader() {
  ZSTD_freeDCtx(decompressor_);
}

Result<std::string> BlobReader::load(Database& database, Id id) {
  HONE_ASSIGN(const auto found, (database.find<std::tuple<std::string, std::int64_t, std::string>>(
                                    "SELECT hash, size, zstd FROM blob WHERE id = ?", id)));
  const std::string path = database.path().string();
  if (!found) return input_error("store '{}': there is no blob {}", path, id);
  const auto& [hash, size, packed] = *found;
  std::string bytes;
  if (size >= 0 && size <= kLargestBlob) {
    bytes.resize(static_cast<std::size_t>(size));
    const std::size_t got = ZSTD_decompressDCtx(decompressor_, bytes.data(), bytes.size(),
                                                packed.data(), packed.size());
    if (ZSTD_isError(got) == 0 && got == bytes.size() && content_hash(bytes) == hash) return bytes;
  }
  return input_error(
      "the store '{0}' is damaged (blob {1} is not what was stored); 'hone store check {0}' says "
      "what else is",
      path, id);
}

std::string_view name_of(RunState state) {
  return name_in(kNames<RunState>, state);
}
std::string_view name_of(Phase phase) {
  return name_in(kNames<Phase>, phase);
}
std::string_view name_of(Purpose purpose) {
  return name_in(kNames<Purpose>, purpose);
}
Status find_named(std::string_view name, RunState& value) {
  return find_in_names("run that is", name, value);
}
Status find_named(std::string_view name, Phase& value) {
  return find_in_names("measurement of", name, value);
}
Status find_named(std::string_view name, Purpose& value) {
  return find_in_names("measurement for", name, value);
}

}  // namespace hone::store
