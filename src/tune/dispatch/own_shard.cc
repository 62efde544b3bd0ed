#include "tune/dispatch/own_shard.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/file.h"
#include "base/hash.h"
#include "plan/policy.h"

namespace hone::tune {
namespace {

// Least seconds in the progress of a dispatch that is done: one from an earlier run took none.
constexpr double kTaken = 1e-3;

Status write_progress(const Context& context) {
  return write_file_atomically(plan::progress_file(context.store.path()),
                               nlohmann::json(context.state->progress).dump(1) + "\n");
}

Result<std::string> name_of_device(Context& context) {
  HONE_ASSIGN(const store::DeviceRow row, context.store.device(context.device));
  return fmt::format("{} [{}]", row.name, content_hash(row.driver + '\n' + row.protocol));
}

// Seconds that a run of the whole budget would spend on each, by its estimate.
std::vector<double> expected_seconds(const Options& options,
                                     const std::vector<const problem::Dispatch*>& dispatches,
                                     const std::vector<plan::Weight>& weights) {
  plan::WorkPlan plan(!options.dispatches.empty(),
                      options.traits().compiling_disturbs ? 0 : plan::kFirstTriesShare);
  for (std::size_t i = 0; i < dispatches.size(); ++i) plan.add({dispatches[i]->name, weights[i]});
  plan.deal(options.budget_seconds);
  std::vector<double> seconds;
  for (std::size_t i = 0; i < dispatches.size(); ++i)
    seconds.push_back(plan.items()[i].state == plan::State::kWaiting
                          ? plan.seconds_for(i, options.budget_seconds)
                          : 0);
  return seconds;
}

}  // namespace

Result<OwnShard> own_shard(Context& context,
                           const std::vector<const problem::Dispatch*>& dispatches,
                           const std::vector<plan::Weight>& weights) {
  const Options& options = context.options;
  const std::vector<double> seconds = expected_seconds(options, dispatches, weights);
  std::vector<plan::ShardItem> items;
  std::string split = to_string(options.part);
  split.erase(0, split.find('/'));
  for (std::size_t i = 0; i < dispatches.size(); ++i) {
    items.push_back({problem::fingerprint(*dispatches[i]), seconds[i]});
    split += fmt::format("\n{} {} {:.3f}", items.back().key, dispatches[i]->name, seconds[i]);
  }
  const std::vector<std::size_t> shards = plan::shards_of(items, options.part.of);
  plan::PartProgress& progress = context.state->progress;
  progress.part = to_string(options.part);
  progress.split = content_hash(progress.split + split);
  if (!options.compiles_only) {
    HONE_ASSIGN(progress.device, name_of_device(context));
  }
  OwnShard own;
  std::vector<double> loads(options.part.of);
  for (std::size_t i = 0; i < dispatches.size(); ++i) {
    loads[shards[i]] += seconds[i];
    if (shards[i] + 1 != options.part.number) continue;
    own.places.push_back(i);
    progress.dispatches.push_back({.name = dispatches[i]->name, .expected_seconds = seconds[i]});
  }
  const double all = std::accumulate(loads.begin(), loads.end(), 0.0);
  if (all > 0) own.share = *std::ranges::max_element(loads) / all;
  HONE_TRY(write_progress(context));
  return own;
}

Status tell_done(Context& context, const problem::Dispatch& dispatch, const TunedDispatch* tuned,
                 const std::string& failure) {
  if (!context.options.part.is_shard()) return {};
  std::vector<plan::PartDispatch>& all = context.state->progress.dispatches;
  const auto found = std::ranges::find_if(all, [&](const plan::PartDispatch& each) {
    return each.name == dispatch.name && !each.is_done();
  });
  if (found == all.end()) return {};
  found->failure = failure;
  if (tuned != nullptr) {
    found->seconds = std::max(kTaken, tuned->seconds);
    found->candidates = tuned->search.tried;
    if (tuned->payload) found->speedup = tuned->selection.speedup.value_or(0);
  }
  return write_progress(context);
}

}  // namespace hone::tune
