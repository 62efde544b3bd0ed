#include "base/python_environments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hone {
namespace {

using ::testing::ElementsAre;

TEST(PythonEnvironments, TheOneThatHoneIsInstalledInComesFirst) {
  EXPECT_THAT(python_environments("/opt/tuning/bin/hone", "/models"),
              ElementsAre("/opt/tuning", "/opt/tuning/bin/.venv", "/opt/tuning/.venv", "/opt/.venv",
                          "/models/.venv"));
}

TEST(PythonEnvironments, AFolderOfBuildsIsNone) {
  EXPECT_THAT(python_environments("/src/hone/build/hone", "/src"),
              ElementsAre("/src/hone/build/.venv", "/src/hone/.venv", "/src/.venv", "/src/.venv"));
}

}  // namespace
}  // namespace hone
