#include "device/place.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/exact_json.h"

namespace hone::device {
namespace {

constexpr std::pair<bool Traits::*, const char*> kTraits[] = {
    {&Traits::own_memory, "own_memory"},
    {&Traits::compiling_disturbs, "compiling_disturbs"},
    {&Traits::one_batch_tells, "one_batch_tells"},
    {&Traits::assembles_code, "assembles_code"},
    {&Traits::runs_on_host, "runs_on_host"},
    {&Traits::matrix_units, "matrix_units"}};

nlohmann::json json_of(const Facts& facts) {
  return {{"name", facts.name},
          {"driver", facts.driver},
          {"target", facts.target},
          {"description", facts.description},
          {"id", facts.id},
          {"identity", nlohmann::json::parse(facts.identity)},
          {"details", nlohmann::json::parse(facts.details)},
          {"last_level_cache_bytes", facts.last_level_cache_bytes},
          {"memory_bytes", facts.memory_bytes},
          {"workgroup_memory_bytes", facts.workgroup_memory_bytes},
          {"units", facts.units},
          {"rough_flops", facts.rough_flops},
          {"rough_bytes", facts.rough_bytes}};
}

Facts facts_from(const nlohmann::json& json) {
  Facts facts;
  for (const auto& [text, key] : {std::pair(&facts.name, "name"),
                                  {&facts.driver, "driver"},
                                  {&facts.target, "target"},
                                  {&facts.description, "description"},
                                  {&facts.id, "id"}})
    json.at(key).get_to(*text);
  facts.identity = json.at("identity").dump();
  facts.details = json.at("details").dump();
  exact_to(json.at("last_level_cache_bytes"), facts.last_level_cache_bytes);
  exact_to(json.at("memory_bytes"), facts.memory_bytes);
  exact_to(json.at("workgroup_memory_bytes"), facts.workgroup_memory_bytes);
  exact_to(json.at("units"), facts.units);
  json.at("rough_flops").get_to(facts.rough_flops);
  json.at("rough_bytes").get_to(facts.rough_bytes);
  return facts;
}

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

void to_json(nlohmann::json& json, const Address& address) {
  json = {{"kind", address.kind}, {"cores", address.cores}};
  if (address.index) json["index"] = *address.index;
}

void from_json(const nlohmann::json& json, Address& address) {
  json.at("kind").get_to(address.kind);
  exact_to(json.at("cores"), address.cores);
  address.index.reset();
  if (const auto index = json.find("index"); index != json.end())
    address.index = exact<int>(*index);
}

void to_json(nlohmann::json& json, const Place& place) {
  json = {{"address", place.address},
          {"traits", nlohmann::json::object()},
          {"facts", json_of(place.facts)}};
  for (const auto& [trait, key] : kTraits) json["traits"][key] = place.traits.*trait;
}

void from_json(const nlohmann::json& json, Place& place) {
  json.at("address").get_to(place.address);
  for (const auto& [trait, key] : kTraits) json.at("traits").at(key).get_to(place.traits.*trait);
  place.facts = facts_from(json.at("facts"));
}

}  // namespace hone::device
