// hone store: lists and maintains a store.
#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "output/json_text.h"
#include "output/table.h"
#include "store/export.h"
#include "store/store.h"

namespace hone::cli {
namespace {

using enum output::Align;

struct StoreCommandOptions {
  std::string store = "hone.db";
  std::string format = "csv";
  std::string output;
  std::string other;
  std::vector<std::filesystem::path> others;
  bool json = false;
};

output::Table table_of(const std::vector<store::DispatchView>& rows) {
  output::Table table({{"dispatch", "dispatch"},
                       {"operation", "operation"},
                       {"device", "device"},
                       {"default_seconds", "default", kRight},
                       {"best_seconds", "best", kRight},
                       {"speedup", "speed-up", kRight},
                       {"tried", "tried", kRight},
                       {"compiled", "compiled", kRight},
                       {"right", "right", kRight},
                       {"wrong", "wrong", kRight},
                       {"failed", "failed", kRight},
                       {"best_candidate", "best id", kRight}});
  const auto time = [](const std::optional<store::CandidateView>& row) {
    return output::time_cell(row ? row->median_seconds : std::nullopt);
  };
  for (const store::DispatchView& row : rows) {
    std::int64_t failed = 0;
    for (const auto& [kind, count] : row.failed) failed += count;
    table.add({{row.name, ""},
               {row.operation, row.operation.empty() ? "-" : ""},
               {row.device_name, row.device_name.empty() ? "-" : ""},
               time(row.default_row),
               time(row.best),
               output::number_cell(row.speedup, "x", 2),
               {row.tried, ""},
               {row.compiled, ""},
               {row.right, ""},
               {row.wrong, ""},
               {row.failed, fmt::format("{}", failed)},
               row.best ? output::Cell{row.best->candidate, ""} : output::Cell{nullptr, "-"}});
  }
  return table;
}

CommandResult list(const StoreCommandOptions& options) {
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadOnly));
  HONE_ASSIGN(const std::vector<store::DispatchView> rows, store.dispatch_rows());
  const output::Table table = table_of(rows);
  if (options.json)
    output::print_document({{"store", options.store}, {"dispatches", table.to_json()}});
  else
    fmt::print("{}", table.empty() ? "The store is empty.\n" : table.to_text());
  return 0;
}

CommandResult export_candidates(const StoreCommandOptions& options) {
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadOnly));
  HONE_ASSIGN(const std::vector<store::CandidateView> rows, store.candidate_rows());
  const std::string text = options.format == "json"
                               ? output::json_text(store::export_json(rows)) + "\n"
                               : store::export_csv(rows);
  if (options.output.empty())
    fmt::print("{}", text);
  else
    HONE_TRY(write_file_atomically(options.output, text));
  return 0;
}

void print(const store::RescueReport& report) {
  output::Table table({{"table", "table"}, {"saved", "saved", kRight}, {"lost", "lost", kRight}});
  for (const auto& [name, rows] : report)
    table.add({{name, ""},
               {rows.saved, ""},
               rows.lost ? output::Cell{*rows.lost, ""} : output::Cell{nullptr, "unknown"}});
  fmt::print("{}", table.to_text());
}

CommandResult check(const StoreCommandOptions& options) {
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadOnly));
  HONE_ASSIGN(const store::CheckReport report, store.check());
  for (const std::string& damage : report.damage) fmt::print("{}\n", damage);
  fmt::print("{}: {}\n", options.store, report.ok() ? "sound" : "damaged");
  if (report.ok()) return 0;
  const Result<store::RescueReport> rows = store.rescuable();
  fmt::print("\nRows that 'hone store rescue {} NEW' would save:\n", options.store);
  if (rows)
    print(*rows);
  else
    fmt::print("nothing: {}\n", rows.error().message);
  return 1;
}

CommandResult rescue(const StoreCommandOptions& options) {
  HONE_ASSIGN(const store::RescueReport rows, store::Store::rescue(options.store, options.other));
  print(rows);
  fmt::print("saved in '{}'\n", options.other);
  return 0;
}

CommandResult merge(const StoreCommandOptions& options) {
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadWrite));
  HONE_ASSIGN(const store::MergeReport report, store.merge(options.others));
  for (const auto& [table, rows] : report)
    if (rows > 0) fmt::print("{}: {} added\n", table, rows);
  return 0;
}

CommandResult collect_garbage(const StoreCommandOptions& options) {
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadWrite));
  HONE_ASSIGN(const std::int64_t bytes, store.gc());
  fmt::print("{} bytes freed\n", output::counted(bytes));
  return 0;
}

}  // namespace

void add_store_command(CLI::App& app, Action& run) {
  auto options = std::make_shared<StoreCommandOptions>();
  CLI::App* command = app.add_subcommand("store", "List, export, check and merge stores");
  command->require_subcommand(1);
  const auto add = [&](const std::string& name, const std::string& description,
                       CommandResult (*function)(const StoreCommandOptions&)) {
    CLI::App* each = command->add_subcommand(name, description);
    each->allow_extras();
    each->add_option("STORE", options->store, "store (SQLite file)")->capture_default_str();
    each->callback([&run, options, function] { run = [=] { return function(*options); }; });
    return each;
  };
  add("list", "List the dispatches: default, best, tried, failed", list)
      ->add_flag("--json", options->json, "print one JSON document");
  CLI::App* exporting = add("export", "Write every candidate as CSV or JSON", export_candidates);
  add_default_option(*exporting, "--format", options->format, "output format")
      ->check(CLI::IsMember({"csv", "json"}));
  exporting->add_option("-o,--output", options->output, "file to write [stdout]");
  add("check", "Look for damage, and count the rows that can be saved", check);
  add("rescue", "Copy the readable rows of a damaged store into a new one", rescue)
      ->add_option("NEW", options->other, "store to create")
      ->required();
  add("merge", "Add the results of other stores", merge)
      ->add_option("OTHER", options->others, "stores to read")
      ->required();
  add("gc", "Remove machine code that no result needs", collect_garbage);
}

}  // namespace hone::cli
