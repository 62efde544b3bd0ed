#include "cli/recheck_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/spec_effects.h"
#include "output/json_text.h"
#include "output/screen.h"
#include "output/table.h"

namespace hone::cli {

using session::ProvedSpeed;

bool Applied::holds() const {
  return failure.empty() && (!spec || working_entries(*spec) == spec->entries.size()) &&
         std::ranges::all_of(kernels, [](const tune::CheckedKernel& each) {
           return each.effect == tune::ReplacedEffect::kApplied;
         });
}

bool Recheck::is_right() const {
  return can_run && failure.empty() && std::ranges::all_of(outputs, &measure::Comparison::right);
}

bool Recheck::holds() const {
  return changed.empty() && is_right() && (!applied || applied->holds()) &&
         (!speed || speed->state == tune::SpeedState::kStillFaster);
}

namespace {

std::string applied_text(const Recheck& recheck) {
  if (!recheck.changed.empty())
    return fmt::format("no: changed since the proof: {}", fmt::join(recheck.changed, ", "));
  std::string text = fmt::format("{} files and the modules are those of the proof",
                                 recheck.proof.applied.size() + 1);
  if (!recheck.applied) return text + " (--compile asks the compiler)";
  const Applied& applied = *recheck.applied;
  if (!applied.failure.empty())
    return "no: the program does not compile: " + output::in_one_line(applied.failure);
  text = applied.same_compiler ? "the compiler of the proof" : "another compiler than the proof's";
  if (applied.spec)
    text += fmt::format(": {} of {} entries work", working_entries(*applied.spec),
                        applied.spec->entries.size());
  if (!applied.kernels.empty())
    text += fmt::format(": {} of {} kernels are applied",
                        std::ranges::count(applied.kernels, tune::ReplacedEffect::kApplied,
                                           &tune::CheckedKernel::effect),
                        applied.kernels.size());
  if (!applied.spec && applied.kernels.empty())
    text += applied.same_module ? " makes the same module" : " makes another module";
  return (applied.holds() ? "" : "no: ") + text;
}

std::string correct_text(const Recheck& recheck) {
  if (!recheck.can_run) return "not checked: files of the proof were changed";
  if (!recheck.failure.empty())
    return "no: it does not run: " + output::in_one_line(recheck.failure);
  for (std::size_t i = 0; i < recheck.outputs.size(); ++i)
    if (const measure::Comparison& output = recheck.outputs[i]; !output.right)
      return fmt::format("no: result {}: {}", i, measure::describe(output));
  double worst = 0;
  for (const measure::Comparison& output : recheck.outputs)
    worst = std::max(worst, output.worst_error);
  return fmt::format("{} result{}, off by at most {:.3g}", recheck.outputs.size(),
                     recheck.outputs.size() == 1 ? "" : "s", worst);
}

std::string faster_text(const Recheck& recheck) {
  const std::optional<ProvedSpeed>& proved = recheck.proof.speed;
  if (!recheck.speed) return recheck.no_speed.empty() ? "not measured" : recheck.no_speed;
  const measure::PairedComparison& now = recheck.speed->comparison;
  std::string text = fmt::format("{:.2f}x", 1 / now.ratio);
  if (!now.too_few)
    text += fmt::format(" [{:.2f}, {:.2f}]", 1 / now.interval.high, 1 / now.interval.low);
  text += fmt::format(" in {} rounds; the proof says {:.2f}x [{:.2f}, {:.2f}]", now.rounds,
                      proved->speedup, proved->low, proved->high);
  if (recheck.speed->state == tune::SpeedState::kUndecided)
    return fmt::format("undecided: {}; more time: --seconds", text);
  return (recheck.speed->state == tune::SpeedState::kStillFaster ? "" : "no: ") + text;
}

nlohmann::json json_of(const Recheck& recheck, const std::string& folder) {
  const auto number = [](double value) {
    return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
  };
  nlohmann::json document{
      {"folder", folder},
      {"holds", recheck.holds()},
      {"program", output::text_or_null(recheck.program)},
      {"changed", recheck.changed},
      {"correct", recheck.is_right()},
      {"outputs", recheck.outputs},
      {"failure", recheck.failure},
      {"proved", recheck.proof.speed ? nlohmann::json(*recheck.proof.speed) : nlohmann::json()},
      {"speed", nlohmann::json()},
      {"not_measured", output::text_or_null(recheck.no_speed)},
      {"applied", nlohmann::json()}};
  if (recheck.speed) {
    const measure::PairedComparison& now = recheck.speed->comparison;
    document["speed"] = {{"state", tune::name_of(recheck.speed->state)},
                         {"rounds", now.rounds},
                         {"speedup", number(1 / now.ratio)},
                         {"low", now.too_few ? nullptr : number(1 / now.interval.high)},
                         {"high", now.too_few ? nullptr : number(1 / now.interval.low)}};
  }
  if (!recheck.applied) return document;
  const Applied& applied = *recheck.applied;
  nlohmann::json& row = document["applied"] = {{"holds", applied.holds()},
                                               {"same_compiler", applied.same_compiler},
                                               {"same_module", applied.same_module},
                                               {"failure", applied.failure}};
  if (applied.spec) row.update(effects_json(*applied.spec));
  row["kernels"] = nlohmann::json::array();
  for (const tune::CheckedKernel& each : applied.kernels)
    row["kernels"].push_back({{"file", each.file.filename().string()},
                              {"effect", tune::name_of(each.effect)},
                              {"note", each.note}});
  return document;
}

}  // namespace

void print_recheck(const Recheck& recheck, const std::string& folder, bool json) {
  if (json) {
    output::print_document(json_of(recheck, folder));
    return;
  }
  std::string text =
      fmt::format("{}: the proof {}\n", folder, recheck.holds() ? "holds" : "does not hold");
  text += fmt::format("  applied  {}\n", applied_text(recheck));
  text += fmt::format("  correct  {}\n", correct_text(recheck));
  text += fmt::format("  faster   {}\n", faster_text(recheck));
  if (recheck.program.empty())
    text += fmt::format("  note     '{}' is missing: --program compares another copy\n",
                        recheck.proof.program.path);
  fmt::print("{}", output::wrapped(text, output::screen_width(), "           "));
}

}  // namespace hone::cli
