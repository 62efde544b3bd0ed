#include "cli/application.h"

#include <algorithm>
#include <cstdio>
#include <exception>

#include "base/text.h"
#include "cli/command.h"
#include "cli/old_spellings.h"
#include "cli/version.h"

namespace hone::cli {
namespace {

std::vector<std::string> names_of_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// CLI11 would only say that an argument was not expected.
Status refuse_extras(const CLI::App& app, const std::string& path = "hone") {
  for (const CLI::App* command : app.get_subcommands()) {
    const std::string words = path + " " + command->get_name();
    HONE_TRY(refuse_extras(*command, words));
    for (const std::string& extra : command->remaining(false)) {
      const std::string name = extra.substr(0, extra.find('='));
      if (name.rfind('-', 0) == 0)
        return input_error("{} has no option '{}'{}; {} --help lists them", words, name,
                           did_you_mean(name, names_of_options(*command)), words);
      return input_error("{} does not expect '{}'; {} --help shows its use", words, extra, words);
    }
  }
  return {};
}

int report(const Error& error) {
  fmt::print(stderr, "hone: {}\n", error.message);
  return exit_code_of(error.kind);
}

Status refuse_unknown_command(const CLI::App& app) {
  const std::vector<std::string> extras = app.remaining(false);
  if (extras.empty()) return {};
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({}))
    if (!command->get_group().empty()) names.push_back(command->get_name());
  return input_error("'{}' is no command of hone{}; there are: {}", extras.front(),
                     did_you_mean(extras.front(), names), fmt::join(names, ", "));
}

int parse_and_run(int argc, char** argv) {
  CLI::App app{
      "hone finds, proves and installs the fastest configuration of every kernel in a tensor "
      "program.",
      "hone"};
  app.set_version_flag("--version", std::string("hone ") + std::string(version()));
  app.require_subcommand(0, 1);
  app.allow_extras();
  app.footer(
      "Exit codes: 0 done; 1 finished with failures you should see; 2 wrong use or input;\n"
      "3 environment (no compiler, no device); 130 interrupted.");
  Run run;
  add_tune_command(app, run);
  add_compare_command(app, run);
  add_dispatches_command(app, run);
  add_space_command(app, run);
  add_verify_command(app, run);
  add_store_command(app, run);
  add_report_command(app, run);
  add_show_command(app, run);
  add_devices_command(app, run);
  add_spec_command(app, run);
  add_worker_command(app, run);
  for (CLI::App* command : app.get_subcommands({})) command->allow_extras();
  try {
    std::vector<std::string> words = with_new_spellings({argv + 1, argv + argc});
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return report({ErrorKind::kInput, error.what()});
  }
  if (const Status known = refuse_extras(app); !known) return report(known.error());
  if (const Status known = refuse_unknown_command(app); !known) return report(known.error());
  if (!run) {
    fmt::print("{}", app.help());
    return 2;
  }
  const CommandResult result = run();
  return result ? *result : report(result.error());
}

}  // namespace

int exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kFailure:
      return 1;
    case ErrorKind::kInput:
      return 2;
    case ErrorKind::kEnvironment:
      return 3;
    case ErrorKind::kInterrupted:
      return 130;
  }
  return 1;
}

int run(int argc, char** argv) {
  // The one place where exceptions of libraries (JSON of a damaged file, no memory) end.
  try {
    return parse_and_run(argc, argv);
  } catch (const std::exception& error) {
    return report({ErrorKind::kFailure, error.what()});
  }
}

}  // namespace hone::cli
