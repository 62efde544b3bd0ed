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

}  // namespace hone::measure
