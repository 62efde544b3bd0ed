// Parts of a run that several processes share: shards of its dispatches, the flag search before
// them, the proof after them. Every process computes the same split by itself: it depends on
// estimates only, never on measurements, which differ between processes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"

namespace hone::plan {

// Part of a run that one process does.
struct Part {
  enum class Kind {
    kWhole,  // all of it
    kFlags,  // the flag search alone; its choice is in the store, and shards tune under it
    kShard,  // some of the dispatches, without a proof
    kProof,  // the proof of what the store has; nothing is searched
  };
  Kind kind = Kind::kWhole;
  std::size_t number = 0, of = 0;  // of a shard, 1 to `of`

  bool operator==(const Part&) const = default;
  bool is_whole() const { return kind == Kind::kWhole; }
  bool is_shard() const { return kind == Kind::kShard; }
  bool searches() const { return kind == Kind::kWhole || kind == Kind::kShard; }
  // Whether the task goes on after this part: its run is no finished one.
  bool leaves_more() const { return kind == Kind::kFlags || kind == Kind::kShard; }
};

// Parses "3/16", "flags" or "proof". An input error for anything else.
Result<Part> read_part(std::string_view text);
std::string to_string(const Part& part);  // the same text; "" for the whole

// Work that is not divided: a dispatch, or dispatches that share their results.
struct ShardItem {
  std::string key;     // equal keys stay together; also the order among equal costs
  double seconds = 0;  // expected
};

// Divides the items: returns the number (from 0) of each item's shard. The longest work goes first
// to the shard with the least so far (Graham 1969: at most 4/3 of the best makespan). Depends on
// keys and seconds only, not on the order of the items. `shards`: at least 1.
std::vector<std::size_t> shards_of(const std::vector<ShardItem>& items, std::size_t shards);

// Progress of a part, as a process writes it beside its store (progress_file).
struct PartDispatch {
  std::string name = {};
  double expected_seconds = 0;
  double seconds = 0;          // that it took; 0: it waits
  std::size_t candidates = 0;  // that were tried
  double speedup = 0;          // over its default; 0: not known, or the default is kept
  std::string failure = {};    // why it could not be tuned

  bool operator==(const PartDispatch&) const = default;
  bool is_done() const { return seconds > 0 || !failure.empty(); }
  static void fields(auto& each, auto&& field) {
    field("name", each.name);
    field("expected_seconds", each.expected_seconds);
    field("seconds", each.seconds);
    field("candidates", each.candidates);
    field("speedup", each.speedup);
    field("failure", each.failure);
  }
};
struct PartProgress {
  std::string part = {};    // to_string(Part)
  std::string split = {};   // hash of the whole split: equal in all shards of one tuning
  std::string device = {};  // device_row's identity: shards of other devices do not mix
  std::vector<PartDispatch> dispatches = {};

  bool operator==(const PartProgress&) const = default;
  static void fields(auto& progress, auto&& field) {
    field("part", progress.part);
    field("split", progress.split);
    field("device", progress.device);
    field("dispatches", progress.dispatches);
  }
};
std::filesystem::path progress_file(const std::filesystem::path& store);

}  // namespace hone::plan
