#include "device/place.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_fields.h"

namespace hone::device {
namespace {

constexpr auto kTraitsFields = [](auto& traits, auto&& field) {
  field("own_memory", traits.own_memory);
  field("compiling_disturbs", traits.compiling_disturbs);
  field("one_batch_tells", traits.one_batch_tells);
  field("assembles_code", traits.assembles_code);
  field("runs_on_host", traits.runs_on_host);
  field("matrix_units", traits.matrix_units);
};

constexpr auto kFactsFields = [](auto& facts, auto&& field) {
  field("name", facts.name);
  field("driver", facts.driver);
  field("target", facts.target);
  field("description", facts.description);
  field("id", facts.id);
  field("last_level_cache_bytes", facts.last_level_cache_bytes);
  field("memory_bytes", facts.memory_bytes);
  field("workgroup_memory_bytes", facts.workgroup_memory_bytes);
  field("units", facts.units);
  field("rough_flops", facts.rough_flops);
  field("rough_bytes", facts.rough_bytes);
};

}  // namespace

std::string name_of(const Address& address) {
  return address.index ? fmt::format("{}:{}", address.kind, *address.index) : address.kind;
}

Address host_of(const Address& address) {
  return {.cores = address.cores};
}

tl::unexpected<Error> no_such_device(std::string_view kind, int index,
                                     const std::vector<std::pair<int, std::string>>& present) {
  std::string list;
  for (const auto& [number, name] : present)
    list += fmt::format("{}{}:{} ({})", list.empty() ? "" : ", ", kind, number, name);
  return input_error("device {}:{} is not there: this machine has {}", kind, index,
                     list.empty() ? "no GPU" : list);
}

Result<Place> find_place(const std::vector<Place>& places, std::string_view kind, int index) {
  const auto found = std::ranges::find(places, std::optional(index),
                                       [](const Place& place) { return place.address.index; });
  if (found != places.end()) return *found;
  std::vector<std::pair<int, std::string>> present;
  for (const Place& place : places)
    present.emplace_back(place.address.index.value_or(0), place.facts.name);
  return no_such_device(kind, index, present);
}

constexpr auto kAddressFields = [](auto& address, auto&& field) {
  field("kind", address.kind);
  field("cores", address.cores);
  field("index", address.index);
};

void to_json(nlohmann::json& json, const Address& address) {
  write_fields(json, address, kAddressFields);
}

void from_json(const nlohmann::json& json, Address& address) {
  read_fields(json, address, kAddressFields);
}

// The facts' own JSON texts are part of theirs.
void to_json(nlohmann::json& json, const Place& place) {
  json = {{"address", place.address}};
  write_fields(json["traits"], place.traits, kTraitsFields);
  nlohmann::json& facts = json["facts"];
  write_fields(facts, place.facts, kFactsFields);
  facts["identity"] = nlohmann::json::parse(place.facts.identity);
  facts["details"] = nlohmann::json::parse(place.facts.details);
}

void from_json(const nlohmann::json& json, Place& place) {
  json.at("address").get_to(place.address);
  read_fields(json.at("traits"), place.traits, kTraitsFields);
  const nlohmann::json& facts = json.at("facts");
  read_fields(facts, place.facts, kFactsFields);
  place.facts.identity = facts.at("identity").dump();
  place.facts.details = facts.at("details").dump();
}

}  // namespace hone::device
