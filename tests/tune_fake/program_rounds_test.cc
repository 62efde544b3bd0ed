// How many rounds of whole programs there are.
#include "tune/program/program_rounds.h"

#include <gtest/gtest.h>

#include "tests/tune_fake/fake_session.h"

namespace hone::tune {
namespace {

class TimeRounds : public FakeSession {
 protected:
  std::size_t rounds_of(const ProgramRounds& request) {
    provider::ProgramCall call;
    call.module = folder_.path() / "module";
    EXPECT_TRUE(write_file_atomically(call.module, "0.5"));
    SilentObserver observer;
    const auto times = time_rounds(provider_, {call, call}, request, observer);
    EXPECT_TRUE(times) << times.error().message;
    return times->size();
  }
};

TEST_F(TimeRounds, AreThoseAskedFor) {
  EXPECT_EQ(rounds_of({.rounds = 5}), 5u);
}

TEST_F(TimeRounds, AreTheFewestWhereTheTimeIsOver) {
  EXPECT_EQ(rounds_of({.rounds = 20, .most_seconds = 0, .least = 8}), 8u);
  EXPECT_EQ(rounds_of({.rounds = 5, .most_seconds = 0, .least = 8}), 5u);
  EXPECT_EQ(rounds_of({.rounds = 5, .most_seconds = 0}), 1u);
}

}  // namespace
}  // namespace hone::tune
