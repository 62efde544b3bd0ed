#include "trial/compile_service.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <deque>

namespace hone::trial {
namespace {

using ::testing::ElementsAre;

// Answers what the compile workers do about whole programs, and keeps what it was asked.
class AskedPool final : public worker::WorkerPool {
 public:
  std::vector<worker::Message> asked;

  Result<worker::Outcome> once(const worker::Message& job) override {
    asked.push_back(job);
    if (job.kind == provider::jobs::kLoadProgram) return done(problem::Program(), of_loads);
    const bool half = job.kind == provider::jobs::kFrontendIr;
    return done(nlohmann::json::object(), {half ? "half" : "module of " + job.blobs.at(0)});
  }
  std::vector<std::string> of_loads;  // blobs of their answers
  std::size_t begun() const { return begun_.size(); }
  std::optional<Begun> begin_once(const worker::Message& job) override {
    begun_.push_back(job);
    return begun_.size() - 1;
  }
  Result<worker::Outcome> end_once(Begun begun) override { return once(begun_.at(begun)); }

  Result<worker::Outcome> prepare(const std::string&, const worker::Message&) override {
    return done({}, {});
  }
  Status release(const std::string&) override { return {}; }
  Status submit(const std::string&, worker::JobId, const worker::Message&) override { return {}; }
  Result<std::optional<worker::Finished>> next_finished(double) override {
    return std::optional<worker::Finished>();
  }
  std::size_t outstanding() const override { return 0; }
  Status cancel(const std::string&) override { return {}; }

 private:
  static worker::Outcome done(nlohmann::json body, std::vector<std::string> blobs) {
    return worker::Message{"done", std::move(body), std::move(blobs)};
  }
  std::vector<worker::Message> begun_;
};

// Compiles nothing by itself: a test says what finishes.
class HeldPool final : public worker::WorkerPool {
 public:
  struct Held {
    std::string key;
    worker::JobId id = 0;
  };
  std::vector<Held> submitted;  // that are outstanding, in their order
  std::size_t cancelled = 0;

  void finish(const std::string& key) {
    const auto held = std::ranges::find(submitted, key, &Held::key);
    finished_.push_back(
        {held->id,
         worker::Message{"artifact",
                         {{"format", "held"}, {"launch", provider::Launch()}, {"configured", ""}},
                         {"code of " + key}}});
    submitted.erase(held);
  }

  Result<worker::Outcome> once(const worker::Message&) override {
    return failure("not asked for here");
  }
  Result<worker::Outcome> prepare(const std::string&, const worker::Message&) override {
    return worker::Outcome(worker::Message{"prepared", nlohmann::json::object(), {}});
  }
  Status release(const std::string& key) override {
    std::erase_if(submitted, [&](const Held& each) { return each.key == key; });
    return {};
  }
  Status submit(const std::string& key, worker::JobId id, const worker::Message&) override {
    submitted.push_back({key, id});
    return {};
  }
  Result<std::optional<worker::Finished>> next_finished(double) override {
    if (finished_.empty()) return std::optional<worker::Finished>();
    std::optional<worker::Finished> next = std::move(finished_.front());
    finished_.pop_front();
    return next;
  }
  std::size_t outstanding() const override { return submitted.size() + finished_.size(); }
  Status cancel(const std::string& key) override {
    ++cancelled;
    return release(key);
  }

 private:
  std::deque<worker::Finished> finished_;
};

std::string code_of(const std::optional<CompiledCandidate>& finished) {
  return finished && finished->artifact ? finished->artifact->code : "none";
}

TEST(CompileService, KeepsWhatFinishesForItsDispatch) {
  HeldPool pool;
  CompileService compiler(pool);
  ASSERT_TRUE(compiler.prepare({"first", "source", {}}));
  ASSERT_TRUE(compiler.prepare({"second", "source", {}}));
  ASSERT_TRUE(compiler.submit("first", {}));
  ASSERT_TRUE(compiler.submit("second", {}));
  pool.finish("second");
  EXPECT_EQ(code_of(compiler.next_finished("first", 0).value()), "none");
  pool.finish("first");
  EXPECT_EQ(code_of(compiler.next_finished("first", 0).value()), "code of first");
  EXPECT_EQ(code_of(compiler.next_finished("second", 0).value()), "code of second");
  EXPECT_EQ(code_of(compiler.next_finished("second", 0).value()), "none");
}

TEST(CompileService, CancelsTheCandidatesOfOneDispatchAlone) {
  HeldPool pool;
  CompileService compiler(pool);
  for (const char* const key : {"first", "second", "third"}) {
    ASSERT_TRUE(compiler.prepare({key, "source", {}}));
    ASSERT_TRUE(compiler.submit(key, {}));
  }
  ASSERT_TRUE(compiler.submit("first", {}));
  for (const char* const key : {"first", "third"}) pool.finish(key);
  ASSERT_TRUE(compiler.cancel("first"));
  EXPECT_EQ(pool.cancelled, 1u);
  ASSERT_EQ(pool.submitted.size(), 1u);
  EXPECT_EQ(pool.submitted.front().key, "second");
  pool.finish("second");
  EXPECT_EQ(code_of(compiler.next_finished("first", 0).value()), "none");
  EXPECT_EQ(code_of(compiler.next_finished("second", 0).value()), "code of second");
  EXPECT_EQ(code_of(compiler.next_finished("third", 0).value()), "code of third");
  ASSERT_TRUE(compiler.cancel("first"));  // it has none
  EXPECT_EQ(pool.cancelled, 1u);
}

TEST(CompileService, TakesWhatWasCompiledAhead) {
  HeldPool pool;
  CompileService compiler(pool);
  const DispatchToPrepare dispatch{"product", "source", {}};
  const provider::Payload likely{{{"tile", 8}}}, unlikely{{{"tile", 4}}};
  ASSERT_TRUE(compiler.compile_ahead(dispatch, {std::nullopt, unlikely, likely}));
  ASSERT_EQ(pool.submitted.size(), 3u);
  const std::vector<HeldPool::Held> begun = pool.submitted;
  for (int i = 0; i < 3; ++i) pool.finish("product");
  const auto compiled = compiler.compile_alone(dispatch, {likely, std::nullopt});
  ASSERT_TRUE(compiled);
  ASSERT_EQ(compiled->size(), 2u);
  EXPECT_EQ(compiled->at(0).id, begun[2].id);
  EXPECT_EQ(compiled->at(1).id, begun[0].id);
  EXPECT_EQ(code_of(compiler.next_finished("product", 0).value()), "none");  // it is released
}

TEST(CompileService, SplitsAndCompilesAProgramFromOneFrontendIr) {
  AskedPool pool;
  CompileService compiler(pool);
  const std::vector<std::string> flags = {"--flag"};
  const ProgramToCompile program{"program.mlir", "program", flags, flags};
  compiler.prefetch_compile(program);
  ASSERT_TRUE(compiler.load_program({"program.mlir", "program", flags, flags}));
  const auto compiled = compiler.compile_each({program});
  ASSERT_TRUE(compiled);
  EXPECT_EQ(compiled->at(0).value(), "module of half");

  ASSERT_EQ(pool.asked.size(), 3u);
  EXPECT_EQ(pool.asked[0].kind, provider::jobs::kFrontendIr);
  EXPECT_THAT(pool.asked[0].blobs, ElementsAre("program"));
  EXPECT_EQ(pool.asked[1].kind, provider::jobs::kLoadProgram);
  EXPECT_THAT(pool.asked[1].blobs, ElementsAre("program", "half"));
  EXPECT_EQ(pool.asked[2].kind, provider::jobs::kCompileProgram);
  EXPECT_THAT(pool.asked[2].blobs, ElementsAre("half"));
}

// The flag search and the split after it both begin to load the same program.
TEST(CompileService, BeginsALoadAheadOnce) {
  AskedPool pool;
  CompileService compiler(pool);
  const ProgramToCompile program{"program.mlir", "program", {"--flag"}};
  compiler.prefetch_load(program);
  compiler.prefetch_load(program);
  EXPECT_EQ(pool.begun(), 1u);
  ASSERT_TRUE(compiler.load_program(program));
  EXPECT_EQ(pool.asked.size(), 1u);
  compiler.prefetch_load(program);  // it was taken: the next one is another
  EXPECT_EQ(pool.begun(), 2u);
}

TEST(CompileService, SharesWhatTheFirstPhaseMakesOfAProgram) {
  AskedPool pool;
  pool.of_loads = {"", "converted"};
  CompileService compiler(pool);
  ProgramToCompile program{.path = "program.mlir", .bytes = "program", .flags = {"--one"}};
  program.shares_converted = true;
  ProgramToCompile other = program, apart = program, ahead = program;
  other.flags = {"--other"};
  ahead.flags = {"--ahead"};
  apart.shares_converted = false;
  compiler.prefetch_load(ahead);  // before it is known
  for (const ProgramToCompile& each : {program, other, apart, ahead})
    ASSERT_TRUE(compiler.load_program(each));
  ASSERT_EQ(pool.asked.size(), 4u);
  EXPECT_THAT(pool.asked[0].blobs, ElementsAre("program"));
  EXPECT_EQ(pool.asked[0].body.at("converted"), true);
  EXPECT_THAT(pool.asked[1].blobs, ElementsAre("program", "converted"));
  EXPECT_THAT(pool.asked[2].blobs, ElementsAre("program"));
  EXPECT_FALSE(pool.asked[2].body.contains("converted"));
  EXPECT_THAT(pool.asked[3].blobs, ElementsAre("program"));  // as it was begun
}

TEST(CompileService, DoesNotCompileAheadWhatItKnows) {
  AskedPool pool;
  CompileService compiler(pool);
  const ProgramToCompile program{"program.mlir", "program", {"--flag"}};
  ASSERT_TRUE(compiler.compile_program(program));
  compiler.prefetch_compile(program);
  EXPECT_EQ(pool.begun(), 0u);
  ASSERT_TRUE(compiler.compile_program(program));
  EXPECT_EQ(pool.asked.size(), 1u);
}

TEST(CompileService, AsksForAFrontendIrThatItDoesNotKnow) {
  AskedPool pool;
  CompileService compiler(pool);
  const std::vector<std::string> no_flags;
  ASSERT_TRUE(compiler.load_program({"program.mlir", "program", no_flags, no_flags}));
  ASSERT_TRUE(compiler.load_program({"program.mlir", "program", {}}));
  ASSERT_EQ(pool.asked.size(), 2u);
  EXPECT_THAT(pool.asked[0].blobs, ElementsAre("program"));
  EXPECT_TRUE(pool.asked[0].body.value("front_half", false));
  EXPECT_FALSE(pool.asked[1].body.contains("front_half"));
}

// A split is used once: the next load of the same program asks again, and so does one under other
// flags.
TEST(CompileService, AKeptProgramIsNotLoadedAgain) {
  AskedPool pool;
  CompileService compiler(pool);
  const std::vector<std::string> flags{"--fused"};
  const ProgramToCompile program{"program.mlir", "program", flags, flags};
  problem::Program kept;
  kept.called = "kept";
  compiler.keep_loaded(program, kept);
  EXPECT_EQ(compiler.load_program({"program.mlir", "program", {}})->called, "");
  EXPECT_EQ(compiler.load_program(program)->called, "kept");
  EXPECT_EQ(pool.asked.size(), 1u) << "under other flags";
  EXPECT_EQ(compiler.load_program(program)->called, "");
}

}  // namespace
}  // namespace hone::trial
