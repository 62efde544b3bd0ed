#include "output/proof_text.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "plan/policy.h"
#include "store/rows.h"

namespace hone::output {
namespace {

constexpr std::size_t kListed = 12;
// Share of the predicted gain that must arrive before the text explains the rest.
constexpr double kAsPromised = 0.9;

Cell seconds_cell(std::optional<double> seconds) {
  return seconds ? time_cell(seconds) : Cell{nullptr, ""};
}

std::optional<double> sum(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return std::nullopt;
  return *a + *b;
}

// Adds up the remaining kernels as one entry.
tune::KernelGain together(std::vector<tune::KernelGain>::const_iterator begin,
                          std::vector<tune::KernelGain>::const_iterator end) {
  tune::KernelGain all{.dispatch = fmt::format("{} more", end - begin), .launches = 0};
  all.before = all.after = 0;
  for (auto each = begin; each != end; ++each) {
    all.launches += each->launches;
    all.promised += each->promised;
    all.before = sum(all.before, each->before);
    all.after = sum(all.after, each->after);
  }
  return all;
}

// Largest error that rounding explains, as a share of the results (root mean square). It holds for
// 16-bit results behind some hundred layers. ResNet-50's are off by 0.0002 if every layer is
// computed in f32 and rounded (docs/studies/gpu-models.md).
constexpr double kMostOfRounding = 0.05;

// " at M=1", if there are several sizes.
std::string at_size(const std::vector<std::string>& sizes, std::size_t i) {
  return i < sizes.size() ? " at " + sizes[i] : "";
}

// "1.31x [1.28, 1.34] at M=1, 0.99x [0.97, 1.01] at M=512".
std::string words_of(const tune::Claim& claim, const std::vector<std::string>& sizes) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < claim.at_sizes.size(); ++i) {
    const measure::PairedComparison& each = claim.at_sizes[i];
    words.push_back(fmt::format("{:.2f}x [{:.2f}, {:.2f}]{}", 1 / each.ratio,
                                1 / each.interval.high, 1 / each.interval.low, at_size(sizes, i)));
  }
  std::string text = fmt::format("{}, {}", measure::name_of(claim.verdict), fmt::join(words, ", "));
  if (words.size() > 1)
    text += fmt::format("; slower at no size: by no more than {:.1f} %", 100 * claim.margin);
  return text;
}

std::string claims_text(const tune::VerifiedBuild& candidate, const tune::ProgramVerdict& verdict,
                        const std::vector<std::string>& sizes) {
  std::string text = fmt::format(
      "proof in fresh rounds (false-positive rate at most {:.0f} %):\n  {} against default: {}\n",
      100 * plan::kRecommendedInError, candidate.label, words_of(verdict.chosen, sizes));
  if (!verdict.spec) return text;
  return text +
         fmt::format("  of that the spec, against {}: {}\n", candidate.without_spec->label,
                     words_of(*verdict.spec, sizes)) +
         fmt::format("  of that {} alone, against default: {}\n", candidate.without_spec->label,
                     words_of(*verdict.flags, sizes));
}

// "a, b, c and 4 more".
std::string some_of(const auto& names) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> some(names.begin(), names.end());
  const std::size_t more = some.size() > kNamed ? some.size() - kNamed : 0;
  some.resize(some.size() - more);
  return fmt::format("{}{}", fmt::join(some, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

// Returns the text for outputs that cannot be compared.
std::string unchecked_text(const tune::TuningResult& result) {
  std::string text = fmt::format(
      "outputs: not comparable ({}); each dispatch is verified by itself, under the shipped "
      "flags\n",
      result.unchecked_outputs);
  if (!result.unverified_dispatches.empty())
    text += fmt::format("NOT VERIFIED: {}\n", fmt::join(result.unverified_dispatches, ", "));
  return text;
}

std::string outputs_text(const tune::VerifiedBuild& candidate) {
  std::string text;
  for (std::size_t i = 0; i < candidate.differences.size(); ++i) {
    const measure::ArrayDifference& each = candidate.differences[i];
    text += fmt::format("  result {}: ", i);
    const std::string_view of =
        candidate.repairs.empty() ? "the default's" : "those of the repaired default";
    if (each.different == 0)
      text += fmt::format("all {} elements are {}\n", counted(each.elements), of);
    else
      text += fmt::format(
          "{} of {} elements are not {}, by {:.2g} at most ({:.3g} ulp, {:.2g} of the "
          "element) and {:.2g} in the mean\n",
          counted(each.different), counted(each.elements), of, each.largest, each.largest_ulp,
          each.largest_relative, each.mean);
    if (each.different > 0)
      text += fmt::format("    off by so many ulp: {}\n", measure::ulp_text(each));
  }
  return text.empty() ? text : "its outputs:\n" + text;
}

// Returns "    1.34 ± 0.13 times faster than with data tiling alone" for each size; empty without
// a claim.
std::string times_faster(const std::optional<tune::Claim>& claim, std::string_view than,
                         const std::vector<std::string>& sizes) {
  std::string text;
  if (!claim || claim->verdict != measure::Verdict::kFaster) return text;
  for (std::size_t i = 0; i < claim->at_sizes.size(); ++i) {
    const measure::PairedComparison& each = claim->at_sizes[i];
    text +=
        fmt::format("    {:.2f} ± {:.2f} times faster than {}{}\n", 1 / each.ratio,
                    (1 / each.interval.low - 1 / each.interval.high) / 2, than, at_size(sizes, i));
  }
  return text;
}

// Returns the gain table at each size.
std::string gains_text(const tune::TuningResult& result) {
  const std::vector<std::string> sizes = names_of_sizes(result);
  std::string text;
  for (std::size_t i = 0; i < result.gains.size(); ++i) {
    const tune::ProgramGain& gain = result.gains[i];
    text += fmt::format("\n{}{}{}\n", gain_table(gain).to_text(), words_of_gain(gain),
                        i < sizes.size() ? " (at " + sizes[i] + ")" : "");
  }
  return text.empty() ? text : text + "\n";
}

}  // namespace

Table gain_table(const tune::ProgramGain& gain) {
  using Seconds = std::optional<double>;
  const Cell nothing{nullptr, ""};
  const bool several_makers = std::ranges::any_of(gain.kernels, [](const tune::KernelGain& kernel) {
    return store::takes_anothers_place(kernel.provider);
  });
  Table table({{"part", "a call of the program"},
               {"provider", "by", kLeft, several_makers},
               {"launches", "launches", kRight},
               {"before", "before", kRight},
               {"after", "after", kRight},
               {"promised", "predicted", kRight},
               {"arrived", "gained", kRight}});
  const auto add = [&](const std::string& part, const Cell& maker, const Cell& launches,
                       Seconds before, Seconds after, Seconds promised, Seconds arrived) {
    table.add({{part, ""},
               maker,
               launches,
               seconds_cell(before),
               seconds_cell(after),
               seconds_cell(promised),
               seconds_cell(arrived)});
  };
  if (gain.has_flags)
    add(gain.without_spec + " alone", nothing, nothing, gain.base, gain.before, {},
        gain.base - gain.before);
  const bool many = gain.kernels.size() > kListed;
  const auto listed =
      gain.kernels.begin() + static_cast<std::ptrdiff_t>(many ? kListed - 1 : gain.kernels.size());
  const auto add_kernel = [&](const tune::KernelGain& kernel) {
    add(kernel.dispatch, kernel.provider.empty() ? nothing : maker_cell(kernel.provider),
        {kernel.launches, ""}, kernel.before, kernel.after, kernel.promised, kernel.arrived());
  };
  std::for_each(gain.kernels.begin(), listed, add_kernel);
  if (many) add_kernel(together(listed, gain.kernels.end()));
  if (gain.in_others()) {
    add("kernels without an entry", nothing, nothing, gain.others_before, gain.others_after, {},
        gain.in_others());
    add("between kernels", nothing, nothing, {}, {}, {}, gain.between());
  }
  add("all of the spec", nothing, nothing, gain.before, gain.after, gain.promised(),
      gain.arrived());
  return table;
}

std::string words_of_gain(const tune::ProgramGain& gain) {
  const double promised = gain.promised(), arrived = gain.arrived();
  if (!(promised > 0)) return "";
  std::string words = fmt::format("gain: {} in the program; its kernels alone predicted {}",
                                  format_duration(arrived), format_duration(promised));
  if (arrived >= kAsPromised * promised) return words + ".";
  if (!gain.between()) return words + ". The runtime does not report times in place.";
  std::vector<std::string> lost;
  const auto name = [&](double seconds, std::string_view where) {
    if (seconds > (1 - kAsPromised) / 2 * promised)
      lost.push_back(fmt::format("{} {}", format_duration(seconds), where));
  };
  name(promised - *gain.in_kernels(), "less in place, with cold data");
  name(-*gain.in_others(), "slower kernels without an entry");
  name(-*gain.between(), "between kernels");
  return words + (lost.empty() ? "." : fmt::format(". Lost: {}.", fmt::join(lost, ", ")));
}

std::vector<std::string> names_of_sizes(const tune::TuningResult& result) {
  std::vector<std::string> names;
  for (const tune::ProgramTuningResult& session : result.at_sizes)
    if (!session.sizes.empty()) names.push_back(problem::to_string(session.sizes));
  return names;
}

std::string proof_text(const tune::TuningResult& result) {
  if (!result.candidate || !result.verdict) return "";
  return claims_text(*result.candidate, *result.verdict, names_of_sizes(result)) +
         (result.unchecked_outputs.empty() ? outputs_text(*result.candidate)
                                           : unchecked_text(result)) +
         gains_text(result);
}

std::string closing_summary(const tune::TuningResult& result, const std::string& flags_file) {
  if (!result.candidate || !result.verdict) return "";
  const std::vector<std::string> sizes = names_of_sizes(result);
  const tune::ProgramVerdict& verdict = *result.verdict;
  const std::string defaults = result.repaired_by.empty()
                                   ? "with the compiler's defaults"
                                   : fmt::format("with {} alone", result.repaired_by);
  std::string lines;
  if (verdict.recommended == tune::Recommended::kChosen) {
    if (verdict.spec)
      lines = times_faster(
          verdict.spec, fmt::format("with {} alone", result.candidate->without_spec->label), sizes);
    lines += times_faster(verdict.chosen, defaults, sizes);
  } else if (verdict.recommended == tune::Recommended::kFlags) {
    lines = times_faster(verdict.flags, defaults, sizes);
  }
  if (lines.empty()) return "";
  return fmt::format("With {} the program ran\n{}", flags_file, lines);
}

std::string wrong_by_default_text(const tune::TuningResult& result, const std::string& program) {
  std::set<std::string> left = result.wrong_by_default;
  std::vector<std::string> repaired;
  if (result.best) repaired = result.best->repairs;
  for (const std::string& name : repaired) left.erase(name);
  const auto line = [&](std::string_view title, const auto& names, std::string_view so) {
    return fmt::format("{}: the compiler's code of {} is wrong, {}: hone verify {} --dispatch {}\n",
                       title, some_of(names), so, shell_word(program), shell_word(*names.begin()));
  };
  std::string text;
  if (!repaired.empty())
    text += line("REPAIRED", repaired, "the shipped kernels are correct, and results change");
  const double error = result.best ? result.best->repaired_error.value_or(0) : 0;
  if (error > kMostOfRounding)
    text += fmt::format(
        "STILL WRONG: the repaired program's results differ by {error:.2g} of their size (root "
        "mean "
        "square) from this machine's cores in f32, more than rounding explains. Find the dispatch: "
        "hone dispatches {0}; hone verify {0} --dispatch NAME\n",
        shell_word(program), fmt::arg("error", error));
  if (!left.empty())
    text +=
        line("WRONG BY DEFAULT", left, "and so is the program, with and without hone's kernels");
  return text;
}

nlohmann::json proof_json(const tune::TuningResult& result) {
  if (!result.candidate || !result.verdict) return nullptr;
  return tune::json_of(*result.verdict, *result.candidate);
}

nlohmann::json gains_json(const tune::TuningResult& result) {
  nlohmann::json list = nlohmann::json::array();
  for (const tune::ProgramGain& gain : result.gains) list.push_back(tune::json_of(gain));
  return list;
}

nlohmann::json difference_json(const measure::ArrayDifference& difference) {
  nlohmann::json by_ulp = nlohmann::json::object();
  for (const auto& [name, count] : measure::ulp_histogram(difference)) by_ulp[name] = count;
  return {{"elements", difference.elements},
          {"different", difference.different},
          {"largest_error", difference.largest},
          {"mean_error", difference.mean},
          {"largest_relative", difference.largest_relative},
          {"largest_ulp", difference.largest_ulp},
          {"by_ulp", by_ulp}};
}

nlohmann::json outputs_json(const tune::TuningResult& result) {
  nlohmann::json list = nlohmann::json::array();
  if (!result.candidate) return list;
  for (const measure::ArrayDifference& each : result.candidate->differences)
    list.push_back(difference_json(each));
  return list;
}

}  // namespace hone::output
