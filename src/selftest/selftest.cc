#include "selftest/selftest.h"

#include <algorithm>

#include "base/stopwatch.h"
#include "selftest/time_checks.h"

namespace hone::selftest {
namespace {

Recorded recorded_in(const nlohmann::json& document) {
  return {document.value("kernels", nlohmann::json::object()),
          document.value("devices", nlohmann::json::object())};
}

}  // namespace

const std::vector<std::string>& check_names() {
  static const std::vector<std::string> kNames = {"doctor", "facts",    "copies",  "kernels",
                                                  "guards", "faults",   "events",  "clock",
                                                  "noise",  "rotation", "library", "tuning"};
  return kNames;
}

Result<Recorded> read_recorded(const std::string& path) {
  std::string text;
  if (path.empty()) {
    for (const EmbeddedFile& file : programs())
      if (file.name == "recorded.json") text = file.text;
  } else {
    HONE_ASSIGN(text, read_file(path));
  }
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  for (const char* key : {"kernels", "devices"})
    if (!document.is_object() || !document.contains(key) || !document.at(key).is_object())
      return input_error("'{}' is no report of hone selftest: it has no object \"{}\"", path, key);
  return recorded_in(document);
}

Status check_device(Bench& bench, const Recorded& recorded, const std::vector<std::string>& only,
                    const std::function<void(const Check&)>& done) {
  const auto is_wanted = [&](std::string_view name) {
    return only.empty() || std::ranges::find(only, name) != only.end();
  };
  const auto run = [&](const char* name, const std::function<Result<Check>()>& check) -> Status {
    if (!is_wanted(name)) return {};
    const Stopwatch watch;
    Result<Check> result = check();
    HONE_TRY(all_but_failure(result));
    // A failure of the machinery is the check's: the others go on.
    if (!result)
      result = Check{.name = name, .outcome = Outcome::kFailed, .found = result.error().message};
    result->seconds = watch.seconds();
    done(*result);
    return {};
  };
  HONE_TRY(run("facts", [&] { return check_facts(bench.place(), recorded); }));
  HONE_ASSIGN(const TestKernels own, bench.compile("checks.mlir", /*references=*/false));
  TestKernels many;
  if (is_wanted("kernels") || is_wanted("library")) {
    HONE_ASSIGN(many, bench.compile("kernels.mlir", /*references=*/true));
  }
  HONE_TRY(run("copies", [&] { return check_copies(bench, own); }));
  HONE_TRY(run("kernels", [&] { return check_kernels(bench, many, recorded); }));
  HONE_TRY(run("guards", [&] { return check_guards(bench, own); }));
  HONE_TRY(run("faults", [&] { return check_faults(bench, own); }));
  HONE_TRY(run("events", [&] { return check_events(bench, own); }));
  HONE_TRY(run("clock", [&] { return check_clock(bench, own, recorded); }));
  HONE_TRY(run("noise", [&] { return check_noise(bench); }));
  HONE_TRY(run("rotation", [&] { return check_rotation(bench, own); }));
  return run("library", [&] { return check_library(bench, many); });
}

}  // namespace hone::selftest
