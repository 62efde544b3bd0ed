// Job messages inside the messages between tuner, zygote and prepared servers
// (docs/worker-protocol.md, "Compile tree").
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "worker/fork_server.h"
#include "worker/message.h"

namespace hone::worker {

// Wraps `payload` in a message of kind `kind` with the fields `fields` (an object).
Message wrap(std::string kind, nlohmann::json fields, Message payload);

// Returns the payload of a wrapped message. A malformed one has an empty kind and a null body.
Message unwrap(Message message);

// "done" or "failed" for job `id`, which took `seconds` and has ended now ("ended", by
// monotonic_seconds()).
Message to_report(std::uint64_t id, double seconds, Outcome outcome);

// The outcome in a "done" or "failed" message.
Outcome outcome_from_report(Message message);

// Fields of a message's body; std::nullopt if missing or of another type.
std::optional<std::uint64_t> number_field(const Message& message, const char* name);
std::optional<std::string> text_field(const Message& message, const char* name);
double seconds_field(const Message& message, const char* name = "seconds");

// Settings that the zygote needs before the first job.
struct TreeSettings {
  std::uint64_t jobs = 1;
  JobLimits once;
  JobLimits prepare;
  JobLimits run;

  static void fields(auto& settings, auto&& field) {
    field("jobs", settings.jobs);
    field("once", settings.once);
    field("prepare", settings.prepare);
    field("run", settings.run);
  }
};
Message to_message(const TreeSettings& settings);  // of kind "configure"
std::optional<TreeSettings> settings_from(const Message& message);

}  // namespace hone::worker
