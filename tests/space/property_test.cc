// The engine against brute force on random spaces.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/space/random_space.h"

namespace hone::space {
namespace {

constexpr int kSpaces = 1000;

std::vector<Configuration> enumerated(const Space& space) {
  std::vector<Configuration> all;
  Enumerator enumerator = space.enumerate();
  while (auto configuration = enumerator.next()) all.push_back(*configuration);
  return all;
}

std::string described(const random::RandomSpace& stated, const Space& space) {
  std::string text;
  for (const auto& variable : stated.variables) {
    text += variable.name + " in";
    for (const Value value : variable.values) text += " " + std::to_string(value);
    text += "\n";
  }
  for (const Constraint& constraint : space.constraints()) {
    text += to_string(constraint.expression) + "\n";
  }
  return text;
}

class RandomSpaces : public testing::Test {
 protected:
  // Calls `property` with each space and its configurations found by brute force.
  template <class Property>
  void for_each(std::uint64_t seed, SpaceOptions options, Property property) {
    std::mt19937_64 generator(seed);
    int inhabited = 0;
    for (int i = 0; i < kSpaces; ++i) {
      const random::RandomSpace stated = random::random_space(generator);
      const auto space = stated.builder().build(options);
      ASSERT_TRUE(space) << space.error().message;
      const std::vector<Configuration> solutions = stated.solutions();
      inhabited += !solutions.empty();
      property(*space, solutions);
      ASSERT_FALSE(HasFailure()) << "space " << i << ":\n" << described(stated, *space);
    }
    // The spaces say something only when a good part of them is neither empty nor trivial.
    EXPECT_GT(inhabited, kSpaces / 4);
  }
};

TEST_F(RandomSpaces, AreCountedAsBruteForceCountsThem) {
  for_each(1, {}, [](const Space& space, const std::vector<Configuration>& solutions) {
    EXPECT_TRUE(space.count().exact);
    EXPECT_EQ(space.count().value, solutions.size());
    EXPECT_EQ(space.empty(), solutions.empty());
  });
}

TEST_F(RandomSpaces, AreEnumeratedCompletelyAndWithoutRepetition) {
  for_each(2, {}, [](const Space& space, std::vector<Configuration> solutions) {
    std::vector<Configuration> all = enumerated(space);
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, solutions);
  });
}

TEST_F(RandomSpaces, HaveTheSameOrderByIndexAsByEnumeration) {
  for_each(3, {}, [](const Space& space, const std::vector<Configuration>&) {
    const std::vector<Configuration> all = enumerated(space);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto configuration = space.at(i);
      ASSERT_TRUE(configuration);
      ASSERT_EQ(*configuration, all[i]);
    }
    EXPECT_FALSE(space.at(all.size()));
  });
}

TEST_F(RandomSpaces, AreEnumeratedInTheSameOrderWithoutMemory) {
  std::mt19937_64 generator(4);
  for (int i = 0; i < kSpaces; ++i) {
    const SpaceBuilder builder = random::random_space(generator).builder();
    const auto with = builder.build();
    const auto without = builder.build({.memory_cap = 0});
    ASSERT_EQ(enumerated(*with), enumerated(*without));
    ASSERT_GE(without->count().value, with->count().value);
  }
}

TEST_F(RandomSpaces, CallLegalExactlyWhatBruteForceFinds) {
  std::mt19937_64 generator(5);
  for_each(6, {}, [&](const Space& space, const std::vector<Configuration>& solutions) {
    for (int i = 0; i < 20; ++i) {
      Configuration configuration;
      for (const Knob& knob : space.knobs()) {
        configuration.values.push_back(
            knob.range ? knob.range->first + static_cast<Value>(generator() % 7) %
                                                 (knob.range->second - knob.range->first + 1)
                       : knob.values[generator() % knob.values.size()]);
      }
      const bool legal = std::binary_search(solutions.begin(), solutions.end(), configuration);
      ASSERT_EQ(space.is_legal(configuration), legal);
      ASSERT_EQ(space.check(configuration).empty(), legal);
    }
  });
}

TEST_F(RandomSpaces, HaveLegalNeighboursThatDifferInOneKnobThatIsTried) {
  for_each(7, {}, [](const Space& space, const std::vector<Configuration>& solutions) {
    if (solutions.empty()) return;
    const Configuration& from = solutions[solutions.size() / 2];
    for (const Configuration& neighbour : space.neighbours(from)) {
      ASSERT_TRUE(std::binary_search(solutions.begin(), solutions.end(), neighbour));
      int changed = 0;
      for (std::size_t knob = 0; knob < space.knobs().size(); ++knob) {
        changed += !space.is_computed(knob) && neighbour.values[knob] != from.values[knob];
      }
      ASSERT_EQ(changed, 1);
    }
  });
}

TEST_F(RandomSpaces, EvaluateExpressionsAsWritten) {
  std::mt19937_64 generator(8);
  for (int i = 0; i < kSpaces; ++i) {
    const random::RandomSpace stated = random::random_space(generator);
    std::vector<Expression> variables;
    std::vector<Value> values;
    for (const auto& variable : stated.variables) {
      variables.push_back(Expression::variable(variables.size(), variable.name));
      values.push_back(variable.values[generator() % variable.values.size()]);
    }
    for (const random::Formula& constraint : stated.constraints) {
      ASSERT_EQ(evaluate(constraint.to_expression(variables), values), constraint.evaluate(values));
    }
  }
}

}  // namespace
}  // namespace hone::space
