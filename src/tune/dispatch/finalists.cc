#include "tune/dispatch/finalists.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "base/ranges.h"
#include "base/stopwatch.h"
#include "plan/policy.h"
#include "trial/kernel_runner.h"
#include "trial/protocols.h"

namespace hone::tune {
namespace {

// Adds candidates by absolute time. `measured` is sorted by ratio and not empty.
void add_by_own_time(std::vector<store::Id>& finalists, std::vector<Measured> measured,
                     std::size_t most) {
  const double beside_best = measured.front().seconds / measured.front().ratio;
  std::erase_if(measured, [](const Measured& each) { return each.seconds == 0; });
  std::ranges::stable_sort(measured, {}, &Measured::seconds);
  if (measured.size() > plan::kFinalistsByOwnTime) measured.resize(plan::kFinalistsByOwnTime);
  std::size_t pushed_out = 0;
  for (const Measured& each : measured) {
    if (std::ranges::count(finalists, each.candidate) > 0) continue;
    if (std::abs(each.seconds / each.ratio / beside_best - 1) <= plan::kOtherDefault) continue;
    if (finalists.size() < most)
      finalists.push_back(each.candidate);
    else if (pushed_out < std::min(plan::kFinalistsDisplaced, finalists.size() - 1))
      finalists[finalists.size() - ++pushed_out] = each.candidate;
  }
}

class FinalistRace {
 public:
  FinalistRace(Context& context, DispatchBench& bench, std::vector<Finalist> finalists,
               double seconds, bool drops)
      : context_(context),
        bench_(bench),
        finalists_(std::move(finalists)),
        seconds_(seconds),
        drops_(drops),
        watch_(context.clock),
        runner_(context.runner) {}

  Result<FinalistRounds> run(const std::function<void(double)>& progress) {
    for (;;) {
      if (finalists_.empty()) return FinalistRounds();
      HONE_TRY(enter());
      HONE_ASSIGN(bool all_right, take_rounds(progress));
      std::optional<measure::Race::Winner> winner;
      if (all_right && drops_) {
        HONE_ASSIGN(winner, race_.winner(names()));
      }
      if (all_right) {
        HONE_ASSIGN(all_right, compare_launches(winner));
      }
      if (!all_right) continue;
      HONE_TRY(bench_.record_rounds(samples_, kernels_.size()));
      FinalistRounds result;
      for (const Finalist& each : finalists_) result.candidates.push_back(each.candidate);
      result.race = std::move(race_);
      result.winner = winner;
      return result;
    }
  }

 private:
  std::vector<std::string> names() const { return mapped(finalists_, &Finalist::name); }

  double left() const { return seconds_ - watch_.seconds(); }

  Status enter() {
    race_ = measure::Race(finalists_.size(), {.drops = drops_});
    kernels_.clear();
    std::vector<std::string> identities;
    for (std::size_t i = 0; i <= finalists_.size(); ++i) {
      HONE_ASSIGN(provider::Artifact artifact,
                  bench_.artifact(i < finalists_.size() ? finalists_[i].candidate
                                                        : bench_.default_candidate()));
      identities.push_back(provider::identity(artifact));
      kernels_.push_back({std::move(artifact)});
    }
    samples_ = measure::RoundSamples(std::move(identities));
    return {};
  }

  // False when a finalist failed and has left.
  Result<bool> take_rounds(const std::function<void(double)>& progress) {
    bool all_right = true;
    trial::RoundsRequest request;
    for (trial::RunnerKernel& kernel : kernels_) request.kernels.push_back(&kernel);
    request.reload = true;
    request.how.other_memory = true;
    request.how.protocol =
        trial::finalist_protocol(bench_.default_seconds(), context_.options.traits());
    request.how.seed = context_.options.seed + taken_;
    request.how.least_seconds = bench_.least_seconds();
    request.next = [&]() -> Result<trial::Columns> {
      HONE_ASSIGN(const bool is_over, end_where_time_is_over());
      if (is_over) return trial::Columns();
      progress(left());
      ++taken_;
      trial::Columns columns = race_.running();
      columns.push_back(finalists_.size());
      return columns;
    };
    request.take = [&](const trial::Columns& columns,
                       const measure::MeasureResult& measured) -> Result<bool> {
      HONE_ASSIGN(all_right, take_round(columns, measured));
      return all_right;
    };
    HONE_ASSIGN(const auto failed, trial::run_rounds(runner_, std::move(request)));
    if (!failed) return all_right;
    if (!failed->column)
      return failure("measuring the finalists failed: {}", failed->failure.message);
    if (*failed->column == finalists_.size())
      return failure("the compiler's own configuration: {}", failed->failure.message);
    return fail(*failed->column, failed->failure);
  }

  Result<bool> end_where_time_is_over() {
    if (race_.is_over()) return true;
    if (left() <= 0 && race_.rounds() >= race_.fewest_rounds()) {
      HONE_TRY(race_.end());
      return true;
    }
    if (drops_ && left() <= -(plan::kFinalistOverrun - 1) * seconds_) HONE_TRY(race_.narrow());
    return false;
  }

  // False when a finalist failed and has left.
  Result<bool> take_round(const trial::Columns& columns, const measure::MeasureResult& measured) {
    HONE_ASSIGN(bool all_right, check_times(columns, measured));
    for (std::size_t i = 0; i + 1 < columns.size() && all_right; ++i) {
      HONE_ASSIGN(all_right, compare(columns[i], 1, 0));
    }
    if (!all_right) return false;
    HONE_TRY(samples_.add(measured, columns));
    std::vector<double> row;
    for (const std::size_t column : columns) row.push_back(samples_.rounds().back()[column]);
    HONE_TRY(race_.add(row));
    return true;
  }

  // Records that the finalist failed on the device; it has left.
  Result<bool> fail(std::size_t column, const provider::Failure& failed) {
    HONE_TRY(bench_.fail(finalists_[column].candidate, failed));
    return leave(column, fmt::format("{}: {}", provider::name_of(failed.kind), failed.message));
  }

  // False when a finalist was faster than the device can be, and has left.
  Result<bool> check_times(const std::vector<std::size_t>& columns,
                           const measure::MeasureResult& measured) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      HONE_ASSIGN(const std::string impossible,
                  bench_.impossible_time(context_.runner, measured.handles[i]));
      if (impossible.empty()) continue;
      if (columns[i] == finalists_.size())
        return failure("the compiler's own configuration: {}", impossible);
      return fail(columns[i], {provider::FailureKind::kImpossibleTime, impossible});
    }
    return true;
  }

  // Compares the winner's launches, or those of all finalists if there is no winner. False when one
  // was wrong and has left.
  Result<bool> compare_launches(const std::optional<measure::Race::Winner>& winner) {
    std::vector<std::size_t> columns{winner ? winner->candidate : 0};
    if (!winner) {
      columns.resize(finalists_.size());
      std::iota(columns.begin(), columns.end(), std::size_t{0});
    }
    for (const std::size_t column : columns) {
      const store::Id candidate = finalists_[column].candidate;
      const int missing = measure::kComparedLaunches - compared_[candidate];
      if (missing > 0) {
        HONE_ASSIGN(const bool right,
                    compare(column, missing,
                            plan::kCompareShare * seconds_ / static_cast<double>(columns.size())));
        HONE_TRY(runner_.unload(kernels_[column]));
        if (!right) return false;
      }
      HONE_TRY(context_.store.log_event("compared",
                                        nlohmann::json{{"dispatch", bench_.dispatch_id()},
                                                       {"candidate", candidate},
                                                       {"launches", compared_[candidate]},
                                                       {"wanted", measure::kComparedLaunches}}
                                            .dump()));
      if (compared_[candidate] < measure::kComparedLaunches)
        context_.note(
            "{}: {} launches of the winner were compared, not {}: there was no time "
            "for more",
            bench_.name(), compared_[candidate], measure::kComparedLaunches);
    }
    return true;
  }

  // Launches the finalist again and compares. False when it was wrong or failed, and has left.
  Result<bool> compare(std::size_t column, int launches, double seconds) {
    HONE_ASSIGN(const trial::KernelResult<measure::Repeated> repeated,
                runner_.compare(kernels_[column], launches, seconds));
    if (!repeated) return fail(column, repeated.error());
    const store::Id candidate = finalists_[column].candidate;
    int& compared = compared_[candidate];
    const int before = compared;
    compared += repeated->compared;
    if (repeated->verification.right) return true;
    measure::Verification wrong = repeated->verification;
    wrong.message += fmt::format("; it was verified, and right in {} more launches",
                                 before + repeated->compared - 1);
    HONE_TRY(bench_.trials().record_verification(samples_.identity(column), wrong));
    return leave(column, wrong.message);
  }

  Result<bool> leave(std::size_t column, const std::string& why) {
    const std::string what =
        fmt::format("{}: finalist {} is out: {}", bench_.name(), finalists_[column].name, why);
    context_.observer.note(what);
    HONE_TRY(context_.store.log_event("finalist failed", what));
    finalists_.erase(finalists_.begin() + static_cast<std::ptrdiff_t>(column));
    return false;
  }

  Context& context_;
  DispatchBench& bench_;
  std::vector<Finalist> finalists_;
  double seconds_;
  bool drops_;
  Stopwatch watch_;
  trial::KernelRunner runner_;
  std::uint64_t taken_ = 0;                   // rounds
  std::vector<trial::RunnerKernel> kernels_;  // by column, the default's last
  std::map<store::Id, int> compared_;         // launches, by candidate
  measure::RoundSamples samples_{{}};
  measure::Race race_{1};
};

}  // namespace

double finalist_seconds(double seconds, bool one_batch_tells) {
  return std::clamp(
      seconds * plan::kFinalistShare,
      one_batch_tells ? plan::kFewestFinalistSecondsByBatches : plan::kFewestFinalistSeconds,
      plan::kMostFinalistSeconds);
}

double race_seconds(double seconds, bool one_batch_tells) {
  return one_batch_tells ? std::max(seconds, plan::kShortestRaceSeconds) : seconds;
}

std::vector<store::Id> choose_finalists(std::vector<Measured> measured, const FinalistTime& time) {
  std::ranges::sort(measured, {},
                    [](const Measured& each) { return std::pair(each.ratio, each.candidate); });
  if (!time.default_is_wrong)
    std::erase_if(measured, [](const Measured& each) { return each.ratio >= 1; });
  if (measured.empty()) return {};
  const double best = measured.front().ratio;
  const plan::FinalistReach& reach =
      time.one_batch_tells ? plan::kFinalistsByBatches : plan::kFinalistsBySamples;
  const double of_each = plan::kFewestFinalistRounds * reach.loading +
                         plan::kFewestFinalistLaunches * time.default_seconds * best;
  const auto most =
      static_cast<std::size_t>(std::clamp(time.seconds / of_each, reach.fewest, reach.most));
  std::vector<store::Id> finalists;
  for (const Measured& each : measured)
    if (finalists.size() < most &&
        (each.ratio <= best * reach.of_best || finalists.size() < plan::kBestFinalists))
      finalists.push_back(each.candidate);
  if (!time.one_batch_tells) add_by_own_time(finalists, std::move(measured), most);
  return finalists;
}

Result<FinalistRounds> race_finalists(Context& context, DispatchBench& bench,
                                      const std::vector<Finalist>& finalists, double seconds,
                                      const std::function<void(double)>& progress) {
  return FinalistRace(context, bench, finalists, seconds, /*drops=*/true).run(progress);
}

Result<FinalistRounds> measure_finalists(Context& context, DispatchBench& bench,
                                         const std::vector<store::Id>& finalists, double seconds,
                                         const std::function<void(double)>& progress) {
  std::vector<Finalist> named;
  for (const store::Id candidate : finalists)
    named.push_back({candidate, fmt::format("{}", candidate)});
  return FinalistRace(context, bench, std::move(named), seconds, /*drops=*/false).run(progress);
}

}  // namespace hone::tune
