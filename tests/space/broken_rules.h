// The rules of a space that a configuration breaks.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "space/configuration.h"

namespace hone::space {

// Their names; `text` as parse_configuration reads it.
inline std::set<std::string> broken(const Space& space, const std::string& text) {
  std::set<std::string> names;
  const auto configuration = parse_configuration(space, text);
  EXPECT_TRUE(configuration) << configuration.error().message;
  if (!configuration) return names;
  for (const Violation& violation : space.check(*configuration)) names.insert(violation.constraint);
  return names;
}

}  // namespace hone::space
