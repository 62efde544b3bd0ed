#include "device/place.h"

#include <algorithm>
#include <utility>

namespace hone::device {

std::string name_of(const Address& address) {
  return fmt::format("{}{}{}", address.host.empty() ? "" : fmt::format("ssh://{}/", address.host),
                     address.kind, address.index ? fmt::format(":{}", *address.index) : "");
}

Address host_of(const Address& address) {
  return {.cores = address.cores, .host = address.host};
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

}  // namespace hone::device
