#include "measure/runner_requests.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "problem/check.h"

namespace hone::measure {

void give_blobs(ProblemRequest& request, Message& message) {
  if (request.reference) give_blobs(*request.reference, message);
  for (const auto& [name, each] :
       {std::pair("inputs", &request.inputs), std::pair("expected", &request.expected)}) {
    message.body[name] = each->size();
    std::ranges::move(*each, std::back_inserter(message.blobs));
  }
}

Status take_blobs(ProblemRequest& request, Message& message) {
  if (request.reference) HONE_TRY(take_blobs(*request.reference, message));
  std::span<std::string> left = message.blobs;
  left = left.subspan(request.reference ? 1 : 0);
  for (const auto& [name, each] :
       {std::pair("inputs", &request.inputs), std::pair("expected", &request.expected)}) {
    const auto count = message.body.value(name, std::size_t{0});
    if (count > left.size())
      return input_error("the problem's message lacks inputs or expected outputs");
    each->clear();
    std::ranges::move(left.first(count), std::back_inserter(*each));
    left = left.subspan(count);
  }
  return {};
}

void to_json(nlohmann::json& json, const Outputs& outputs) {
  json = outputs.bindings;
}

void from_json(const nlohmann::json& json, Outputs& outputs) {
  json.get_to(outputs.bindings);
}

void give_blobs(Outputs& outputs, Message& message) {
  message.blobs = std::move(outputs.bytes);
}

Status take_blobs(Outputs& outputs, Message& message) {
  outputs.bytes = std::move(message.blobs);
  if (outputs.bytes.size() == outputs.bindings.size()) return {};
  return failure("has {} blobs for {} bindings", outputs.bytes.size(), outputs.bindings.size());
}

constexpr auto kHandleSamplesFields = [](auto& samples, auto&& field) {
  field("handle", samples.handle);
  field("seconds", samples.seconds);
  field("rounds", samples.rounds);
  field("launches_per_sample", samples.launches_per_sample);
  field("disturbed", samples.disturbed);
  field("kept_disturbed", samples.kept_disturbed);
  field("warm", samples.warm);
  field("stop", samples.stop);
  field.or_default("impossible", samples.impossible);
};

void to_json(nlohmann::json& json, const HandleSamples& samples) {
  write_fields(json, samples, kHandleSamplesFields);
}

void from_json(const nlohmann::json& json, HandleSamples& samples) {
  read_fields(json, samples, kHandleSamplesFields);
  if (samples.rounds.size() != samples.seconds.size())
    problem::refuse_unless(input_error("{} samples of {} rounds: each belongs to one",
                                       samples.seconds.size(), samples.rounds.size()));
}

}  // namespace hone::measure
