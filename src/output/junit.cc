#include "output/junit.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone::output {
namespace {

// Replaces what XML 1.0 reserves, and control characters, which it cannot hold.
std::string escaped(std::string_view text) {
  std::string all;
  for (const char c : text) {
    switch (c) {
      case '&':
        all += "&amp;";
        break;
      case '<':
        all += "&lt;";
        break;
      case '>':
        all += "&gt;";
        break;
      case '"':
        all += "&quot;";
        break;
      case '\n':
        all += "&#10;";
        break;
      default:
        all += static_cast<unsigned char>(c) < ' ' && c != '\t' ? ' ' : c;
    }
  }
  return all;
}

}  // namespace

std::string junit_xml(std::string_view suite, const std::vector<TestCase>& cases) {
  using enum TestCase::State;
  const std::string counts = fmt::format(R"(tests="{}" failures="{}" skipped="{}")", cases.size(),
                                         std::ranges::count(cases, kFailed, &TestCase::state),
                                         std::ranges::count(cases, kSkipped, &TestCase::state));
  std::string xml = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {0}>\n<testsuite name=\"{1}\" "
      "{0}>\n",
      counts, escaped(suite));
  for (const TestCase& each : cases) {
    xml += fmt::format(R"(<testcase classname="{}" name="{}")", escaped(each.group),
                       escaped(each.name));
    if (each.state == kPassed)
      xml += "/>\n";
    else if (each.state == kFailed)
      xml += fmt::format("><failure type=\"{}\" message=\"{}\"/></testcase>\n", escaped(each.kind),
                         escaped(each.text));
    else
      xml += fmt::format("><skipped message=\"{}\"/></testcase>\n", escaped(each.text));
  }
  return xml + "</testsuite>\n</testsuites>\n";
}

}  // namespace hone::output
