#include "output/junit.h"

#include <gtest/gtest.h>

namespace hone::output {
namespace {

TEST(Junit, HasCountsAndEscapesWhatXmlReserves) {
  using enum TestCase::State;
  EXPECT_EQ(junit_xml("check \"a\"", {{"dispatch_0", "default"},
                                      {"dispatch_0", "tuned", kFailed, "slower", "1 < 2\n& 3"},
                                      {"dispatch_1", "default", kSkipped, "", "an emulator's"}}),
            R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="3" failures="1" skipped="1">
<testsuite name="check &quot;a&quot;" tests="3" failures="1" skipped="1">
<testcase classname="dispatch_0" name="default"/>
<testcase classname="dispatch_0" name="tuned"><failure type="slower" message="1 &lt; 2&#10;&amp; 3"/></testcase>
<testcase classname="dispatch_1" name="default"><skipped message="an emulator's"/></testcase>
</testsuite>
</testsuites>
)");
}

}  // namespace
}  // namespace hone::output
