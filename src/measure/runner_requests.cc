#include "measure/runner_requests.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "measure/runner_jobs.h"
#include "problem/refuse_json.h"

namespace hone::measure {
namespace {

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
  return std::numeric_limits<double>::quiet_NaN();
}

template <class T>
void get_optional(const nlohmann::json& json, const char* key, std::optional<T>& value) {
  value.reset();
  if (const auto found = json.find(key); found != json.end()) value = found->get<T>();
}

}  // namespace

void to_json(nlohmann::json& json, const ProblemRequest& request) {
  json = {{"dispatch", request.dispatch},
          {"cores", request.cores},
          {"seed", request.seed},
          {"cache", request.cache == CacheMode::kCold ? "cold" : "warm"},
          {"last_level_cache", request.last_level_cache}};
  if (request.cuda) json["cuda"] = *request.cuda;
  if (request.reference) json["reference"] = artifact_facts(*request.reference);
  if (const std::optional<Tolerance>& tolerance = request.tolerance)
    json["tolerance"] = {{"absolute", tolerance->absolute},
                         {"relative", tolerance->relative},
                         {"basis", tolerance->basis}};
}

void from_json(const nlohmann::json& json, ProblemRequest& request) {
  json.at("dispatch").get_to(request.dispatch);
  json.at("cores").get_to(request.cores);
  json.at("seed").get_to(request.seed);
  request.cache = json.at("cache") == "cold" ? CacheMode::kCold : CacheMode::kWarm;
  json.at("last_level_cache").get_to(request.last_level_cache);
  get_optional(json, "cuda", request.cuda);
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
  json.at("copies").get_to(ready.copies);
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
  json.at("handle").get_to(baseline.handle);
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
  json.at("elements").get_to(comparison.elements);
  json.at("bad").get_to(comparison.bad);
  json.at("bad_share").get_to(comparison.share);
  json.at("first_bad").get_to(comparison.first_bad);
  comparison.expected = number_from(json.at("expected"));
  comparison.got = number_from(json.at("got"));
  comparison.worst_error = number_from(json.at("largest_error"));
  comparison.worst_relative = number_from(json.at("largest_relative_error"));
  json.at("nan_count").get_to(comparison.nan_count);
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
  json.at("binding").get_to(verification.binding);
  json.at("first_bad").get_to(verification.first_bad);
  verification.expected = number_from(json.at("expected"));
  verification.got = number_from(json.at("got"));
  json.at("bad_share").get_to(verification.bad_share);
  verification.largest_error = number_from(json.at("largest_error"));
  json.at("wrongly_written").get_to(verification.wrongly_written);
  json.at("tolerance").get_to(verification.tolerance);
  verification.busy_seconds = json.value("busy_seconds", 0.0);
  json.at("broken_guards").get_to(verification.broken_guards);
  json.at("changed_inputs").get_to(verification.changed_inputs);
  verification.outputs.clear();
  for (const auto& output : json.at("outputs"))
    verification.outputs.push_back(
        {output.at("binding").get<int>(), output.at("comparison").get<Comparison>()});
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
  json.at("handles").get_to(request.handles);
  json.at("protocol").get_to(request.protocol);
  json.at("other_memory").get_to(request.other_memory);
  json.at("seed").get_to(request.seed);
  json.at("least_seconds").get_to(request.least_seconds);
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
  json.at("handle").get_to(samples.handle);
  json.at("seconds").get_to(samples.seconds);
  json.at("rounds").get_to(samples.rounds);
  json.at("launches_per_sample").get_to(samples.launches_per_sample);
  json.at("disturbed").get_to(samples.disturbed);
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
  json.at("handles").get_to(result.handles);
  json.at("rounds").get_to(result.rounds);
  json.at("seconds").get_to(result.seconds);
  result.busy_seconds = json.value("busy_seconds", 0.0);
  json.at("before").get_to(result.before);
  json.at("after").get_to(result.after);
}

}  // namespace hone::measure
