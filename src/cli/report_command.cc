// hone report: renders a store as one HTML file, or as a trace.
#include "cli/command.h"
#include "output/report_page.h"
#include "output/trace_file.h"
#include "store/store.h"

namespace hone::cli {
namespace {

struct ReportOptions {
  std::string store = "hone.db";
  std::string output = "report.html";
  std::string trace;         // file; empty: none
  bool writes_page = false;  // beside a trace
};

CommandResult report(const ReportOptions& options) {
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadOnly));
  if (!options.trace.empty()) {
    HONE_TRY(output::write_trace(store, options.trace));
    fmt::print("trace: {} (open it at https://ui.perfetto.dev)\n", options.trace);
    if (!options.writes_page) return 0;
  }
  HONE_TRY(output::write_report(store, options.store, options.output));
  fmt::print("report: {}\n", options.output);
  return 0;
}

}  // namespace

void add_report_command(CLI::App& app, Action& run) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "Write a store as one HTML page");
  add_default_option(*command, "STORE", options->store, "store (SQLite file)");
  const CLI::Option* const page =
      add_default_option(*command, "-o,--output", options->output, "file to write");
  command
      ->add_option("--trace", options->trace,
                   "write the runs as a timeline for Perfetto; no page unless -o is given")
      ->type_name("FILE");
  command->callback([&run, options, page] {
    options->writes_page = page->count() > 0;
    run = [options] { return report(*options); };
  });
}

}  // namespace hone::cli
