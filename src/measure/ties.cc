#include "measure/ties.h"

#include <algorithm>
#include <cmath>

#include "measure/comparison.h"

namespace hone::measure {
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

// Tests whether `one` is slower than `other` by more than `margin`, all logarithms.
SignedRank slower_than(const std::vector<double>& one, const std::vector<double>& other,
                       double alpha, double margin = 0) {
  std::vector<double> differences(one.size());
  for (std::size_t r = 0; r < one.size(); ++r) differences[r] = one[r] - other[r] - margin;
  return signed_rank(block_medians(differences, choose_block(differences)), alpha);
}

// How slow a candidate is against the median of its rounds: an estimate that uses all rounds and
// does not depend on which candidate is taken as the base.
std::vector<double> centred_estimates(const std::vector<std::vector<double>>& columns) {
  std::vector<double> centre(columns.front().size()), row(columns.size());
  for (std::size_t r = 0; r < centre.size(); ++r) {
    for (std::size_t c = 0; c < columns.size(); ++c) row[c] = columns[c][r];
    centre[r] = median(row);
  }
  std::vector<double> estimates;
  for (const std::vector<double>& column : columns)
    estimates.push_back(slower_than(column, centre, 0.05).estimate);
  return estimates;
}

}  // namespace

bool TieSet::contains(std::size_t candidate) const {
  return std::binary_search(members_.begin(), members_.end(), candidate);
}

Result<TieSet> find_ties(std::span<const std::vector<double>> rounds, const TieOptions& options) {
  HONE_ASSIGN(const auto columns, columns_of(rounds));
  const std::size_t candidates = columns.size();
  const double alpha =
      options.alpha / static_cast<double>(std::max<std::size_t>(1, candidates - 1));
  const double margin = std::log1p(options.threshold);
  const std::vector<double> estimates = centred_estimates(columns);

  TieSet ties;
  for (std::size_t c = 0; c < candidates; ++c) {
    bool slower = false;
    for (std::size_t other = 0; other < candidates && !slower; ++other)
      slower =
          other != c && slower_than(columns[c], columns[other], alpha, margin).p_positive <= alpha;
    if (!slower) ties.members_.push_back(c);
  }
  const auto faster = [&](std::size_t a, std::size_t b) { return estimates[a] < estimates[b]; };
  if (ties.members_.empty()) {
    // Tests on the same rounds are not transitive; a ring of "slower" leaves the estimate.
    const auto fastest = std::min_element(estimates.begin(), estimates.end());
    ties.members_.push_back(static_cast<std::size_t>(fastest - estimates.begin()));
  }
  ties.best_ = *std::min_element(ties.members_.begin(), ties.members_.end(), faster);

  bool within_band = true;
  for (std::size_t c = 0; c < candidates; ++c) {
    if (c == ties.best_) {
      ties.ratios_.push_back(1);
      ties.intervals_.push_back({1, 1});
      continue;
    }
    const SignedRank test = slower_than(columns[c], columns[ties.best_], alpha);
    ties.ratios_.push_back(std::exp(test.estimate));
    ties.intervals_.push_back({std::exp(test.interval.low), std::exp(test.interval.high)});
    if (ties.contains(c) && !(ties.intervals_.back().high <= 1 + options.band)) within_band = false;
  }
  ties.settled_ = ties.separated() || within_band;
  return ties;
}

Result<std::size_t> pick_winner(const TieSet& ties, std::span<const std::string> keys) {
  if (keys.size() != ties.ratios().size())
    return input_error("{} candidates need as many keys, got {}", ties.ratios().size(),
                       keys.size());
  return *std::min_element(ties.members().begin(), ties.members().end(),
                           [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
}

}  // namespace hone::measure
