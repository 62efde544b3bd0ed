#include "measure/runner_requests.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/exact_json.h"
#include "measure/runner_jobs.h"
#include "problem/refuse_json.h"

namespace hone::measure {
namespace {

constexpr std::pair<CacheMode, std::string_view> kCacheModes[] = {{CacheMode::kWarm, "warm"},
                                                                  {CacheMode::kCold, "cold"}};

// JSON has no infinities and no NaN: they travel as words.
nlohmann::json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double number_from(const nlohmann::json& json) {
  if (!json.is_string()) return json.get<double>();
  const std::string word = json.get<std::string>();
  if (word == "inf") return std::numeric_limits<double>::infinity();
  if (word == "-inf") return -std::numeric_limits<double>::infinity();
  if (word != "nan") refuse_json("'" + word + "' is no number");
  return std::numeric_limits<double>::quiet_NaN();
}

template <class T>
void get_optional(const nlohmann::json& json, const char* key, std::optional<T>& value) {
  value.reset();
  if (const auto found = json.find(key); found != json.end()) value = exact<T>(*found);
}

}  // namespace

void to_json(nlohmann::json& json, const ProblemRequest& request) {
  json = {{"dispatch", request.dispatch},
          {"device", request.device},
          {"seed", request.seed},
          {"cache", name_in(kCacheModes, request.cache)},
          {"last_level_cache", request.last_level_cache}};
  if (request.reference) json["reference"] = artifact_facts(*request.reference);
  if (const std::optional<Tolerance>& tolerance = request.tolerance)
    json["tolerance"] = {{"absolute", tolerance->absolute},
                         {"relative", tolerance->relative},
                         {"basis", tolerance->basis}};
}

void from_json(const nlohmann::json& json, ProblemRequest& request) {
  json.at("dispatch").get_to(request.dispatch);
  json.at("device").get_to(request.device);
  exact_to(json.at("seed"), request.seed);
  request.cache = named(json.at("cache"), kCacheModes);
  exact_to(json.at("last_level_cache"), request.last_level_cache);
  request.reference.reset();
  if (const auto found = json.find("reference"); found != json.end())
    request.reference = artifact_from(*found, "");
  request.tolerance.reset();
  if (const auto found = json.find("tolerance"); found != json.end())
    request.tolerance = {found->at("absolute").get<double>(), found->at("relative").get<double>(),
                         found->at("basis").get<std::string>()};
}

void to_json(nlohmann::json& json, const ProblemReady& ready) {
  json = {{"reference", ready.reference}, {"copies", ready.copies}, {"note", ready.note}};
}

void from_json(const nlohmann::json& json, ProblemReady& ready) {
  json.at("reference").get_to(ready.reference);
  exact_to(json.at("copies"), ready.copies);
  json.at("note").get_to(ready.note);
}

void to_json(nlohmann::json& json, const Baseline& baseline) {
  json = {{"handle", baseline.handle},
          {"provider", baseline.provider},
          {"library", baseline.library},
          {"algorithm", baseline.algorithm},
          {"note", baseline.note}};
}

void from_json(const nlohmann::json& json, Baseline& baseline) {
  exact_to(json.at("handle"), baseline.handle);
  json.at("provider").get_to(baseline.provider);
  json.at("library").get_to(baseline.library);
  json.at("algorithm").get_to(baseline.algorithm);
  json.at("note").get_to(baseline.note);
}

void to_json(nlohmann::json& json, const Comparison& comparison) {
  json = {{"right", comparison.right},
          {"elements", comparison.elements},
          {"bad", comparison.bad},
          {"bad_share", comparison.share},
          {"first_bad", comparison.first_bad},
          {"expected", number(comparison.expected)},
          {"got", number(comparison.got)},
          {"largest_error", number(comparison.worst_error)},
          {"largest_relative_error", number(comparison.worst_relative)},
          {"nan_count", comparison.nan_count}};
}

void from_json(const nlohmann::json& json, Comparison& comparison) {
  json.at("right").get_to(comparison.right);
  exact_to(json.at("elements"), comparison.elements);
  exact_to(json.at("bad"), comparison.bad);
  json.at("bad_share").get_to(comparison.share);
  exact_to(json.at("first_bad"), comparison.first_bad);
  comparison.expected = number_from(json.at("expected"));
  comparison.got = number_from(json.at("got"));
  comparison.worst_error = number_from(json.at("largest_error"));
  comparison.worst_relative = number_from(json.at("largest_relative_error"));
  exact_to(json.at("nan_count"), comparison.nan_count);
}

void to_json(nlohmann::json& json, const Verification& verification) {
  json = {{"right", verification.right},
          {"message", verification.message},
          {"binding", verification.binding},
          {"first_bad", verification.first_bad},
          {"expected", number(verification.expected)},
          {"got", number(verification.got)},
          {"bad_share", verification.bad_share},
          {"largest_error", number(verification.largest_error)},
          {"wrongly_written", verification.wrongly_written},
          {"tolerance", verification.tolerance},
          {"broken_guards", verification.broken_guards},
          {"changed_inputs", verification.changed_inputs},
          {"busy_seconds", verification.busy_seconds},
          {"outputs", nlohmann::json::array()}};
  for (const OutputCheck& output : verification.outputs)
    json["outputs"].push_back({{"binding", output.binding}, {"comparison", output.comparison}});
}

void from_json(const nlohmann::json& json, Verification& verification) {
  json.at("right").get_to(verification.right);
  json.at("message").get_to(verification.message);
  exact_to(json.at("binding"), verification.binding);
  exact_to(json.at("first_bad"), verification.first_bad);
  verification.expected = number_from(json.at("expected"));
  verification.got = number_from(json.at("got"));
  json.at("bad_share").get_to(verification.bad_share);
  verification.largest_error = number_from(json.at("largest_error"));
  exact_to(json.at("wrongly_written"), verification.wrongly_written);
  json.at("tolerance").get_to(verification.tolerance);
  verification.busy_seconds = json.value("busy_seconds", 0.0);
  exact_to(json.at("broken_guards"), verification.broken_guards);
  exact_to(json.at("changed_inputs"), verification.changed_inputs);
  verification.outputs.clear();
  for (const auto& output : json.at("outputs"))
    verification.outputs.push_back(
        {exact<int>(output.at("binding")), output.at("comparison").get<Comparison>()});
}

void to_json(nlohmann::json& json, const MeasureRequest& request) {
  json = {{"handles", request.handles},
          {"protocol", request.protocol},
          {"other_memory", request.other_memory},
          {"seed", request.seed},
          {"least_seconds", request.least_seconds}};
  if (request.sentinel) json["sentinel"] = *request.sentinel;
  if (request.best) json["best"] = *request.best;
}

void from_json(const nlohmann::json& json, MeasureRequest& request) {
  exact_to(json.at("handles"), request.handles);
  json.at("protocol").get_to(request.protocol);
  json.at("other_memory").get_to(request.other_memory);
  exact_to(json.at("seed"), request.seed);
  exact_to(json.at("least_seconds"), request.least_seconds);
  get_optional(json, "sentinel", request.sentinel);
  get_optional(json, "best", request.best);
}

void to_json(nlohmann::json& json, const HandleSamples& samples) {
  json = {{"handle", samples.handle},
          {"seconds", samples.seconds},
          {"rounds", samples.rounds},
          {"launches_per_sample", samples.launches_per_sample},
          {"disturbed", samples.disturbed},
          {"kept_disturbed", samples.kept_disturbed},
          {"warm", samples.warm},
          {"stop", samples.stop},
          {"impossible", samples.impossible}};
}

void from_json(const nlohmann::json& json, HandleSamples& samples) {
  exact_to(json.at("handle"), samples.handle);
  json.at("seconds").get_to(samples.seconds);
  exact_to(json.at("rounds"), samples.rounds);
  exact_to(json.at("launches_per_sample"), samples.launches_per_sample);
  exact_to(json.at("disturbed"), samples.disturbed);
  json.at("kept_disturbed").get_to(samples.kept_disturbed);
  json.at("warm").get_to(samples.warm);
  json.at("stop").get_to(samples.stop);
  samples.impossible = json.value("impossible", 0);
  if (samples.rounds.size() != samples.seconds.size())
    problem::refuse_unless(input_error("{} samples of {} rounds: each belongs to one",
                                       samples.seconds.size(), samples.rounds.size()));
}

void to_json(nlohmann::json& json, const MeasureResult& result) {
  json = {{"handles", result.handles}, {"rounds", result.rounds},
          {"seconds", result.seconds}, {"busy_seconds", result.busy_seconds},
          {"before", result.before},   {"after", result.after}};
}

void from_json(const nlohmann::json& json, MeasureResult& result) {
  exact_to(json.at("handles"), result.handles);
  exact_to(json.at("rounds"), result.rounds);
  json.at("seconds").get_to(result.seconds);
  result.busy_seconds = json.value("busy_seconds", 0.0);
  json.at("before").get_to(result.before);
  json.at("after").get_to(result.after);
}

}  // namespace hone::measure
