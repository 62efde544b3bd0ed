// The spaces that hone makes of the compiler's constraints against z3, which reads the compiler's
// own translation of them to SMT-LIB: nothing of hone's lies between.
#include <gtest/gtest.h>

#ifndef HONE_WITHOUT_Z3

#include <z3++.h>

#include <set>

#include "provider/iree/compiler/attributes.h"
#include "provider/iree/compiler/compiler_session.h"
#include "provider/iree/gpu/stated_space.h"
#include "tests/provider_iree_gpu/compile_share.h"

namespace hone::iree::gpu {
namespace {

struct Statement {
  StatedSet set;
  std::string smt;  // SMT-LIB
};

std::vector<Statement> statements(const problem::Dispatch& dispatch, const std::string& arch) {
  std::vector<std::string> flags = flags_for(arch);
  flags.emplace_back(kTunerAttributesFlag);
  flags.emplace_back(kConstraintsFlag);
  const auto session = CompilerSession::create(compiler(), flags);
  const Ir ir(session->api());
  Invocation configure(*session);
  if (!configure.parse("dispatch", dispatch.source) ||
      !configure.run(kExecutableSources, kExecutableConfigurations))
    throw std::runtime_error(configure.diagnostics());
  const OwnedModule module = configure.take_module();
  std::vector<Statement> all;
  for (const MlirOperation each : exports_in(ir, module.get()))
    for (const MlirOperation operation : constraint_operations(ir, function_of(ir, each))) {
      const auto smt =
          ir.string_value(ir.api().ireeCodegenConvertConstraintsOpToSMTLIB(operation, false));
      if (!smt) throw std::runtime_error("no SMT-LIB");
      all.push_back({*read_constraints(ir, operation), *smt});
    }
  return all;
}

// Every projection of z3's solutions on the knobs.
std::set<std::vector<std::int64_t>> solutions(const std::string& smt,
                                              const std::vector<space::Knob>& knobs) {
  z3::context context;
  z3::solver solver(context);
  solver.from_string(smt.c_str());
  z3::expr_vector constants(context);
  for (const space::Knob& knob : knobs) constants.push_back(context.int_const(knob.name.c_str()));
  std::set<std::vector<std::int64_t>> found;
  while (solver.check() == z3::sat) {
    const z3::model model = solver.get_model();
    std::vector<std::int64_t> values;
    z3::expr_vector differs(context);
    for (const z3::expr& constant : constants) {
      const z3::expr value = model.eval(constant, true);
      values.push_back(value.get_numeral_int64());
      differs.push_back(constant != value);
    }
    found.insert(values);
    solver.add(z3::mk_or(differs));
  }
  return found;
}

std::set<std::vector<std::int64_t>> enumerated(const space::Space& space) {
  std::set<std::vector<std::int64_t>> all;
  space::Enumerator enumerator = space.enumerate();
  while (const auto configuration = enumerator.next()) all.insert(configuration->values);
  return all;
}

void expect_agreement(const std::string& program, const std::string& arch) {
  const auto all = statements(dispatch_of(program, arch), arch);
  for (const Statement& statement : all) {
    const auto space = space_builder(statement.set)->build();
    ASSERT_TRUE(space) << space.error().message;
    const auto ours = enumerated(*space);
    EXPECT_EQ(ours, solutions(statement.smt, space->knobs()))
        << arch << " " << statement.set.pipeline;
    std::cout << arch << " " << statement.set.pipeline << ": " << ours.size() << "\n";
  }
}

class Z3OnTheCompilersConstraints : public ::testing::TestWithParam<std::string> {};

TEST_P(Z3OnTheCompilersConstraints, AgreesOnAMatmul) {
  expect_agreement(matmul(96, 128, 64), GetParam());
}
TEST_P(Z3OnTheCompilersConstraints, AgreesOnATransposedMatmul) {
  expect_agreement(matmul(128, 64, 96, "f16", "f32", true), GetParam());
}
TEST_P(Z3OnTheCompilersConstraints, AgreesOnAConvolutionWithChannelsLast) {
  expect_agreement(convolution(false, 1, 8, 32, 32), GetParam());
}
TEST_P(Z3OnTheCompilersConstraints, AgreesOnAConvolutionWithChannelsFirst) {
  expect_agreement(convolution(true, 1, 8, 32, 32), GetParam());
}
TEST_P(Z3OnTheCompilersConstraints, AgreesOnAttention) {
  expect_agreement(attention(4, 1024, 64), GetParam());
}
INSTANTIATE_TEST_SUITE_P(Targets, Z3OnTheCompilersConstraints, ::testing::Values("gfx942", "sm_80"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace hone::iree::gpu

#endif
