// This machine's cores as a kind of devices of another name, for code that other cores run: twin:0.
#pragma once

#include "device/cpu/kind.h"

namespace hone::device::twin {

inline DeviceKind kind() {
  DeviceKind twin = cpu::kind();
  twin.name = "twin";
  twin.runs = [](const std::string& target) { return target == "twin"; };
  twin.places = [list = twin.places](const std::vector<int>& cores) -> Result<std::vector<Place>> {
    HONE_ASSIGN(std::vector<Place> places, list(cores));
    places.front().address.kind = "twin";
    places.front().address.index = 0;
    places.front().facts.name = "twin of " + places.front().facts.name;
    places.front().facts.target = "twin";
    return places;
  };
  return twin;
}

}  // namespace hone::device::twin
