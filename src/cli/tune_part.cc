// hone tune --shard: says what a part of a tuning did, and where its results are.
#include <algorithm>

#include "base/text.h"
#include "cli/tune_options.h"
#include "output/json_text.h"
#include "tune/dispatch/own_shard.h"

namespace hone::cli {

Status check_part(const TuneOptions& options) {
  if (options.shard.empty()) return {};
  HONE_ASSIGN(const plan::Part part, plan::read_part(options.shard));
  const bool has_phases = part.is_shard();
  for (const auto& [is_given, name] :
       {std::pair(options.dry_run, "--dry-run"),
        std::pair(!has_phases && options.compile_only, "--compile-only"),
        std::pair(!has_phases && options.measure_only, "--measure-only")})
    if (is_given)
      return input_error("--shard {} and {} exclude each other: leave one out", to_string(part),
                         name);
  return {};
}

CommandResult print_part(const SessionOptions& options, const tune::Context& context,
                         const std::vector<tune::NotTuned>& not_tuned) {
  const plan::PartProgress& progress = context.state->progress;
  const std::string part = to_string(options.tuning.part);
  const std::size_t all = progress.dispatches.size();
  const auto done = std::ranges::count_if(progress.dispatches, &plan::PartDispatch::is_done);
  const auto faster = std::ranges::count_if(
      progress.dispatches, [](const plan::PartDispatch& each) { return each.speedup > 1; });
  if (options.json) {
    nlohmann::json document = progress;
    document["part"] = part;
    document["store"] = options.store;
    document["not_tuned"] = nlohmann::json::array();
    for (const tune::NotTuned& each : not_tuned)
      document["not_tuned"].push_back({{"dispatch", each.dispatch}, {"reason", each.reason}});
    output::print_document(std::move(document));
    return 0;
  }
  if (options.compile_only)
    fmt::print("shard {}: {} of {} dispatches compiled\n", part, done, all);
  else if (options.tuning.part.is_shard())
    fmt::print("shard {}: {} of {} dispatches searched, {} faster than their default\n", part, done,
               all, faster);
  else
    fmt::print("flags: chosen for all shards\n");
  if (options.verbose)
    for (const tune::NotTuned& each : not_tuned) fmt::print("{}: {}\n", each.dispatch, each.reason);
  if (options.compile_only) {
    fmt::print(
        "code: {}; next, where the device is: the same command with --measure-only instead of "
        "--compile-only\n",
        options.store);
    return 0;
  }
  fmt::print(
      "results: {}; hone store merge ALL.db {} collects them, --shard proof ends the tuning\n",
      options.store, shell_word(options.store));
  return 0;
}

}  // namespace hone::cli
