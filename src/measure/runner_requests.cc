#include "measure/runner_requests.h"

#include <nlohmann/json.hpp>

#include "base/json_fields.h"
#include "measure/runner_jobs.h"
#include "problem/refuse_json.h"

namespace hone::measure {
namespace {

constexpr std::pair<CacheMode, std::string_view> kCacheModes[] = {{CacheMode::kWarm, "warm"},
                                                                  {CacheMode::kCold, "cold"}};

}  // namespace

constexpr auto kToleranceFields = [](auto& tolerance, auto&& field) {
  field("absolute", tolerance.absolute);
  field("relative", tolerance.relative);
  field("basis", tolerance.basis);
};

constexpr auto kProblemRequestFields = [](auto& request, auto&& field) {
  field("dispatch", request.dispatch);
  field("device", request.device);
  field("seed", request.seed);
  field.named("cache", request.cache, kCacheModes);
  field("last_level_cache", request.last_level_cache);
};

void to_json(nlohmann::json& json, const ProblemRequest& request) {
  write_fields(json, request, kProblemRequestFields);
  if (request.reference) json["reference"] = artifact_facts(*request.reference);
  if (request.tolerance) write_fields(json["tolerance"], *request.tolerance, kToleranceFields);
  if (request.only_timed) json["only_timed"] = true;
}

void from_json(const nlohmann::json& json, ProblemRequest& request) {
  read_fields(json, request, kProblemRequestFields);
  if (const auto found = json.find("reference"); found != json.end())
    request.reference = artifact_from(*found, "");
  if (const auto found = json.find("tolerance"); found != json.end())
    read_fields(*found, request.tolerance.emplace(), kToleranceFields);
  request.only_timed = json.value("only_timed", false);
}

constexpr auto kProblemReadyFields = [](auto& ready, auto&& field) {
  field("reference", ready.reference);
  field("copies", ready.copies);
  field("note", ready.note);
};

void to_json(nlohmann::json& json, const ProblemReady& ready) {
  write_fields(json, ready, kProblemReadyFields);
}

void from_json(const nlohmann::json& json, ProblemReady& ready) {
  read_fields(json, ready, kProblemReadyFields);
}

constexpr auto kBaselineFields = [](auto& baseline, auto&& field) {
  field("handle", baseline.handle);
  field("provider", baseline.provider);
  field("library", baseline.library);
  field("algorithm", baseline.algorithm);
  field("note", baseline.note);
};

void to_json(nlohmann::json& json, const Baseline& baseline) {
  write_fields(json, baseline, kBaselineFields);
}

void from_json(const nlohmann::json& json, Baseline& baseline) {
  read_fields(json, baseline, kBaselineFields);
}

constexpr auto kComparisonFields = [](auto& comparison, auto&& field) {
  field("right", comparison.right);
  field("elements", comparison.elements);
  field("bad", comparison.bad);
  field("bad_share", comparison.share);
  field("first_bad", comparison.first_bad);
  field.number("expected", comparison.expected);
  field.number("got", comparison.got);
  field.number("largest_error", comparison.worst_error);
  field.number("largest_relative_error", comparison.worst_relative);
  field("nan_count", comparison.nan_count);
};

void to_json(nlohmann::json& json, const Comparison& comparison) {
  write_fields(json, comparison, kComparisonFields);
}

void from_json(const nlohmann::json& json, Comparison& comparison) {
  read_fields(json, comparison, kComparisonFields);
}

constexpr auto kOutputCheckFields = [](auto& output, auto&& field) {
  field("binding", output.binding);
  field("comparison", output.comparison);
};

constexpr auto kVerificationFields = [](auto& verification, auto&& field) {
  field("right", verification.right);
  field("message", verification.message);
  field("binding", verification.binding);
  field("first_bad", verification.first_bad);
  field.number("expected", verification.expected);
  field.number("got", verification.got);
  field("bad_share", verification.bad_share);
  field.number("largest_error", verification.largest_error);
  field("wrongly_written", verification.wrongly_written);
  field("tolerance", verification.tolerance);
  field.or_default("busy_seconds", verification.busy_seconds);
  field("broken_guards", verification.broken_guards);
  field("changed_inputs", verification.changed_inputs);
  field.list("outputs", verification.outputs, kOutputCheckFields);
};

void to_json(nlohmann::json& json, const Verification& verification) {
  write_fields(json, verification, kVerificationFields);
}

void from_json(const nlohmann::json& json, Verification& verification) {
  read_fields(json, verification, kVerificationFields);
}

constexpr auto kMeasureRequestFields = [](auto& request, auto&& field) {
  field("handles", request.handles);
  field("protocol", request.protocol);
  field("other_memory", request.other_memory);
  field("seed", request.seed);
  field("least_seconds", request.least_seconds);
  field("sentinel", request.sentinel);
  field("best", request.best);
};

void to_json(nlohmann::json& json, const MeasureRequest& request) {
  write_fields(json, request, kMeasureRequestFields);
}

void from_json(const nlohmann::json& json, MeasureRequest& request) {
  read_fields(json, request, kMeasureRequestFields);
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

constexpr auto kMeasureResultFields = [](auto& result, auto&& field) {
  field("handles", result.handles);
  field("rounds", result.rounds);
  field("seconds", result.seconds);
  field.or_default("busy_seconds", result.busy_seconds);
  field("before", result.before);
  field("after", result.after);
};

void to_json(nlohmann::json& json, const MeasureResult& result) {
  write_fields(json, result, kMeasureResultFields);
}

void from_json(const nlohmann::json& json, MeasureResult& result) {
  read_fields(json, result, kMeasureResultFields);
}

}  // namespace hone::measure
