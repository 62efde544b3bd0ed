// Values of a computation as functions of what its bindings hold.
#include "measure/input_dependence.h"

#include <gmock/gmock.h>

#include "tests/measure/built_computation.h"

namespace hone::measure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// 3 a b + a, of degree 2 with the coefficients 3 and 1.
TEST(InputDependence, CountsFactorsAndCoefficients) {
  Built built;
  const int a = built.input(0), b = built.input(2);
  const int product = built.operation("arith.mulf", {a, b});
  const int scaled = built.operation("arith.mulf", {built.constant(3), product});
  const int sum = built.operation("arith.addf", {scaled, a});
  InputDependence dependence(built.computation);
  const Polynomial polynomial = dependence.polynomial_of(sum);
  EXPECT_EQ(polynomial.degree, 2);
  EXPECT_EQ(polynomial.coefficients, 4);
  EXPECT_TRUE(dependence.vanishes(sum));
  EXPECT_THAT(dependence.sources_of(sum), ElementsAre(0u, 2u));
  EXPECT_EQ(dependence.source_of(sum), -1);
}

TEST(InputDependence, EndsAtAFunction) {
  Built built;
  const int wide = built.operation("arith.extf", {built.input(1)});
  const int exponential = built.operation("math.exp", {wide});
  const int half = built.constant(0.5);
  InputDependence dependence(built.computation);
  EXPECT_EQ(dependence.source_of(wide), 1);  // an element of the binding, converted
  EXPECT_EQ(dependence.polynomial_of(wide).degree, 1);
  EXPECT_EQ(dependence.polynomial_of(exponential).degree, 0);
  EXPECT_EQ(dependence.polynomial_of(exponential).coefficients, 0);
  EXPECT_FALSE(dependence.vanishes(exponential));  // exp(0) is 1
  EXPECT_THAT(dependence.sources_of(exponential), ElementsAre(1u));
  EXPECT_EQ(dependence.polynomial_of(half).coefficients, 0);  // no whole number
  EXPECT_THAT(dependence.sources_of(half), IsEmpty());
}

}  // namespace
}  // namespace hone::measure
