// The constants that measuring uses are those that the device identity holds.
#include "tune/protocols.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tune/finalists.h"

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
  for (const bool gpu : {false, true}) {
    const nlohmann::json in_use = protocols_in_use(gpu);
    EXPECT_EQ(in_use.at("version"), kProtocolVersion);
    EXPECT_EQ(in_use.at("search"),
              nlohmann::json::array({search_protocol(kShort, gpu), search_protocol(kLong, gpu)}));
    EXPECT_EQ(in_use.at("finalists"),
              nlohmann::json::array({finalist_protocol(kShort), finalist_protocol(kLong)}));
    EXPECT_EQ(in_use.at("finalist_rounds"), finalist_round_constants(gpu));
    EXPECT_EQ(in_use.contains("shipped"), gpu);
    expect_every_constant_in(search_protocol(kShort, gpu));
    expect_every_constant_in(finalist_protocol(kShort));
  }
  EXPECT_NE(protocols_in_use(false), protocols_in_use(true));
}

}  // namespace
}  // namespace hone::tune
