// Configurations given by hand ("tile_m=64,tile_n=32") or as JSON.
#include "space/configuration.h"

#include "tests/fuzz/fuzz_target.h"

namespace hone::space {
namespace {

Space some_space() {
  SpaceBuilder builder;
  const Expression m = builder.knob("tile_m", "rows", {1, 2, 4, 8, 16, 32, 64});
  const Expression n = builder.knob("tile_n", "columns", {8, 16, 32, -1});
  const Expression k = builder.knob_range("tile_k", "steps", 1, 100);
  builder.require("area", "the tile fits", m * n <= 512, {m, n});
  builder.prefer("steps", "a whole number of steps", euclidean_mod(k, 4) == 0, {k});
  return *builder.build();
}

void use(const Space& space, const Configuration& configuration) {
  const bool legal = space.is_legal(configuration);
  fuzz::require(legal == space.check(configuration).empty(), "legal is: nothing is broken");
  const auto same = parse_configuration(space, to_string(space, configuration));
  fuzz::require(same && *same == configuration, "its text is read as the same");
  const auto from_json = configuration_from_json(space, to_json(space, configuration));
  fuzz::require(from_json && *from_json == configuration, "so is its JSON");
}

}  // namespace
}  // namespace hone::space

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace hone;
  using namespace hone::space;
  static const Space space = some_space();
  const std::string_view text = fuzz::text_of(bytes, size);
  if (const auto configuration = parse_configuration(space, text)) use(space, *configuration);
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (json.is_discarded()) return 0;
  if (const auto configuration = configuration_from_json(space, json)) use(space, *configuration);
  return 0;
}
