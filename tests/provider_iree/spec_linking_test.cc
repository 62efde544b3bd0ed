#include <gmock/gmock.h>

#include "provider/iree/spec/tuning_spec.h"
#include "tests/provider_iree/compiler.h"

namespace hone::iree {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// One entry, as hone writes it; `head`: before the module.
std::string spec(const std::string& name, const std::string& head = "") {
  return fmt::format(R"({1}
module attributes {{
  transform.with_named_sequence, iree_codegen.tuning_spec_with_default_entrypoint
}} {{
  transform.named_sequence @match_{0}(%root: !transform.any_op {{transform.readonly}})
      -> (!transform.any_op, !transform.any_param) {{
    transform.match.operation_name %root ["linalg.matmul"] : !transform.any_op
    %info = transform.param.constant #iree_codegen.compilation_info<
      lowering_config = #iree_cpu.lowering_config<distribution = [64, 64, 0]>,
      translation_info = #iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>>
      -> !transform.any_param
    transform.yield %root, %info : !transform.any_op, !transform.any_param
  }}
  transform.named_sequence @apply_{0}(%root: !transform.any_op {{transform.readonly}},
                                      %info: !transform.any_param {{transform.readonly}}) {{
    transform.annotate %root "compilation_info" = %info : !transform.any_op, !transform.any_param
    transform.yield
  }}
  transform.named_sequence @__kernel_config(%variant: !transform.any_op {{transform.consumed}})
      -> !transform.any_op attributes {{iree_codegen.tuning_spec_entrypoint}} {{
    %updated = transform.foreach_match in %variant @match_{0} -> @apply_{0}
      : (!transform.any_op) -> !transform.any_op
    transform.yield %updated : !transform.any_op
  }}
}}
)",
                     name, head);
}

std::vector<std::string> matchers(const std::string& text) {
  const auto read = read_spec_file(compiler(), "linked.mlir", text);
  if (!read) return {read.error().message};
  std::vector<std::string> names;
  for (const ParsedSpecEntry& entry : read->entries) names.push_back(entry.matcher);
  return names;
}

TEST(SpecLinking, PutsTheFirstSpecsEntriesFirst) {
  const auto linked = link_specs(compiler(), "old.mlir", spec("new", "// made by hone"),
                                 spec("old", "#unused = 1"));
  ASSERT_TRUE(linked) << linked.error().message;
  EXPECT_THAT(*linked, StartsWith("// made by hone"));
  EXPECT_THAT(matchers(*linked), ElementsAre("match_new", "match_old"));
}

// IREE runs such a spec after the other one, and the last match wins.
TEST(SpecLinking, PutsTheFirstSpecsEntriesFirstIfTheSecondHasNoDefaultEntryPoint) {
  std::string second = spec("old");
  const std::string attribute = ", iree_codegen.tuning_spec_with_default_entrypoint";
  second.erase(second.find(attribute), attribute.size());
  const auto linked = link_specs(compiler(), "old.mlir", spec("new"), second);
  ASSERT_TRUE(linked) << linked.error().message;
  EXPECT_THAT(*linked, HasSubstr("iree_codegen.tuning_spec_with_default_entrypoint"));
  EXPECT_THAT(matchers(*linked), ElementsAre("match_new", "match_old"));
}

// As when what was found before is tuned again.
TEST(SpecLinking, RenamesWhatBothHave) {
  const auto linked = link_specs(compiler(), "old.mlir", spec("same"), spec("same"));
  ASSERT_TRUE(linked) << linked.error().message;
  const std::vector<std::string> names = matchers(*linked);
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[0], "match_same");
  EXPECT_THAT(names[1], StartsWith("match_same_"));
}

TEST(SpecLinking, WhatDoesNotParseIsNamed) {
  const auto linked = link_specs(compiler(), "old.mlir", spec("new"), "module { no }");
  ASSERT_FALSE(linked);
  EXPECT_THAT(linked.error().message, HasSubstr("'old.mlir' is no tuning spec that IREE reads:"));
}

}  // namespace
}  // namespace hone::iree
