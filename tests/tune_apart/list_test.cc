// A list of dispatches that is stopped or killed in the middle goes on where it was.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include "tests/tune_apart/apart_session.h"
#include "tune/dispatch/dispatch_list.h"

namespace hone::tune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ApartList : public ApartSession {
 protected:
  void SetUp() override {
    ApartSession::SetUp();
    options_.candidates = 3;
    options_.budget_seconds = 30;
  }

  // Of three products, of 32, 48 and 64 rows.
  Result<TunedList> tune(const std::function<Status(const TunedList&)>& after_each) {
    return in_context([&](Context& context) -> Result<TunedList> {
      context.programs = nullptr;
      DispatchList list{"sizes.yaml", "three sizes", {}};
      for (const char* rows : {"32", "48", "64"}) {
        HONE_ASSIGN(const problem::Program program,
                    context.compiler.load_program({"product.mlir", product(rows), options_.flags}));
        list.dispatches.push_back(program.dispatches.at(0));
      }
      store::Run run;
      run.command = "hone tune sizes.yaml";
      return tune_list(context, run, list, [&](const TunedList& so_far) {
        finished_.push_back(so_far.tuned.size());
        return after_each(so_far);
      });
    });
  }

  static std::string product(const std::string& rows) {
    const std::string a = "tensor<" + rows + "x64xf32>";
    return "func.func @product(%a: " + a + ", %b: tensor<64x64xf32>, %c: " + a + ") -> " + a +
           " {\n  %r = linalg.matmul ins(%a, %b : " + a + ", tensor<64x64xf32>) outs(%c : " + a +
           ") -> " + a + "\n  return %r : " + a + "\n}\n";
  }

  static Status go_on(const TunedList&) { return {}; }

  // After the first that was finished: the runs, the selections of each dispatch in the order of
  // the list, and what the callbacks of the run that continues are told.
  void expect_continued(store::RunState first) {
    finished_.clear();
    const auto tuned = tune(go_on);
    ASSERT_TRUE(tuned) << tuned.error().message;
    EXPECT_EQ(tuned->tuned.size(), 3u);
    EXPECT_THAT(finished_, ElementsAre(1, 2, 3));
    const auto runs = store_.runs().value();
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].state, first);
    EXPECT_EQ(runs[1].state, store::RunState::kFinished);
    std::vector<store::Id> of_first, of_second;
    const std::vector<store::Selection> selections = store_.selections().value();
    for (const store::Selection& selection : selections)
      (selection.run == runs[0].id ? of_first : of_second).push_back(selection.dispatch);
    EXPECT_THAT(of_first, ElementsAre(tuned->tuned[0].id));
    EXPECT_THAT(of_second, ElementsAre(tuned->tuned[1].id, tuned->tuned[2].id));
  }

  std::vector<std::size_t> finished_;  // how many, each time it was told
};

TEST_F(ApartList, GoesOnAfterItWasStopped) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  stop_fd_ = ends[0];
  const auto stopped = tune([&](const TunedList&) -> Status {
    return ::write(ends[1], "x", 1) == 1 ? Status() : failure("cannot stop");
  });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, ErrorKind::kInterrupted);
  EXPECT_THAT(finished_, ElementsAre(1));
  stop_fd_ = -1;
  expect_continued(store::RunState::kInterrupted);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(ApartList, GoesOnAfterItWasKilled) {
  { const store::Store closed = std::move(store_); }  // no store goes through a fork
  const auto open = [this] {
    store_ =
        std::move(store::Store::open(folder_.path() / "a.db", store::Mode::kReadWrite).value());
  };
  const pid_t child = ::fork();
  if (child == 0) {
    open();
    const auto killed = tune([](const TunedList&) -> Status {
      ::raise(SIGKILL);
      return {};
    });
    ::_exit(killed ? 1 : 2);
  }
  open();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  expect_continued(store::RunState::kInterrupted);
}

TEST_F(ApartList, WhatCannotBeToldEndsItAndIsKept) {
  const auto failed = tune([](const TunedList&) -> Status { return failure("no space left"); });
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("no space left"));
  expect_continued(store::RunState::kFailed);
}

}  // namespace
}  // namespace hone::tune
