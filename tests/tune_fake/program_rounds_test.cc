// How many rounds of whole programs there are.
#include <gtest/gtest.h>

#include "tests/tune_fake/fake_session.h"
#include "tune/program/program_calls.h"

namespace hone::tune {
namespace {

class CountsTimers : public test::FakeProvider {
 public:
  provider::ProgramTimers timers(const device::Address& device) const override {
    ++asked;
    provider::ProgramTimers timers = test::FakeProvider::timers(device);
    timers.short_calls_vary = short_calls_vary;
    return timers;
  }
  bool short_calls_vary = true;
  mutable int asked = 0;
};

class TimeRounds : public FakeSession {
 protected:
  // Of two programs that take so many seconds.
  std::size_t rounds_of(const ProgramRounds& request, const std::string& seconds = "0.5",
                        const std::string& of_other = "") {
    std::vector<provider::ProgramCall> calls(2);
    calls[0].module = folder_.path() / "module";
    calls[1].module = folder_.path() / "other";
    EXPECT_TRUE(write_file_atomically(calls[0].module, seconds));
    EXPECT_TRUE(write_file_atomically(calls[1].module, of_other.empty() ? seconds : of_other));
    SilentObserver observer;
    const auto times = time_rounds(provider_, calls, request, observer);
    EXPECT_TRUE(times) << times.error().message;
    return times->size();
  }

  CountsTimers provider_;
};

TEST_F(TimeRounds, AreThoseAskedFor) {
  EXPECT_EQ(rounds_of({.rounds = 5}), 5u);
}

TEST_F(TimeRounds, AreTheFewestWhereTheTimeIsOver) {
  EXPECT_EQ(rounds_of({.rounds = 20, .most_seconds = 0, .least = 8}), 8u);
  EXPECT_EQ(rounds_of({.rounds = 5, .most_seconds = 0, .least = 8}), 5u);
  EXPECT_EQ(rounds_of({.rounds = 5, .most_seconds = 0}), 1u);
}

TEST_F(TimeRounds, AreFewerWhereTheProgramsAreFarApart) {
  EXPECT_EQ(rounds_of({.rounds = 12, .if_far_apart = 8}, "0.5", "0.4"), 8u);
  EXPECT_EQ(rounds_of({.rounds = 12, .if_far_apart = 8}, "0.4", "0.5"), 8u);
  EXPECT_EQ(rounds_of({.rounds = 12, .if_far_apart = 8}, "0.5", "0.48"), 12u);
  EXPECT_EQ(rounds_of({.rounds = 12}, "0.5", "0.4"), 12u);
}

TEST_F(TimeRounds, ShareAProcess) {
  rounds_of({.rounds = 5}, "0.002");
  EXPECT_EQ(provider_.asked, 1);
}

// A process keeps to one of the two times that such a program may take.
TEST_F(TimeRounds, HaveAProcessEachWhereTheProgramIsShort) {
  rounds_of({.rounds = 5}, "0.0005");
  EXPECT_EQ(provider_.asked, 5);
}

TEST_F(TimeRounds, ShareAProcessHoweverShortWhereProcessesDoNotDiffer) {
  provider_.short_calls_vary = false;
  rounds_of({.rounds = 5}, "0.0005");
  EXPECT_EQ(provider_.asked, 1);
}

}  // namespace
}  // namespace hone::tune
