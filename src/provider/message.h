// Messages between the tuner and its workers, and jobs as types. One description of a job states
// request and answer for both sides.
#pragma once

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <type_traits>
#include <vector>

#include "base/decode_json.h"
#include "provider/artifact.h"

namespace hone::provider {

inline constexpr std::size_t kMostBlobBytes = std::size_t{1} << 30;  // of a message, together

// A job, or the answer to one. On a socket it is a frame (worker/message.h), which limits it.
struct Message {
  std::string kind;                // at most 64 bytes
  nlohmann::json body = nullptr;   // as text at most 64 MiB, nested at most 60 deep
  std::vector<std::string> blobs;  // bytes as they are; at most 1024, and kMostBlobBytes
};

// Result of a job: an answer, or how it failed.
using Outcome = tl::expected<Message, Failure>;

// Cache key of a job: covers its kind and all that it is given.
std::string key_of(const Message& job);

// Request or answer of a job that has none.
struct Nothing {};
inline void to_json(nlohmann::json& json, const Nothing&) {
  json = nlohmann::json::object();
}
inline void from_json(const nlohmann::json&, Nothing&) {}

// Move the bytes of a value between the value and the message's blobs, beside its JSON. Overloaded
// for types that have bytes. The text of a take_blobs() error continues the name of the message.
template <class T>
void give_blobs(T&, Message&) {}
template <class T>
Status take_blobs(T&, Message&) {
  return {};
}
void give_blobs(Artifact& artifact, Message& message);
Status take_blobs(Artifact& artifact, Message& message);

// Places of a value in a message, other than a named field: the whole body, or (for a text) the
// first blob.
inline constexpr const char kBody[] = "", kBlob[] = "blob";

template <class T>
Message message_of(std::string_view kind, std::string_view place, T value) {
  Message message{std::string(kind), nlohmann::json::object(), {}};
  if constexpr (std::is_same_v<T, std::string>)
    if (place == kBlob) {
      message.blobs.push_back(std::move(value));
      return message;
    }
  (place == kBody ? message.body : message.body[std::string(place)]) = value;
  give_blobs(value, message);
  return message;
}

// Describes a job: its kind, the types of request and answer, which are JSON, and their places in
// the message.
template <class Request, class Answer>
struct Job {
  const char* kind;
  const char* asked = kBody;
  const char* answered = kBody;

  Message ask(Request request) const { return message_of(kind, asked, std::move(request)); }
  Message answer(Answer answer) const { return message_of("done", answered, std::move(answer)); }

  // Takes the request out of a message. Throws what nlohmann's get<T>() throws.
  Result<Request> asked_in(Message message) const {
    auto request = (*asked == '\0' ? message.body : message.body.at(asked)).template get<Request>();
    HONE_TRY(take_blobs(request, message));
    return request;
  }
  // Reads the answer, whose content is not trusted. The text of a failure continues the name of the
  // process that answered.
  Result<Answer> answered_in(Message message) const {
    if constexpr (std::is_same_v<Answer, std::string>)
      if (answered == std::string_view(kBlob)) {
        if (message.blobs.empty()) return failure("cannot be read: the code is missing");
        return std::move(message.blobs.front());
      }
    HONE_ASSIGN(Answer answer, *answered == '\0' ? decode_json<Answer>(message.body)
                                                 : decode_json<Answer>(message.body, answered));
    HONE_TRY(take_blobs(answer, message));
    return answer;
  }

  friend bool operator==(std::string_view name, const Job& job) { return name == job.kind; }
};

// A job and the function of `Worker` that does it. The function takes the request, unless it needs
// none, and returns an Answer or a Status, with an Error or a Failure.
template <class Worker>
struct ServedJob {
  template <class Request, class Answer, class Does>
  ServedJob(const Job<Request, Answer>& job, Does does)
      : kind(job.kind), answer([job, does](Worker& worker, Message message, FailureKind refused) {
          return answer_to(job, does, worker, std::move(message), refused);
        }) {}

  std::string_view kind;
  // An Error becomes a failure of kind `refused`.
  std::function<Outcome(Worker& worker, Message message, FailureKind refused)> answer;

 private:
  template <class Request, class Answer, class Does>
  static Outcome answer_to(const Job<Request, Answer>& job, const Does& does, Worker& worker,
                           Message message, FailureKind refused) {
    const auto failed = [refused](const Error& error) { return Failure{refused, error.message}; };
    Result<Request> request = job.asked_in(std::move(message));
    if (!request) return tl::unexpected(failed(request.error()));
    auto done = [&] {
      if constexpr (std::is_invocable_v<Does, Worker&>)
        return std::invoke(does, worker);
      else
        return std::invoke(does, worker, *std::move(request));
    }();
    if constexpr (std::is_same_v<typename decltype(done)::error_type, Error>) {
      if (!done) return tl::unexpected(failed(done.error()));
    } else if (!done) {
      return tl::unexpected(std::move(done).error());
    }
    if constexpr (std::is_same_v<Answer, Nothing>)
      return job.answer({});
    else
      return job.answer(*std::move(done));
  }
};

// Does the job among `jobs` that a message asks for: a list of jobs is all that a worker can be
// asked. A message of another kind or form fails with kind `refused`.
template <class Worker>
Outcome answer_by(std::span<const ServedJob<Worker>> jobs, Worker& worker, Message message,
                  FailureKind refused) {
  const auto job = std::ranges::find(jobs, message.kind, &ServedJob<Worker>::kind);
  if (job == jobs.end())
    return tl::unexpected(
        Failure{refused, fmt::format("no job '{}' is served here", message.kind)});
  try {
    return job->answer(worker, std::move(message), refused);
  } catch (const nlohmann::json::exception& error) {
    return tl::unexpected(Failure{
        refused,
        fmt::format("the body of the job '{}' is not as it must be: {}", job->kind, error.what())});
  }
}

}  // namespace hone::provider
