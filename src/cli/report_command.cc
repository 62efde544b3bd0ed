// hone report: renders a store as one HTML file.
#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "output/report_page.h"
#include "store/store.h"

namespace hone::cli {
namespace {

struct ReportOptions {
  std::string store = "hone.db";
  std::string output = "report.html";
};

CommandResult report(const ReportOptions& options) {
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadOnly));
  HONE_TRY(output::write_report(store, options.store, options.output));
  fmt::print("report: {}\n", options.output);
  return 0;
}

}  // namespace

void add_report_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "Write a store as one HTML page");
  command->add_option("STORE", options->store, "store (SQLite file)")->capture_default_str();
  command->add_option("-o,--output", options->output, "file to write")->capture_default_str();
  command->callback([&run, options] { run = [options] { return report(*options); }; });
}

}  // namespace hone::cli
