#include "cli/device_list.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/exact_json.h"
#include "base/process.h"
#include "cli/providers.h"
#include "cli/toolchain.h"

namespace hone::cli {
namespace {

// A driver that has not answered by then does not.
constexpr ProcessLimits kLimits{.seconds = 60};

constexpr std::pair<ErrorKind, std::string_view> kErrorKinds[] = {
    {ErrorKind::kInput, "input"},
    {ErrorKind::kEnvironment, "environment"},
    {ErrorKind::kFailure, "failure"},
    {ErrorKind::kInterrupted, "interrupted"}};

Result<std::vector<device::Place>> answer_in(const std::string& text) {
  try {
    const nlohmann::json answer = nlohmann::json::parse(text);
    if (const auto error = answer.find("error"); error != answer.end())
      return tl::unexpected(
          Error{named(error->at("kind"), kErrorKinds), error->at("message").get<std::string>()});
    return answer.at("places").get<std::vector<device::Place>>();
  } catch (const nlohmann::json::exception& error) {
    return environment_error("what it says cannot be read: {}", error.what());
  }
}

}  // namespace

Result<std::vector<device::Place>> list_places(const std::string& kind,
                                               const std::vector<int>& cores) {
  Command command{{own_executable(), "worker", "devices", kind}};
  if (!cores.empty()) {
    command.arguments.emplace_back("--cores");
    command.arguments.push_back(fmt::format("{}", fmt::join(cores, ",")));
  }
  HONE_ASSIGN(ProcessResult listed, run_process(command, kLimits));
  if (listed.signal != 0) {  // somebody may have killed it
    HONE_ASSIGN(listed, run_process(command, kLimits));
  }
  if (!listed.succeeded())
    return environment_error("the process that lists the devices of kind '{}' failed: {}{}{}", kind,
                             describe(listed, kLimits),
                             listed.standard_error.text().empty() ? "" : "; ",
                             listed.standard_error.text());
  return answer_in(listed.standard_output.text());
}

CommandResult print_places(const std::string& kind, const std::vector<int>& cores) {
  const std::vector<device::DeviceKind> kinds = device_kinds();
  const auto found = std::ranges::find(kinds, kind, &device::DeviceKind::name);
  if (found == kinds.end()) return input_error("there are no devices of kind '{}'", kind);
  nlohmann::json answer;
  if (const auto places = found->places(cores))
    answer["places"] = *places;
  else
    answer["error"] = {{"kind", name_in(kErrorKinds, places.error().kind)},
                       {"message", places.error().message}};
  fmt::print("{}\n", answer.dump());
  return 0;
}

}  // namespace hone::cli
