// Entries that break a program, or reach what they were not verified for: found and named by the
// real compiler, before anything runs.
#include <gmock/gmock.h>

#include "space/configuration.h"
#include "tests/provider_spec/related_programs.h"
#include "tests/tune_apart/apart_session.h"
#include "tune/program/spec_entries.h"

namespace hone::tune {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class SpecVetting : public ApartSession {
 protected:
  // A winner for each dispatch of the program; "": the default. What is legal to the compiler is,
  // whatever hone thinks of it. Then each entry is verified for the dispatches `verified` names.
  Result<VettedSpec> vet(const std::string& text, const std::vector<std::string>& winners,
                         const std::vector<std::size_t>& verified_too = {}) {
    options_.places = {test::core_place()};
    return in_context([&](Context& context) -> Result<VettedSpec> {
      const std::string path = (folder_.path() / "program.mlir").string();
      HONE_ASSIGN(const problem::Program program,
                  context.compiler.load_program({path, text, options_.flags}));
      EXPECT_THAT(program.dispatches, SizeIs(winners.size()));
      std::vector<TunedDispatch> tuned(program.dispatches.size());
      for (std::size_t i = 0; i < tuned.size(); ++i) {
        tuned[i].dispatch = &program.dispatches[i];
        tuned[i].selection.speedup = 2;
        if (winners[i].empty()) continue;
        HONE_ASSIGN(const space::Space stated, context.provider.space_of(*tuned[i].dispatch));
        HONE_ASSIGN(const space::Space space, stated.relax({"all"}));
        HONE_ASSIGN(const auto configuration, space::parse_configuration(space, winners[i]));
        HONE_ASSIGN(tuned[i].payload,
                    context.provider.payload_of(*tuned[i].dispatch, space, configuration));
      }
      std::vector<LeftOut> unsayable;
      std::vector<VerifiedEntry> entries = spec_entries(*context.programs, tuned, unsayable);
      EXPECT_THAT(unsayable, IsEmpty());
      for (const std::size_t i : verified_too) entries.front().verified.push_back(&tuned[i]);
      const VettingRequest request{path, text, options_.flags, folder_.path(), &program};
      HONE_ASSIGN(VettedSpec vetted, vet_spec(context, request, entries));
      for (const VerifiedEntry& entry : vetted.entries) kept_ += entry.name() + "\n";
      vetted.entries.clear();  // they point into the program
      return vetted;
    });
  }

  std::string kept_;
};

// 128 x 256 numbers of f32 are 131072 bytes.
constexpr char kLargeTile[] =
    "dist_b=1,dist_m=128,dist_n=256,cache_m=0,cache_n=0,cache_k=96,vec_m=8,vec_n=32,red_k=1,peel=0";
constexpr char kSmallTile[] =
    "dist_b=1,dist_m=64,dist_n=64,cache_m=0,cache_n=0,cache_k=0,vec_m=8,vec_n=32,red_k=4,peel=0";

TEST_F(SpecVetting, KeepsAnEntryThatStraysToItsOwnDispatch) {
  const auto vetted = vet(iree::product_with_and_without_bias(), {kLargeTile, ""});
  ASSERT_TRUE(vetted) << vetted.error().message;
  EXPECT_THAT(kept_, HasSubstr("two_dispatch_0_"));
  EXPECT_THAT(vetted->spec, HasSubstr("sym_name = \"two_dispatch_0_batch_matmul"));
  EXPECT_THAT(vetted->left_out, IsEmpty());
  EXPECT_THAT(vetted->module, Not(IsEmpty()));
}

TEST_F(SpecVetting, LeavesOutAnEntryWithWhichARelativeDoesNotCompile) {
  const auto vetted = vet(iree::product_with_and_without_bias(), {kLargeTile, ""}, {1});
  ASSERT_TRUE(vetted) << vetted.error().message;
  EXPECT_EQ(kept_, "");
  ASSERT_THAT(vetted->left_out, SizeIs(2));  // of both that it was said to be verified for
  EXPECT_THAT(vetted->left_out[0].reason,
              HasSubstr("exceeded stack allocation limit of 32768 bytes for function. Got 131072"));
}

TEST_F(SpecVetting, KeepsAnEntryThatWasVerifiedForAllThatItReaches) {
  const auto vetted = vet(iree::product_with_and_without_bias(), {kSmallTile, kSmallTile});
  ASSERT_TRUE(vetted) << vetted.error().message;
  EXPECT_THAT(kept_, HasSubstr("two_dispatch_"));
  EXPECT_THAT(vetted->left_out, IsEmpty());
  EXPECT_THAT(vetted->module, Not(IsEmpty()));
}

// 256 x 512 x 64 multiplications weigh more than 256 x 512 additions, so it is the entry of the
// latter that is kept to its own dispatch. Both ship.
TEST_F(SpecVetting, OfTwoEntriesInOneDispatchTheLargerGainIsAppliedThere) {
  const auto vetted = vet(iree::elementwise_alone_and_behind_a_product(),
                          {"dist_0=64,dist_1=64,vec_0=4,vec_1=16,peel=0",
                           "dist_m=64,dist_n=64,cache_m=0,cache_n=0,cache_k=0,vec_m=8,vec_n=32,"
                           "red_k=4,peel=0"});
  ASSERT_TRUE(vetted) << vetted.error().message;
  EXPECT_THAT(kept_, HasSubstr("two_dispatch_0_elementwise"));
  EXPECT_THAT(kept_, HasSubstr("two_dispatch_1_matmul"));
  EXPECT_THAT(vetted->spec, HasSubstr("sym_name = \"two_dispatch_0_elementwise"));
  EXPECT_THAT(vetted->spec, Not(HasSubstr("sym_name = \"two_dispatch_1_matmul")));
  EXPECT_THAT(vetted->left_out, IsEmpty());
  EXPECT_THAT(vetted->module, Not(IsEmpty()));
}

}  // namespace
}  // namespace hone::tune
