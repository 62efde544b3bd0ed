// The flags with which a compiler outside of hone compiles a program with a spec: the spec, and a
// pass that reads it before threads do (docs/status.md).
#include <gmock/gmock.h>

#include "provider/iree/iree_spec_writer.h"
#include "tests/provider/contractions.h"

namespace hone::iree {
namespace {

using testing::ElementsAre;

std::vector<std::string> with_spec(std::vector<std::string> flags) {
  return IreeSpecWriter("", "", kSpecFlag).with_spec(std::move(flags), "a b/s.mlir");
}

constexpr char kSpec[] = "--iree-codegen-tuning-spec-path=a b/s.mlir";
constexpr char kReads[] = "iree-codegen-materialize-tuning-specs{tuning-spec-path={a b/s.mlir}}";
constexpr char kPipeline[] = "--iree-preprocessing-pass-pipeline=builtin.module(";

TEST(WithSpec, ReadsTheSpecBeforeAnythingElseRuns) {
  EXPECT_THAT(with_spec({"--O3"}),
              ElementsAre("--O3", kSpec, std::string(kPipeline) + kReads + ")"));
}

TEST(WithSpec, KeepsThePassesThatTheUserAskedFor) {
  EXPECT_THAT(with_spec({std::string(kPipeline) + "util.func(cse,canonicalize))", "--O3"}),
              ElementsAre(std::string(kPipeline) + kReads + ",util.func(cse,canonicalize))", "--O3",
                          kSpec));
  EXPECT_THAT(with_spec({std::string(kPipeline) + ")"}),
              ElementsAre(std::string(kPipeline) + kReads + ")", kSpec));
}

// The compiler reads it all the same, as it does for everyone.
TEST(WithSpec, AsksForNoPassWhereThePathHasBraces) {
  EXPECT_THAT(IreeSpecWriter("", "", kSpecFlag).with_spec({}, "{a}/s.mlir"),
              ElementsAre("--iree-codegen-tuning-spec-path={a}/s.mlir"));
}

}  // namespace
}  // namespace hone::iree
