#include "tune/services/deadline.h"

#include <gtest/gtest.h>

namespace hone::tune {
namespace {

class DeadlineOf20 : public testing::Test {
 protected:
  double now_ = 100;
  Deadline deadline_{20, [this] { return now_; }};
};

TEST_F(DeadlineOf20, IsTheBudgetAndWhatTheProgramAsItIsTook) {
  EXPECT_DOUBLE_EQ(deadline_.left(), 20);
  now_ += 6;  // the program is split
  deadline_.loaded();
  now_ += 4;  // and compiled
  deadline_.compiled(4);
  EXPECT_DOUBLE_EQ(deadline_.compile(), 10);
  now_ += 2;
  deadline_.called(2);
  EXPECT_DOUBLE_EQ(deadline_.left(), 20);
  now_ += 30;
  EXPECT_DOUBLE_EQ(deadline_.left(), -10);
  // 1.25 x 20 s + 45 s, of the 60 s that are promised, and the compile and the call.
  EXPECT_DOUBLE_EQ(deadline_.to_end(), 40);
}

TEST_F(DeadlineOf20, CountsOnlyTheProgramAsItIs) {
  now_ += 1;
  deadline_.loaded();
  deadline_.compiled(0);
  deadline_.called(0.5);
  deadline_.compiled(50);
  deadline_.called(50);
  EXPECT_DOUBLE_EQ(deadline_.compile(), 1);
  EXPECT_DOUBLE_EQ(deadline_.call(), 0.5);
}

TEST_F(DeadlineOf20, LimitsWhatIsTriedByWhatTheDefaultTook) {
  EXPECT_FALSE(deadline_.most_compile());
  EXPECT_FALSE(deadline_.most_call());
  now_ += 1;
  deadline_.loaded();
  deadline_.compiled(0);
  deadline_.called(0.5);
  EXPECT_DOUBLE_EQ(*deadline_.most_compile(), 8 * 1 + 10);
  EXPECT_DOUBLE_EQ(*deadline_.most_call(), 8 * 0.5 + 10);
  // And by what is left beside the proof's 8.5 s: 20 + 5 + 45 s, 1.5 s of the program as it is, 56
  // and 66 s are over.
  now_ += 55;
  EXPECT_DOUBLE_EQ(*deadline_.most_compile(), 15.5 - 8.5);
  now_ += 10;
  EXPECT_DOUBLE_EQ(*deadline_.most_compile(), 2 * 1) << "that of something like the default";
}

TEST_F(DeadlineOf20, KeepsTimeForTheProof) {
  now_ += 4;
  deadline_.loaded();
  deadline_.compiled(0);
  deadline_.called(0.125);
  EXPECT_DOUBLE_EQ(deadline_.proof(), 0.5 * 4 + 16 * 0.125);
  deadline_.compiles_proof(true);
  EXPECT_DOUBLE_EQ(deadline_.proof(), 16 * 0.125);
  deadline_.compiles_proof(false);
  EXPECT_DOUBLE_EQ(deadline_.next_compile(), 2.8);
  EXPECT_DOUBLE_EQ(deadline_.for_search(), 20.125);
  EXPECT_TRUE(deadline_.has(60));
  now_ += 20;
  EXPECT_DOUBLE_EQ(deadline_.for_search(), 0.125);
  now_ += 43;  // 7.125 s to the end, of which 4 are the proof's
  EXPECT_TRUE(deadline_.has(3));
  EXPECT_FALSE(deadline_.has(4));
  EXPECT_TRUE(deadline_.can_prove());
  now_ += 4;
  EXPECT_FALSE(deadline_.can_prove());
}

TEST_F(DeadlineOf20, KeepsTimeForTheCompileOfASpecThatTakesLongerThanTheDefault) {
  now_ += 4;
  deadline_.loaded();
  deadline_.compiled(0);
  deadline_.called(0.125);
  EXPECT_DOUBLE_EQ(deadline_.next_with_spec(), 2.8) << "none was compiled yet";
  deadline_.compiled_with_spec(10);
  deadline_.compiled_with_spec(8);
  EXPECT_DOUBLE_EQ(deadline_.next_with_spec(), 10);
  EXPECT_DOUBLE_EQ(deadline_.next_compile(), 2.8);
  // The compile of what ships has the frontend before it.
  EXPECT_DOUBLE_EQ(deadline_.proof(), (10 + 0.2 * 4) + 16 * 0.125);
  now_ += 43;  // 27.125 s to the end
  EXPECT_TRUE(deadline_.has(14));
  EXPECT_FALSE(deadline_.has(15));
  EXPECT_DOUBLE_EQ(*deadline_.most_compile(), 2 * 10) << "that of what ships";
  EXPECT_DOUBLE_EQ(deadline_.for_choosing(), 0.4 * 17.125);
}

TEST_F(DeadlineOf20, KeepsTimeForTheBasesThatComeLater) {
  now_ += 4;
  deadline_.loaded();
  deadline_.compiled(0);
  deadline_.called(0.125);
  deadline_.compiled_with_spec(10);
  deadline_.keep_for_bases(2, 15);
  // 70.125 s to the end, without 12.8 s of the proof and 15 + 2 x (2.8 + 10 + 12 x 0.125) s of the
  // bases.
  EXPECT_TRUE(deadline_.has(13.7));
  EXPECT_FALSE(deadline_.has(13.8));
  deadline_.keep_for_bases(0, 0);
  EXPECT_TRUE(deadline_.has(57));
}

// The rest of the promise is for the proof, where that takes most of it.
TEST_F(DeadlineOf20, LeavesNoTimeToASearchThatCouldNotBeProved) {
  now_ += 10;
  deadline_.loaded();
  deadline_.compiled(0);
  deadline_.called(5);
  now_ += 5;
  EXPECT_DOUBLE_EQ(deadline_.to_end(), 70);
  EXPECT_DOUBLE_EQ(deadline_.proof(), 85);
  EXPECT_DOUBLE_EQ(deadline_.for_search(), 0);
}

TEST_F(DeadlineOf20, NamesABudgetThatSuffices) {
  now_ += 4;
  deadline_.loaded();
  deadline_.compiled(0);
  deadline_.called(0.1);
  EXPECT_DOUBLE_EQ(deadline_.sufficient(), 70);  // 12 x 4 + 200 x 0.1
}

// The first call reads 2.4 GB of weights; the next one finds them in memory.
TEST_F(DeadlineOf20, TakesACallToBeAsLongAsOneByAProcessThatHasLoadedTheProgram) {
  now_ += 1;
  deadline_.loaded();
  deadline_.compiled(0);
  deadline_.called(3.5);
  EXPECT_DOUBLE_EQ(deadline_.proof(), 0.5 * 1 + 16 * 3.5);
  EXPECT_DOUBLE_EQ(deadline_.sufficient(), 720);  // 12 x 1 + 200 x 3.5
  deadline_.called_again(0.5);
  EXPECT_DOUBLE_EQ(deadline_.proof(), 0.5 * 1 + 5 * 3.5 + 11 * 0.5);
  EXPECT_DOUBLE_EQ(deadline_.trial(), 0.7 * 1 + 3 * 3.5 + 3 * 0.5);
  EXPECT_DOUBLE_EQ(deadline_.sufficient(), 150);  // 12 x 1 + 12 x 3.5 + 188 x 0.5
}

}  // namespace
}  // namespace hone::tune
