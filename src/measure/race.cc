#include "measure/race.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "measure/comparison.h"

namespace hone::measure {

namespace {

// Fewer rounds than this give an unreliable median on a noisy machine.
constexpr std::size_t kFewestRounds = 8;

}  // namespace

Race::Race(std::size_t candidates, const RaceOptions& options)
    : candidates_(candidates), options_(options) {
  options_.ties.among = candidates;
  options_.ties.alpha /= static_cast<double>(kLooks);
  fewest_ = std::max(kFewestRounds, fewest_rounds_to_tell(candidates, options_.ties.alpha));
  next_look_ = fewest_;
  running_.resize(candidates);
  std::iota(running_.begin(), running_.end(), std::size_t{0});
  tied_ = compared_ = running_;
}

Status Race::add(const std::vector<double>& seconds) {
  if (seconds.size() != running_.size() + 1)
    return input_error("a round of {} finalists and the default has {} times", running_.size(),
                       seconds.size());
  for (const double each : seconds)
    if (!std::isfinite(each) || each <= 0)
      return input_error("a round has no valid time: {} s", each);
  std::vector<double> row(candidates_ + 1, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < running_.size(); ++i) row[running_[i]] = seconds[i];
  row.back() = seconds.back();
  rounds_.push_back(std::move(row));
  return rounds() < next_look_ ? Status() : look();
}

Status Race::end() {
  over_ = true;
  return rounds() > looked_ ? look() : Status();
}

Status Race::narrow() {
  if (rounds() == 0 || running_.size() == 1) return {};
  HONE_ASSIGN(const TieSet ties, find_ties(times_of_running(), options_.ties));
  running_ = {running_[ties.best()]};
  return {};
}

Status Race::look() {
  looked_ = rounds();
  std::size_t doubled = 2 * kFewestRounds;
  while (doubled <= looked_) doubled *= 2;
  next_look_ = doubled;
  HONE_ASSIGN(ties_, find_ties(times_of_running(), options_.ties));
  compared_ = running_;
  const auto is_out = [&](std::size_t candidate) {
    const auto place = std::ranges::find(compared_, candidate);
    return place != compared_.end() &&
           !ties_.contains(static_cast<std::size_t>(place - compared_.begin()));
  };
  std::erase_if(tied_, is_out);
  if (options_.drops) std::erase_if(running_, is_out);
  if (looked_ >= kMostRounds) over_ = true;
  if (over_ || !ties_.settled()) return {};
  const std::size_t best = compared_[ties_.best()];
  HONE_ASSIGN(const PairedComparison gain, compare_paired(default_times(best), times(best)));
  over_ = half_width(gain) <= options_.tight;
  return {};
}

std::vector<std::vector<double>> Race::times_of_running() const {
  std::vector<std::vector<double>> times;
  for (const std::vector<double>& row : rounds_) {
    std::vector<double>& round = times.emplace_back();
    for (const std::size_t candidate : running_) round.push_back(row[candidate]);
  }
  return times;
}

std::vector<double> Race::times_of(std::size_t column, std::size_t with) const {
  std::vector<double> times;
  for (const std::vector<double>& row : rounds_)
    if (!std::isnan(row[with])) times.push_back(row[column]);
  return times;
}

std::vector<double> Race::times(std::size_t candidate) const {
  return times_of(candidate, candidate);
}

std::vector<double> Race::default_times(std::size_t candidate) const {
  return times_of(candidates_, candidate);
}

Result<Race::Winner> Race::winner(std::span<const std::string> names) const {
  if (names.size() != candidates_)
    return input_error("{} finalists need as many names, got {}", candidates_, names.size());
  if (tied_.size() == 1) return Winner{tied_.front(), Won::kSeparated};
  // Candidates that narrow() took out were never compared.
  const bool all_compared = std::ranges::all_of(tied_, [&](std::size_t each) {
    return std::ranges::find(compared_, each) != compared_.end();
  });
  if (!all_compared || !ties_.settled()) return Winner{compared_[ties_.best()], Won::kByEstimate};
  const auto by_name = [&](std::size_t a, std::size_t b) { return names[a] < names[b]; };
  return Winner{*std::ranges::min_element(tied_, by_name), Won::kByName};
}

namespace {

// The logarithms of the times, by candidate.
Result<std::vector<std::vector<double>>> columns_of(std::span<const std::vector<double>> rounds) {
  if (rounds.empty() || rounds.front().empty())
    return input_error("a tie set needs at least one round of at least one candidate");
  std::vector<std::vector<double>> columns(rounds.front().size());
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    if (rounds[r].size() != columns.size())
      return input_error("round {} has {} candidates, round 0 has {}", r, rounds[r].size(),
                         columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!std::isfinite(rounds[r][c]) || rounds[r][c] <= 0)
        return input_error("round {} has no valid time of candidate {}: {} s", r, c, rounds[r][c]);
      columns[c].push_back(std::log(rounds[r][c]));
    }
  }
  return columns;
}

std::vector<double> differences(const std::vector<double>& one, const std::vector<double>& other,
                                double margin = 0) {
  std::vector<double> differences(one.size());
  for (std::size_t r = 0; r < one.size(); ++r) differences[r] = one[r] - other[r] - margin;
  return differences;
}

// Slowness of each candidate against the median of its rounds: an estimate that uses all rounds and
// does not depend on which candidate is taken as the base.
std::vector<double> centred_estimates(const std::vector<std::vector<double>>& columns) {
  std::vector<double> centre(columns.front().size()), row(columns.size());
  for (std::size_t r = 0; r < centre.size(); ++r) {
    for (std::size_t c = 0; c < columns.size(); ++c) row[c] = columns[c][r];
    centre[r] = median(row);
  }
  std::vector<double> estimates;
  for (const std::vector<double>& column : columns)
    estimates.push_back(signed_rank(differences(column, centre), 0.05).estimate);
  return estimates;
}

}  // namespace

bool TieSet::contains(std::size_t candidate) const {
  return std::ranges::binary_search(members_, candidate);
}

Result<TieSet> find_ties(std::span<const std::vector<double>> rounds, const TieOptions& options) {
  HONE_ASSIGN(const auto columns, columns_of(rounds));
  const std::size_t candidates = columns.size();
  const std::size_t among = options.among > 0 ? options.among : candidates;
  const double alpha = options.alpha / static_cast<double>(std::max<std::size_t>(2, among) - 1);
  const double margin = std::log1p(options.threshold);
  const std::vector<double> estimates = centred_estimates(columns);

  TieSet ties;
  for (std::size_t c = 0; c < candidates; ++c) {
    bool slower = false;
    for (std::size_t other = 0; other < candidates && !slower; ++other)
      slower = other != c && p_positive(differences(columns[c], columns[other], margin)) <= alpha;
    if (!slower) ties.members_.push_back(c);
  }
  const auto estimate = [&](std::size_t candidate) { return estimates[candidate]; };
  if (ties.members_.empty()) {
    // Tests on the same rounds are not transitive; in a cycle of "slower" the estimate decides.
    const auto fastest = std::ranges::min_element(estimates);
    ties.members_.push_back(static_cast<std::size_t>(fastest - estimates.begin()));
  }
  ties.best_ = *std::ranges::min_element(ties.members_, {}, estimate);

  bool within_band = true;
  for (std::size_t c = 0; c < candidates; ++c) {
    if (c == ties.best_) {
      ties.ratios_.push_back(1);
      ties.intervals_.push_back({1, 1});
      continue;
    }
    const SignedRank test = signed_rank(differences(columns[c], columns[ties.best_]), alpha);
    ties.ratios_.push_back(std::exp(test.estimate));
    ties.intervals_.push_back({std::exp(test.interval.low), std::exp(test.interval.high)});
    // Tests one side only: a member must not be slower than the band.
    const std::vector<double> below_band =
        differences(columns[ties.best_], columns[c], -std::log1p(options.band));
    if (ties.contains(c) && p_positive(below_band) > alpha) within_band = false;
  }
  ties.settled_ = ties.separated() || within_band;
  return ties;
}

std::size_t fewest_rounds_to_tell(std::size_t candidates, double alpha) {
  const double each = alpha / static_cast<double>(std::max<std::size_t>(2, candidates) - 1);
  return static_cast<std::size_t>(std::ceil(-std::log2(each)));
}

}  // namespace hone::measure
