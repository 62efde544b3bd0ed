// JUnit's XML, which CI systems show as test results. Elements and attributes are those that
// Jenkins' xUnit schema and GitLab read: testsuites, testsuite, testcase, failure, skipped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::output {

struct TestCase {
  enum class State { kPassed, kFailed, kSkipped };

  std::string group, name;
  State state = State::kPassed;
  std::string kind = {};  // of a failure: "slower"
  std::string text = {};  // of a failure, or why it was skipped
};

std::string junit_xml(std::string_view suite, const std::vector<TestCase>& cases);

}  // namespace hone::output
