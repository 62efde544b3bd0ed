#include "cli/profile_output.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "output/json_text.h"
#include "output/report_page.h"
#include "profiler/profile_report.h"
#include "provider/iree/compiler/runtime_tools.h"

namespace hone::cli {
namespace {

bool ends_in(const std::string& path, std::string_view extension) {
  return std::filesystem::path(path).extension() == extension;
}

std::string heading_of(std::string_view csv) {
  std::string heading(csv.substr(0, csv.find('\n')));
  if (heading.ends_with('\r')) heading.pop_back();
  return heading;
}

// Returns the heading of the columns, which do not depend on the rows.
std::string heading_with(const profiler::Tags& tags) {
  return heading_of(profiler::profile_table({}, tags, {}).to_csv());
}

// Returns shell lines that repeat the rows without hone: a file's compile, then its functions'
// benchmarks.
std::string commands_of(std::span<const profiler::ProfileRow> rows, const ProgramSession& session) {
  const tune::Options& tuning = session.context.options;
  const std::filesystem::path& generated_dir = tuning.out;
  std::vector<std::string> flags, device;
  for (const std::string& flag : tuning.flags) flags.push_back(shell_word(flag));
  for (const std::string& flag : iree::device_flags(tuning.place().address))
    device.push_back(shell_word(flag));
  std::string text = "#!/bin/sh\n# By hone profile: each dispatch without hone.\nset -e\n";
  std::set<std::string> compiled;
  for (const profiler::ProfileRow& row : rows) {
    if (row.provider != profiler::kCompilersProvider || !row.timing) continue;
    const profiler::OperationFiles files(generated_dir, row.operation);
    const std::string module = shell_word((files.folder() / "profile_cmds.vmfb").string());
    if (compiled.insert(module).second)
      text += fmt::format("iree-compile {} {} -o {}\n", shell_word(files.source().string()),
                          fmt::join(flags, " "), module);
    std::string inputs;
    for (const problem::TensorType& type : row.operation.inputs())
      inputs += " --input=" + problem::to_string(type) + "=1";
    text += fmt::format("iree-benchmark-module --module={} --function={}{} {}\n", module,
                        profiler::NamedDispatch{row.operation, row.configuration}.name(), inputs,
                        fmt::join(device, " "));
  }
  return text;
}

Status append_rows(const std::string& path, const std::string& csv) {
  if (!std::filesystem::exists(path)) return write_file_atomically(path, csv);
  HONE_ASSIGN(std::string text, read_file(path));
  if (!text.empty() && !text.ends_with('\n')) text += "\r\n";
  return write_file_atomically(path, text + csv.substr(csv.find('\n') + 1));
}

}  // namespace

void add_profile_output_options(CLI::App& command, ProfileOutputOptions& options) {
  command.add_option("--output", options.output, "write the table to FILE.csv or FILE.json");
  command.add_flag("--append", options.append, "append to the CSV file, without a heading");
  command.add_option("--tags", options.tags, "add first columns NAME:VALUE, comma-separated");
  command.add_option("--junit", options.junit, "write JUnit XML, a test case per dispatch");
  command.add_option("--report", options.report, "write an HTML page with roofline and heat map");
  command
      .add_option("--save-cmds", options.save_cmds,
                  "write a shell script that repeats it with IREE's tools")
      ->expected(0, 1)
      ->default_str("profile_cmds.sh");
  command.add_flag("--json", options.json, "print the table as one JSON document");
}

Status check_output(const ProfileOutputOptions& options) {
  HONE_ASSIGN(const profiler::Tags tags, profiler::read_tags(options.tags));
  const bool csv = ends_in(options.output, ".csv");
  if (!options.output.empty() && !csv && !ends_in(options.output, ".json"))
    return input_error("--output '{}': the file's name ends in .csv or .json", options.output);
  if (!options.append) return {};
  if (!csv) return input_error("--append goes with --output FILE.csv");
  if (!std::filesystem::exists(options.output)) return {};
  HONE_ASSIGN(const std::string text, read_file(options.output));
  const std::string heading = heading_of(text), wanted = heading_with(tags);
  if (text.empty() || heading == wanted) return {};
  return input_error("--append: '{}' has other columns ({}), not {}", options.output, heading,
                     wanted);
}

Status write_profile(const ProfileOutputOptions& options,
                     std::span<const profiler::ProfileRow> rows, const ProgramSession& session) {
  if (!options.junit.empty())
    HONE_TRY(write_file_atomically(options.junit, profiler::junit_text(rows)));
  if (!options.save_cmds.empty())
    HONE_TRY(write_file_atomically(options.save_cmds, commands_of(rows, session)));
  HONE_ASSIGN(const output::Peaks peaks, output::peaks_of(session.store, session.context.device));
  if (!options.report.empty())
    HONE_TRY(write_file_atomically(options.report, output::report_page(profiler::profile_page_data(
                                                       rows, peaks, session.options.store))));
  HONE_ASSIGN(const profiler::Tags tags, profiler::read_tags(options.tags));
  const output::Table table = profiler::profile_table(rows, tags, peaks);
  if (options.json) output::print_json(table.to_json());
  if (options.output.empty()) return {};
  if (ends_in(options.output, ".json"))
    HONE_TRY(write_file_atomically(options.output, output::json_text(table.to_json()) + "\n"));
  else if (options.append)
    HONE_TRY(append_rows(options.output, table.to_csv()));
  else
    HONE_TRY(write_file_atomically(options.output, table.to_csv()));
  if (!options.json) fmt::print("\nWriting performance report to {}\n", options.output);
  return {};
}

void print_profile_summary(std::span<const profiler::ProfileRow> rows,
                           const profiler::ProfileSpent& spent, double seconds) {
  std::size_t dispatches = 0, right = 0, wrong = 0, known = 0;
  for (const profiler::ProfileRow& row : rows) {
    if (row.provider != profiler::kCompilersProvider) continue;
    ++dispatches;
    right += row.verified == profiler::Verified::kSuccess ? 1 : 0;
    wrong += row.verified == profiler::Verified::kFailed ? 1 : 0;
    known += row.known ? 1 : 0;
  }
  const double all = std::max(seconds, 1e-9);
  const auto share = [all](double part) { return 100 * part / all; };
  say("{} dispatches: {} correct, {} failed, {} not verified; {} of them known before. {:.1f} "
      "s, {:.1f} dispatches a second: splitting {:.0f} %, compiling {:.0f} %, expected "
      "results {:.0f} %, verifying {:.0f} %, measuring {:.0f} %, libraries {:.0f} %\n",
      dispatches, right, wrong, dispatches - right - wrong, known, seconds,
      static_cast<double>(dispatches) / all, share(spent.load), share(spent.compile),
      share(spent.expected), share(spent.verify), share(spent.measure), share(spent.libraries));
}

}  // namespace hone::cli
