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
  // Of a program that takes so many seconds.
  std::size_t rounds_of(const ProgramRounds& request, const std::string& seconds = "0.5") {
    provider::ProgramCall call;
    call.module = folder_.path() / "module";
    EXPECT_TRUE(write_file_atomically(call.module, seconds));
    SilentObserver observer;
    const auto times = time_rounds(provider_, {call, call}, request, observer);
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
