#include "worker/envelope.h"

#include <utility>

#include "base/decode_json.h"
#include "base/stopwatch.h"

namespace hone::worker {
namespace {

const nlohmann::json* field(const Message& message, const char* name) {
  if (!message.body.is_object()) return nullptr;
  const auto found = message.body.find(name);
  return found == message.body.end() ? nullptr : &*found;
}

}  // namespace

Message wrap(std::string kind, nlohmann::json fields, Message payload) {
  fields["kind"] = std::move(payload.kind);
  fields["body"] = std::move(payload.body);
  return {std::move(kind), std::move(fields), std::move(payload.blobs)};
}

Message unwrap(Message message) {
  Message payload;
  payload.kind = text_field(message, "kind").value_or("");
  if (message.body.is_object() && message.body.contains("body"))
    payload.body = std::move(message.body["body"]);
  payload.blobs = std::move(message.blobs);
  return payload;
}

Message to_report(std::uint64_t id, double seconds, Outcome outcome) {
  const nlohmann::json fields = {{"id", id}, {"seconds", seconds}, {"ended", monotonic_seconds()}};
  return outcome ? wrap("done", fields, std::move(*outcome))
                 : wrap("failed", fields, to_message(outcome.error()));
}

Outcome outcome_from_report(Message message) {
  const bool failed = message.kind == "failed";
  Message payload = unwrap(std::move(message));
  if (failed) return tl::unexpected(failure_from(payload));
  return payload;
}

std::optional<std::uint64_t> number_field(const Message& message, const char* name) {
  const nlohmann::json* value = field(message, name);
  if (value == nullptr || !value->is_number_unsigned()) return std::nullopt;
  return value->get<std::uint64_t>();
}

std::optional<std::string> text_field(const Message& message, const char* name) {
  const nlohmann::json* value = field(message, name);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return value->get<std::string>();
}

double seconds_field(const Message& message, const char* name) {
  const nlohmann::json* value = field(message, name);
  return value != nullptr && value->is_number() ? value->get<double>() : 0;
}

Message to_message(const TreeSettings& settings) {
  return {"configure", settings, {}};
}

std::optional<TreeSettings> settings_from(const Message& message) {
  const auto settings = decode_json<TreeSettings>(message.body);
  if (message.kind != "configure" || !settings || settings->jobs == 0) return std::nullopt;
  return *settings;
}

}  // namespace hone::worker
