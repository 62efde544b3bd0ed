#include "tests/made_up_provider/provider.h"

#include "tests/made_up_provider/choice.h"

namespace hone::plain_c {

Result<space::Space> Provider::space_of(const problem::Dispatch& dispatch) const {
  HONE_ASSIGN(const Product product, product_in(dispatch.source));
  space::SpaceBuilder builder;
  const space::Expression by_rows = builder.knob("by_rows", "rows of B, or dot products", {0, 1});
  const space::Expression columns =
      builder.knob("columns", "of C, added up together", {1, 8, 16, 32});
  builder.knob("level", "of cc's optimisation", {1, 3});
  const space::Expression blocks = builder.auxiliary("blocks", 1, product.n);
  builder.require("whole_blocks", "the {} columns of C are a whole number of blocks",
                  columns * blocks == product.n, {product.n});
  builder.require("one_dot_at_a_time", "dot products take one column, rows more than one",
                  (by_rows == 1) == (columns > 1));
  return builder.build();
}

Result<provider::Payload> Provider::payload_of(const problem::Dispatch&, const space::Space& space,
                                               const space::Configuration& configuration) const {
  Choice choice;
  HONE_ASSIGN(const space::Value by_rows, space.value(configuration, "by_rows"));
  choice.by_rows = by_rows == 1;
  HONE_ASSIGN(choice.columns, space.value(configuration, "columns"));
  HONE_ASSIGN(choice.level, space.value(configuration, "level"));
  return plain_c::payload_of(choice);
}

std::function<double(const space::Configuration&)> Provider::prior(const problem::Dispatch&,
                                                                   const space::Space&) const {
  return [](const space::Configuration& configuration) {
    return 1.0 / static_cast<double>(configuration.values.at(1) * configuration.values.at(2));
  };
}

}  // namespace hone::plain_c
