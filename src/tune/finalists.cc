#include "tune/finalists.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/stopwatch.h"
#include "measure/arithmetic_bound.h"
#include "measure/statistics.h"
#include "tune/records.h"

namespace hone::tune {
namespace {

// Three samples of a short kernel bridge an interruption; a long one averages over it.
constexpr double kLongKernelSeconds = 0.02;

// A GPU that has just run the other finalists is warm.
constexpr double kGpuWarmUpSeconds = 0.004;

// The fewest rounds may take this many times the time there is.
constexpr double kOverrun = 2;
// Of the finalists' time, for comparing the winner's launches.
constexpr double kCompareShare = 0.5;

class FinalistRace {
 public:
  FinalistRace(Context& context, DispatchBench& bench, std::vector<Finalist> finalists,
               double seconds, bool drops)
      : context_(context),
        bench_(bench),
        finalists_(std::move(finalists)),
        seconds_(seconds),
        drops_(drops),
        watch_(context.clock) {}

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
        HONE_ASSIGN(all_right, once_more([&] { return compare_launches(winner); }));
      }
      if (!all_right) continue;
      HONE_TRY(samples_.record(bench_, artifacts_.size()));
      FinalistRounds result;
      for (const Finalist& each : finalists_) result.candidates.push_back(each.candidate);
      result.race = std::move(race_);
      result.winner = winner;
      return result;
    }
  }

 private:
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Finalist& each : finalists_) names.push_back(each.name);
    return names;
  }

  double left() const { return seconds_ - watch_.seconds(); }

  Status enter() {
    race_ = measure::Race(finalists_.size(), {.drops = drops_});
    artifacts_.clear();
    std::vector<std::string> identities;
    for (std::size_t i = 0; i <= finalists_.size(); ++i) {
      HONE_ASSIGN(provider::Artifact artifact,
                  bench_.artifact(i < finalists_.size() ? finalists_[i].candidate
                                                        : bench_.default_candidate()));
      identities.push_back(provider::identity(artifact));
      artifacts_.push_back(std::move(artifact));
    }
    samples_ = FinalistSamples(std::move(identities));
    return {};
  }

  // False when a finalist failed and has left.
  Result<bool> take_rounds(const std::function<void(double)>& progress) {
    while (!race_.is_over()) {
      if (left() <= 0 && race_.rounds() >= race_.fewest_rounds()) {
        HONE_TRY(race_.end());
        break;
      }
      if (drops_ && left() <= -(kOverrun - 1) * seconds_) HONE_TRY(race_.narrow());
      progress(left());
      HONE_ASSIGN(const bool all_right, once_more([this] { return take_round(); }));
      if (!all_right) return false;
    }
    return true;
  }

  // A runner that died by accident is another one the second time.
  template <class Step>
  static Result<bool> once_more(const Step& step) {
    Result<bool> done = step();
    if (!done && done.error().kind == ErrorKind::kFailure) done = step();
    return done;
  }

  Result<bool> take_round() {
    std::vector<std::size_t> columns = race_.running();
    columns.push_back(finalists_.size());
    measure::MeasureRequest request;
    for (const std::size_t column : columns) {
      HONE_ASSIGN(const int handle, load(column));
      request.handles.push_back(handle);
    }
    request.other_memory = true;
    request.protocol = finalist_protocol(bench_.default_seconds());
    if (context_.options.cuda) request.protocol.max_warm_up_seconds = kGpuWarmUpSeconds;
    request.seed = context_.options.seed + taken_++;
    request.least_seconds = bench_.least_seconds();
    HONE_ASSIGN(const Ran<measure::MeasureResult> measured, context_.runner.measure(request));
    if (!measured) return failure("measuring the finalists failed: {}", measured.error().message);
    HONE_ASSIGN(const bool possible, check_times(columns, *measured));
    bool all_right = possible;
    for (std::size_t i = 0; i + 1 < columns.size() && all_right; ++i) {
      HONE_ASSIGN(all_right, compare(columns[i], request.handles[i], 1, 0));
    }
    for (const int handle : request.handles) HONE_TRY(context_.runner.unload(handle));
    if (!all_right) return false;
    HONE_TRY(samples_.add(*measured, columns));
    std::vector<double> row;
    for (const std::size_t column : columns) row.push_back(samples_.rounds().back()[column]);
    HONE_TRY(race_.add(row));
    return true;
  }

  // False when a finalist was faster than can be and has left.
  Result<bool> check_times(const std::vector<std::size_t>& columns,
                           const measure::MeasureResult& measured) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      HONE_ASSIGN(const std::string impossible,
                  bench_.impossible_time(context_.runner, measured.handles[i]));
      if (impossible.empty()) continue;
      if (columns[i] == finalists_.size())
        return failure("the compiler's own configuration: {}", impossible);
      HONE_TRY(bench_.fail(finalists_[columns[i]].candidate,
                           {provider::FailureKind::kImpossibleTime, impossible}));
      return leave(columns[i], impossible);
    }
    return true;
  }

  Result<int> load(std::size_t column) {
    HONE_ASSIGN(const Ran<int> handle, context_.runner.load(artifacts_[column]));
    if (!handle) return failure("a finalist no longer loads: {}", handle.error().message);
    return *handle;
  }

  // Of the winner, or of all where there is none. False when one was wrong and has left.
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
        HONE_ASSIGN(const int handle, load(column));
        HONE_ASSIGN(const bool right,
                    compare(column, handle, missing,
                            kCompareShare * seconds_ / static_cast<double>(columns.size())));
        HONE_TRY(context_.runner.unload(handle));
        if (!right) return false;
      }
      HONE_TRY(context_.store.log_event("compared",
                                        nlohmann::json{{"dispatch", bench_.dispatch_id()},
                                                       {"candidate", candidate},
                                                       {"launches", compared_[candidate]},
                                                       {"wanted", measure::kComparedLaunches}}
                                            .dump()));
      if (compared_[candidate] < measure::kComparedLaunches)
        context_.observer.note(
            fmt::format("{}: {} launches of the winner were compared, not {}: there was no time "
                        "for more",
                        bench_.name(), compared_[candidate], measure::kComparedLaunches));
    }
    return true;
  }

  // Launches it again, and compares. False when it was wrong and has left.
  Result<bool> compare(std::size_t column, int handle, int launches, double seconds) {
    HONE_ASSIGN(
        const Ran<measure::Repeated> repeated,
        context_.runner.repeat({.handle = handle, .launches = launches, .max_seconds = seconds}));
    if (!repeated)
      return failure("a finalist failed when it was compared again: {}", repeated.error().message);
    const store::Id candidate = finalists_[column].candidate;
    int& compared = compared_[candidate];
    const int before = compared;
    compared += repeated->compared;
    if (repeated->verification.right) return true;
    measure::Verification wrong = repeated->verification;
    wrong.message += fmt::format("; it was verified, and right in {} more launches",
                                 before + repeated->compared - 1);
    HONE_TRY(bench_.record_verification(provider::identity(artifacts_[column]), wrong));
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
  std::uint64_t taken_ = 0;                    // rounds
  std::vector<provider::Artifact> artifacts_;  // by column, the default's last
  std::map<store::Id, int> compared_;          // launches, by candidate
  FinalistSamples samples_{{}};
  measure::Race race_{1};
};

}  // namespace

measure::Protocol finalist_protocol(double seconds_per_launch) {
  measure::Protocol protocol;
  protocol.warm_up_seconds = 0.004;
  protocol.max_warm_up_seconds = 0.02;
  protocol.min_samples = seconds_per_launch > kLongKernelSeconds ? 1 : 3;
  protocol.max_samples = protocol.min_samples;
  protocol.early_stop_factor = 0;
  return protocol;
}

nlohmann::json finalist_round_constants(bool gpu) {
  const measure::RaceOptions race;
  nlohmann::json constants{{"fewest_of_four", measure::Race(4).fewest_rounds()},
                           {"most", measure::Race::kMostRounds},
                           {"looks", measure::Race::kLooks},
                           {"alpha", race.ties.alpha},
                           {"threshold", race.ties.threshold},
                           {"band", race.ties.band},
                           {"tight", race.tight}};
  if (gpu) constants["max_warm_up_seconds"] = kGpuWarmUpSeconds;
  return constants;
}

FinalistSamples::FinalistSamples(std::vector<std::string> identities)
    : identities_(std::move(identities)), samples_(identities_.size()) {}

Status FinalistSamples::add(const measure::MeasureResult& round) {
  std::vector<std::size_t> all(samples_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return add(round, all);
}

Status FinalistSamples::add(const measure::MeasureResult& round,
                            const std::vector<std::size_t>& columns) {
  std::vector<double> row(samples_.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const measure::HandleSamples& taken = round.handles[i];
    if (taken.seconds.empty()) return failure("a finalist gave no sample");
    row[columns[i]] = measure::median(taken.seconds);
    measure::HandleSamples& all = samples_[columns[i]];
    all.launches_per_sample = taken.launches_per_sample;
    all.disturbed += taken.disturbed;
    all.kept_disturbed = all.kept_disturbed || taken.kept_disturbed;
    all.seconds.insert(all.seconds.end(), taken.seconds.begin(), taken.seconds.end());
    all.stop = taken.stop;
  }
  rounds_.push_back(std::move(row));
  if (rounds_.size() == 1) {
    machine_.before = round.before;
    machine_.after = round.after;
  } else {
    device::MachineState after = round.after;
    device::add_gpus(after, machine_.after);
    machine_.after = std::move(after);
  }
  return {};
}

Status FinalistSamples::record(DispatchBench& bench, std::size_t columns) const {
  for (std::size_t c = 0; c < columns; ++c) {
    std::vector<double> ratios;
    for (const std::vector<double>& row : rounds_)
      if (!std::isnan(row[c])) ratios.push_back(row[c] / row.back());
    HONE_TRY(bench.record_samples(identities_[c], samples_[c], store::Phase::kFinalist,
                                  measure::median(ratios), machine_));
  }
  return {};
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
