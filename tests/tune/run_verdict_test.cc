#include "tune/services/run_verdict.h"

#include <gtest/gtest.h>

#include "tune/dispatch/compile_only.h"
#include "tune/tuning_run.h"

namespace hone::tune {
namespace {

VerifiedBuild build(const std::string& label, std::vector<std::string> flags = {}) {
  return {Build{.label = label, .flags = std::move(flags)}};
}

TuningResult with_best(const VerifiedBuild& best) {
  TuningResult result;
  result.best = best;
  return result;
}

std::string said(const TuningResult& result) {
  const RunVerdict verdict = verdict_of(result);
  return std::to_string(exit_code(verdict)) + " " + last_line(verdict);
}

TEST(RunVerdict, IsZeroWhereSomethingUsableIsProved) {
  EXPECT_EQ(said(with_best(build("O3", {"--opt"}))), "0 ");
  EXPECT_EQ(said(with_best(build("default"))),
            "0 Nothing faster was found: the default is the best of what was tried.\n");
  TuningResult late = with_best(build("default"));
  late.candidate = build("O3 + spec", {"--opt"});
  EXPECT_EQ(said(late),
            "0 Nothing faster was proved: 'O3 + spec' seemed faster, but no time was left to prove "
            "it\n");
  VerifiedBuild repaired = build("repairs");
  repaired.repairs = {"main_dispatch_3"};
  TuningResult result = with_best(repaired);
  result.wrong_by_default = {"main_dispatch_3"};
  EXPECT_EQ(said(result),
            "0 Repaired: the compiler's code of main_dispatch_3 is wrong; the shipped kernels are "
            "correct\n");
}

TEST(RunVerdict, IsOneWhereTheDefaultFails) {
  TuningResult result;
  result.default_failure = "as it is, the program does not compile: undefined symbol: log10f";
  EXPECT_EQ(said(result),
            "1 NOTHING USABLE: as it is, the program does not compile: undefined symbol: log10f\n");
  result.best = build("O3", {"--opt"});
  EXPECT_EQ(exit_code(verdict_of(result)), 0);
}

TEST(RunVerdict, OfARepairedProgramSaysWhatCameOfItThen) {
  TuningResult result = with_best(build("spec", {"--opt"}));
  result.default_failure = "as it is, the program does not compile: refused";
  result.repaired_by = "regions";
  const std::string works =
      "as it is, the program does not compile: refused; with regions it works";
  EXPECT_EQ(said(result), "0 Repaired: " + works + "\n");
  result.best->repairs = {"main_dispatch_3"};
  EXPECT_EQ(said(result), "0 Repaired: " + works +
                              "; the compiler's code of main_dispatch_3 is wrong; the shipped "
                              "kernels are correct\n");
  result.best.reset();
  result.not_proved = "no time is left";
  EXPECT_EQ(said(result), "1 NOT PROVED: " + works + ", but no time is left\n");
}

TEST(RunVerdict, IsOneWhereNothingCouldBeProved) {
  TuningResult result;
  result.not_proved = "no time is left to prove it: --budget 90s would do";
  EXPECT_EQ(said(result), "1 NOT PROVED: no time is left to prove it: --budget 90s would do\n");
  result.best = build("O3 + spec", {"--opt"});
  EXPECT_EQ(exit_code(verdict_of(result)), 1)
      << "by a base that the last one was not compared with";
  result = with_best(build("O3", {"--opt"}));
  result.unchecked_outputs = "result 0: each of its elements is 1";
  EXPECT_EQ(exit_code(verdict_of(result)), 0) << "each dispatch was verified";
  result.unverified_dispatches = {"main_dispatch_1"};
  EXPECT_EQ(
      said(result),
      "1 NOT PROVED: the program's outputs cannot be verified (result 0: each of its elements "
      "is 1), nor can these dispatches: main_dispatch_1\n");
  result.best = build("default");
  result.candidate = build("O3", {"--opt"});
  result.verdict = ProgramVerdict{};
  result.verdict->recommended = Recommended::kChosen;
  EXPECT_EQ(said(result),
            "0 Nothing faster was proved: 'O3' is faster, but the program's outputs cannot be "
            "verified (result 0: each of its elements is 1), nor can these dispatches: "
            "main_dispatch_1\n");
  result = with_best(build("default"));
  result.wrong_by_default = {"main_dispatch_2"};
  EXPECT_EQ(exit_code(verdict_of(result)), 1);
}

// With --no-program dispatches are verified by themselves, as was asked for.
TEST(RunVerdict, IsOfTheDispatchesWhereTheProgramWasNotToBeProved) {
  TuningResult result;
  result.whole_program = false;
  result.at_sizes.emplace_back();
  result.at_sizes.back().not_tuned = {{"main_dispatch_0", "compile crash: SIGSEGV\nwords"}};
  EXPECT_EQ(said(result), "1 NOTHING USABLE: no dispatch was tuned: compile crash: SIGSEGV\n");
  result.at_sizes.back().tuned.emplace_back();
  EXPECT_EQ(verdict_of(result).outcome, RunOutcome::kNothingFaster);
  result.at_sizes.back().tuned.back().payload.emplace();
  EXPECT_EQ(verdict_of(result).outcome, RunOutcome::kFaster);
}

// Of a program every dispatch is needed; of a list of dispatches each is there for itself.
TEST(RunVerdict, OfCompiledDispatchesIsOneWhereThereIsNoCode) {
  problem::Dispatch product, convolution;
  product.name = "main_dispatch_0";
  convolution.name = "main_dispatch_1";
  CompiledProgram list;
  list.dispatches.resize(2);
  list.dispatches[0].dispatch = &product;
  list.dispatches[0].compiled = 3;
  list.dispatches[1].dispatch = &convolution;
  list.dispatches[1].tried = 4;
  list.dispatches[1].default_failure = "no registers left";
  EXPECT_EQ(exit_code(verdict_of(list)), 0);

  CompiledProgram program = list;
  program.program.functions.emplace_back();
  const auto last = [&] {
    const RunVerdict verdict = verdict_of(program);
    return std::to_string(exit_code(verdict)) + " " + last_line(verdict);
  };
  EXPECT_EQ(last(),
            "1 NOTHING USABLE: the compiler makes no code of main_dispatch_1: no registers left\n");
  program.dispatches[1].untried = 12;
  EXPECT_EQ(last(),
            "1 NOTHING USABLE: no code of main_dispatch_1 by the end of the budget, 12 of 16 "
            "candidates untried: no registers left\n");
  list.dispatches[0].compiled = 0;
  EXPECT_EQ(exit_code(verdict_of(list)), 1);
}

TEST(RunVerdict, SaysThatTooFewRoundsFit) {
  TuningResult result = with_best(build("default"));
  result.candidate = build("O3", {"--opt"});
  result.verdict.emplace();
  result.verdict->chosen.at_sizes.emplace_back();
  result.verdict->chosen.at_sizes.back().rounds = 3;
  EXPECT_EQ(said(result),
            "0 Nothing faster was proved: 'O3' seemed faster, but only 3 rounds fit into the "
            "budget\n");
}

TEST(RunVerdictOfAnEmulator, ShipsNothing) {
  const RunVerdict faster = on_emulator({RunOutcome::kFaster, ""});
  EXPECT_EQ(exit_code(faster), 1);
  EXPECT_EQ(last_line(faster),
            "NOT PROVED: the device is an emulator, whose times are no GPU's: tune again on one\n");
  EXPECT_EQ(on_emulator({RunOutcome::kRepaired, "x"}), faster);
  const RunVerdict nothing{RunOutcome::kNothingFaster, ""};
  EXPECT_EQ(on_emulator(nothing), nothing);
}

}  // namespace
}  // namespace hone::tune
