#include <gtest/gtest.h>

#include "provider/message.h"
#include "trial/compile_service.h"

namespace hone::trial {
namespace {

TEST(CompiledPrograms, JobsDifferByAllThatTheySay) {
  provider::Message job;
  job.kind = "compile_program";
  job.body = {{"flags", {"--a"}}};
  job.blobs = {"module @m {}"};
  const std::string key = provider::key_of(job);
  EXPECT_EQ(provider::key_of(job), key);
  provider::Message other = job;
  other.kind = "load_program";
  EXPECT_NE(provider::key_of(other), key);
  other = job;
  other.body["flags"].push_back("--b");
  EXPECT_NE(provider::key_of(other), key);
  other = job;
  other.blobs[0] = "module @n {}";
  EXPECT_NE(provider::key_of(other), key);
}

TEST(CompiledPrograms, TheOldestAreForgottenWhereAllAreTooMuch) {
  CompiledPrograms programs(1000);
  const std::string large(400, 'x');
  for (const char* key : {"a", "b"}) programs.keep(key, large);
  ASSERT_TRUE(programs.find("a") && programs.find("b"));
  const auto held = programs.find("a");
  programs.keep("c", large);
  EXPECT_FALSE(programs.find("a"));
  EXPECT_EQ(held->size(), large.size());  // whoever has it keeps it
  EXPECT_TRUE(programs.find("b") && programs.find("c"));
  EXPECT_EQ(programs.keep("b", "small")->size(), 5);
  EXPECT_EQ(*programs.find("b"), "small");
  EXPECT_EQ(programs.keep("d", std::string(1001, 'x'))->size(), 1001);
  EXPECT_FALSE(programs.find("d"));
  EXPECT_TRUE(programs.find("b") && programs.find("c"));
}

}  // namespace
}  // namespace hone::trial
