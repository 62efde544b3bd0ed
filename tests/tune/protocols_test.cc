// The constants that measuring uses are those that the device identity holds.
#include "trial/protocols.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/device/places.h"
#include "tune/dispatch/finalists.h"

namespace hone::tune {
namespace {

constexpr double kShort = 1e-4, kLong = 10;  // seconds per launch

// Each number of `protocol`, changed by itself, makes another text of it.
void expect_every_constant_in(const measure::Protocol& protocol) {
  const nlohmann::json before = protocol;
  EXPECT_EQ(before.size(), 10u) << "a new field needs a line below, and one in to_json";
  const auto expect_changed = [&](auto measure::Protocol::*field) {
    measure::Protocol changed = protocol;
    changed.*field += 1;
    EXPECT_NE(nlohmann::json(changed), before);
  };
  using P = measure::Protocol;
  for (double P::*field :
       {&P::warm_up_seconds, &P::max_warm_up_seconds, &P::max_seconds, &P::target_width,
        &P::confidence, &P::batch_seconds, &P::early_stop_factor, &P::screen_factor})
    expect_changed(field);
  for (std::size_t P::*field : {&P::min_samples, &P::max_samples}) expect_changed(field);
}

TEST(Protocols, HoldEveryConstantOfEachProtocolInUse) {
  const device::Traits core, gpu = test::gpu_place().traits;
  for (const device::Traits& traits : {core, gpu}) {
    const nlohmann::json in_use = trial::protocols_in_use(traits);
    EXPECT_EQ(in_use.at("version"), trial::kProtocolVersion);
    EXPECT_EQ(in_use.at("search"), nlohmann::json::array({trial::search_protocol(kShort, traits),
                                                          trial::search_protocol(kLong, traits)}));
    EXPECT_EQ(in_use.at("finalists"), nlohmann::json::array({trial::finalist_protocol(kShort),
                                                             trial::finalist_protocol(kLong)}));
    EXPECT_EQ(in_use.at("finalist_rounds"), trial::finalist_round_constants(traits));
    EXPECT_EQ(in_use.contains("shipped"), traits.assembles_code);
    expect_every_constant_in(trial::search_protocol(kShort, traits));
    expect_every_constant_in(trial::finalist_protocol(kShort));
  }
  EXPECT_NE(trial::protocols_in_use(core), trial::protocols_in_use(gpu));
}

}  // namespace
}  // namespace hone::tune
