// Places as plain data, which no driver states.
#pragma once

#include <string>

#include "device/place.h"

namespace hone::test {

// A device that differs from a CPU in all that matters, as a GPU does.
inline device::Place gpu_place(int index = 0, std::string kind = "cuda") {
  device::Place place;
  place.address = {std::move(kind), index, {0}};
  place.traits = {.own_memory = true,
                  .compiling_disturbs = false,
                  .one_batch_tells = true,
                  .assembles_code = true,
                  .runs_on_host = false,
                  .matrix_units = true};
  place.facts.rough_flops = 2e14;
  place.facts.rough_bytes = 2e12;
  return place;
}

// The first core of the host.
inline device::Place core_place() {
  device::Place place;
  place.address.cores = {0};
  return place;
}

}  // namespace hone::test
