#include "plan/shards.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <utility>

namespace hone::plan {
namespace {

// Nobody has more tasks; a larger number is a slip.
constexpr std::size_t kMostShards = 100'000;

bool read_number(std::string_view text, std::size_t& number) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && code == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<Part> read_part(std::string_view text) {
  if (text == "flags") return Part{Part::Kind::kFlags};
  if (text == "proof") return Part{Part::Kind::kProof};
  const std::size_t slash = text.find('/');
  Part part{Part::Kind::kShard};
  if (slash != std::string_view::npos && read_number(text.substr(0, slash), part.number) &&
      read_number(text.substr(slash + 1), part.of) && part.number >= 1 && part.number <= part.of &&
      part.of <= kMostShards)
    return part;
  return input_error(
      "--shard '{}' is no part of a tuning: write 3/16 for the third of 16 shards (1 to {}), "
      "'flags' before them and 'proof' after them",
      text, kMostShards);
}

std::string to_string(const Part& part) {
  switch (part.kind) {
    case Part::Kind::kWhole:
      break;
    case Part::Kind::kFlags:
      return "flags";
    case Part::Kind::kShard:
      return fmt::format("{}/{}", part.number, part.of);
    case Part::Kind::kProof:
      return "proof";
  }
  return "";
}

std::filesystem::path progress_file(const std::filesystem::path& store) {
  return store.string() + ".part.json";
}

std::vector<std::size_t> shards_of(const std::vector<ShardItem>& items, std::size_t shards) {
  std::map<std::string, double> groups;
  for (const ShardItem& item : items) groups[item.key] += item.seconds;
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [key, seconds] : groups) order.emplace_back(seconds, key);
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  // Shards by what they have so far, the first of equals.
  std::vector<std::pair<double, std::size_t>> loads;
  for (std::size_t i = 0; i < shards; ++i) loads.emplace_back(0, i);
  std::map<std::string, std::size_t> chosen;
  for (const auto& [seconds, key] : order) {
    std::ranges::pop_heap(loads, std::greater());
    auto& [load, shard] = loads.back();
    load += seconds;
    chosen[key] = shard;
    std::ranges::push_heap(loads, std::greater());
  }
  std::vector<std::size_t> result;
  result.reserve(items.size());
  for (const ShardItem& item : items) result.push_back(chosen.at(item.key));
  return result;
}

}  // namespace hone::plan
