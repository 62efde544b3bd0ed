#include "worker/envelope.h"

#include <utility>

namespace hone::worker {
namespace {

nlohmann::json to_json(const JobLimits& limits) {
  return {{"seconds", limits.seconds},
          {"memory_bytes", limits.memory_bytes},
          {"output_bytes", limits.output_bytes}};
}

bool read_limits(const nlohmann::json& body, const char* name, JobLimits& limits) {
  const auto found = body.find(name);
  if (found == body.end() || !found->is_object()) return false;
  const nlohmann::json seconds = found->value("seconds", nlohmann::json());
  const nlohmann::json memory = found->value("memory_bytes", nlohmann::json());
  const nlohmann::json output = found->value("output_bytes", nlohmann::json());
  if (!seconds.is_number() || !memory.is_number_unsigned() || !output.is_number_unsigned())
    return false;
  limits = {seconds.get<double>(), memory.get<std::uint64_t>(), output.get<std::size_t>()};
  return true;
}

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
  const nlohmann::json fields = {{"id", id}, {"seconds", seconds}};
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

double seconds_field(const Message& message) {
  const nlohmann::json* value = field(message, "seconds");
  return value != nullptr && value->is_number() ? value->get<double>() : 0;
}

Message to_message(const TreeSettings& settings) {
  return {"configure",
          {{"jobs", settings.jobs},
           {"once", to_json(settings.once)},
           {"prepare", to_json(settings.prepare)},
           {"run", to_json(settings.run)}},
          {}};
}

std::optional<TreeSettings> settings_from(const Message& message) {
  TreeSettings settings;
  const auto jobs = number_field(message, "jobs");
  if (message.kind != "configure" || !jobs || *jobs == 0 ||
      !read_limits(message.body, "once", settings.once) ||
      !read_limits(message.body, "prepare", settings.prepare) ||
      !read_limits(message.body, "run", settings.run))
    return std::nullopt;
  settings.jobs = *jobs;
  return settings;
}

}  // namespace hone::worker
