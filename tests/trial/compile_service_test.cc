#include "trial/compile_service.h"

#include <gmock/gmock.h>

namespace hone::trial {
namespace {

using ::testing::ElementsAre;

// Answers what the compile workers do about whole programs, and keeps what it was asked.
class AskedPool final : public worker::WorkerPool {
 public:
  std::vector<worker::Message> asked;

  Result<worker::Outcome> once(const worker::Message& job) override {
    asked.push_back(job);
    if (job.kind == provider::jobs::kLoadProgram) return done(problem::Program(), {});
    const bool half = job.kind == provider::jobs::kFrontendIr;
    return done(nlohmann::json::object(), {half ? "half" : "module of " + job.blobs.at(0)});
  }
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
  Status cancel_all() override { return {}; }

 private:
  static worker::Outcome done(nlohmann::json body, std::vector<std::string> blobs) {
    return worker::Message{"done", std::move(body), std::move(blobs)};
  }
  std::vector<worker::Message> begun_;
};

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

}  // namespace
}  // namespace hone::trial
