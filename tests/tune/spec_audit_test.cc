// States of a spec's entries as the compiler's IR tells them, and what comes into effect once an
// entry is gone.
#include "tune/compare/spec_audit.h"

#include <gmock/gmock.h>

namespace hone::tune {
namespace {

using enum EntryState;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

CheckedEntry entry(const std::string& matcher, std::vector<SpecUse> uses) {
  CheckedEntry checked;
  checked.entry.matcher = matcher;
  checked.uses = std::move(uses);
  return checked;
}

SpecUse use(std::size_t dispatch, SpecEffect effect, bool changed = true) {
  return {.dispatch = dispatch, .effect = effect, .changed = changed};
}

CheckedSpec spec_of(std::vector<CheckedEntry> entries) {
  CheckedSpec checked;
  for (const char* const name : {"d0", "d1"}) checked.program.dispatches.emplace_back().name = name;
  checked.entries = std::move(entries);
  return checked;
}

TEST(SpecAudit, TheWorstUseDecidesWhatAnEntryIs) {
  const std::vector<AuditedEntry> entries = entry_states(spec_of({
      entry("none", {}),
      entry("behind", {use(0, SpecEffect::kShadowed)}),
      entry("partly", {use(0, SpecEffect::kShadowed), use(1, SpecEffect::kApplied)}),
      entry("same", {use(1, SpecEffect::kApplied, /*changed=*/false)}),
      entry("refused", {use(0, SpecEffect::kApplied), use(1, SpecEffect::kIllegal)}),
      entry("passed_over", {use(0, SpecEffect::kIgnored)}),
  }));
  std::vector<EntryState> states;
  for (const AuditedEntry& each : entries) states.push_back(each.state);
  EXPECT_THAT(states,
              ElementsAre(kDead, kShadowed, kNotMeasured, kSameAsDefault, kIllegal, kIgnored));
}

TEST(SpecAudit, AnEntryThatIsLeftMayComeIntoEffectElsewhere) {
  const CheckedSpec checked = spec_of({
      entry("first", {use(0, SpecEffect::kApplied)}),
      entry("second", {use(0, SpecEffect::kShadowed), use(1, SpecEffect::kApplied)}),
  });
  std::vector<AuditedEntry> entries = entry_states(checked);
  EXPECT_THAT(revived_uses(checked, entries), IsEmpty());  // both stay
  entries[0].state = kSlower;
  EXPECT_THAT(revived_uses(checked, entries),
              ElementsAre("@second applies to d0, where @first comes first today"));
  entries[1].state = kSlower;
  EXPECT_THAT(revived_uses(checked, entries), IsEmpty());  // both go
}

TEST(SpecAudit, WhatMayHelpIsKept) {
  for (const EntryState state : {kHelps, kUndecided, kNotMeasured}) EXPECT_TRUE(is_kept(state));
  for (const EntryState state :
       {kAsFast, kSlower, kSameAsDefault, kWrong, kIllegal, kIgnored, kShadowed, kDead})
    EXPECT_FALSE(is_kept(state)) << name_of(state);
}

}  // namespace
}  // namespace hone::tune
