#include "tune/dispatch/dispatch_search.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "measure/statistics.h"
#include "search/strategy.h"
#include "space/configuration.h"

namespace hone::tune {
namespace {

// Assumed seconds per candidate before any is known: on a two-core CPU, and beside 16 cores that
// compile for a GPU (docs/studies/compile-time.md).
constexpr double kUsualSeconds = 0.5;
constexpr double kUsualSecondsBesideCompiles = 0.05;

}  // namespace

Result<DispatchSearch> DispatchSearch::begin(Context& context, const provider::Provider& provider,
                                             const problem::Dispatch& dispatch,
                                             const space::Space& space, double seconds) {
  const Options& options = context.options;
  const std::size_t most = options.candidates.value_or(SIZE_MAX);
  DispatchSearch search(context, dispatch, space);
  if (!options.configurations.empty()) {
    search.note_.strategy = "given";
    search.note_.planned = std::min(most, options.configurations.size());
    return search;
  }
  search.note_.planned =
      static_cast<std::size_t>(std::min<std::uint64_t>(most, space.count().value));
  search.note_.strategy = options.strategy;
  search::Prior prior = provider.prior(dispatch, space);
  if (options.strategy == "auto") search.choose_strategy(seconds, prior != nullptr);
  HONE_ASSIGN(search.strategy_,
              search::make_strategy(search.note_.strategy, space, options.seed, std::move(prior)));
  return search;
}

void DispatchSearch::choose_strategy(double seconds, bool has_prior) {
  const Options& options = context_.options;
  const bool compiles_ahead = !options.traits().compiling_disturbs;
  const double each = compiles_ahead ? kUsualSecondsBesideCompiles : kUsualSeconds;
  const auto affordable = static_cast<std::size_t>(std::max(0.0, seconds) / each);
  const search::StrategyChoice choice = search::choose_strategy(
      {space_.count(), std::min(note_.planned, affordable), has_prior, compiles_ahead});
  note_.strategy = choice.strategy;
  note_.why = choice.why;
  stop_rule_.emplace(context_.state->noise);
  context_.note("{}: strategy {}: {}", dispatch_.name, note_.strategy, note_.why);
}

Result<std::vector<space::Configuration>> DispatchSearch::propose(std::size_t count) {
  std::vector<space::Configuration> proposals;
  if (strategy_ && !noise_.empty()) strategy_->note_noise(measure::median(noise_));
  if (strategy_) proposals = strategy_->ask(count);
  if (stop_rule_ && !proposals.empty() &&
      stop_rule_->stops(note_.tried, strategy_->expected_gain())) {
    note_.stopped = stop_rule_->reason();
    context_.note("{}: stopped after {} configurations: {}", dispatch_.name, note_.tried,
                  note_.stopped);
    return std::vector<space::Configuration>();
  }
  const std::vector<std::string>& given = context_.options.configurations;
  for (std::size_t i = note_.tried; i < given.size() && proposals.size() < count; ++i) {
    HONE_ASSIGN(space::Configuration configuration, space::parse_configuration(space_, given[i]));
    proposals.push_back(std::move(configuration));
  }
  note_.tried += proposals.size();
  return proposals;
}

void DispatchSearch::tell(const space::Configuration& configuration, const search::Outcome& outcome,
                          std::optional<double> noise) {
  if (noise) noise_.push_back(*noise);
  if (strategy_) strategy_->tell(configuration, outcome);
}

bool DispatchSearch::learns() const {
  return strategy_ && search::learns(note_.strategy);
}

double seconds_left(const DispatchTime& time) {
  double searching = std::max(0.0, time.searching);
  if (time.per_candidate > 0) searching = std::min(searching, time.per_candidate * time.candidates);
  return searching + std::max(0.0, time.comparing) + std::max(0.0, time.after);
}

void to_json(nlohmann::json& json, const SearchNote& note) {
  json = {{"strategy", note.strategy},
          {"why", note.why},
          {"tried", note.tried},
          {"planned", note.planned},
          {"stopped", note.stopped}};
}

}  // namespace hone::tune
