#include "cli/application.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "base/text.h"
#include "cli/command.h"
#include "cli/command_tree.h"
#include "cli/config_file.h"
#include "cli/help_command.h"
#include "cli/other_tools.h"
#include "session/session_options.h"

namespace hone::cli {
namespace {

std::vector<std::string> names_of_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

// Refuses extra arguments, with the nearest name; CLI11 would only say that they were not expected.
Status refuse_extras(const CLI::App& app, const std::string& path = "hone") {
  for (const CLI::App* command : app.get_subcommands()) {
    const std::string words = path + " " + command->get_name();
    HONE_TRY(refuse_extras(*command, words));
    if (command->get_prefix_command()) continue;  // they are for the command itself
    for (const std::string& extra : command->remaining(false)) {
      const std::string name = extra.substr(0, extra.find('='));
      if (name.rfind('-', 0) == 0)
        return input_error("{} has no option '{}'{}; {} --help lists them", words, name,
                           did_you_mean(name, names_of_options(*command)), words);
      if (command->get_name() == "tune" && extra.ends_with(".mlir"))
        return input_error(
            "{} takes one program; '{}' is a second word. Give the flags of an autotune.py mode "
            "(winograd, ...) with --compile-flags-file FILE, and the file of one dispatch with "
            "--benchmark FILE",
            words, extra);
      return input_error("{} does not expect '{}'; {} --help shows its use", words, extra, words);
    }
  }
  return {};
}

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

int report(const Error& error) {
  say("hone: {}\n", error.message);
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

// Returns whether the command reads the configuration files. Commands that help to repair one, and
// hone's own workers, must work with a broken file.
bool reads_config(const CommandNode& command) {
  return !command.path.empty() && command.path != "config" && command.path != "completion" &&
         command.path != "man" && command.path != "help" && !command.path.starts_with("worker");
}

int parse_and_run(int argc, char** argv) {
  CLI::App app;
  Action run;
  add_commands(app, run);
  const Result<bool> parsed = parse_words(app, {argv + 1, argv + argc});
  if (!parsed) return report(parsed.error());
  if (!*parsed) return 0;
  if (!run) {
    fmt::print("{}", app.help());
    return 2;
  }
  const CommandNode command = chosen_command(app);
  std::vector<Setting> settings;
  if (reads_config(command)) {
    auto read = read_settings(config_file_of(app));
    if (!read) return report(read.error());
    settings = std::move(*read);
  }
  if (!settings.empty()) {
    CLI::App scratch;
    Action unused;
    add_commands(scratch, unused);
    if (const Status sound = check_settings(scratch, settings); !sound)
      return report(sound.error());
    if (const Status set = apply_settings(command, settings); !set) return report(set.error());
  }
  const CommandResult result = run();
  return result ? *result : report(with_places(result.error(), command, settings));
}

}  // namespace

void add_commands(CLI::App& app, Action& run) {
  app.name("hone");
  app.description(
      "hone finds, proves and installs the fastest configuration of every kernel in a tensor "
      "program.");
  app.set_help_flag("-h,--help", "print this help");
  app.set_version_flag("--version", std::string("hone ") + std::string(version()),
                       "print the version");
  app.require_subcommand(0, 1);
  app.allow_extras();
  for (AddCommand* const add :
       {add_tune_command,       add_compare_command, add_check_command,    add_flags_command,
        add_dispatches_command, add_space_command,   add_generate_command, add_compile_command,
        add_profile_command,    add_verify_command,  add_recheck_command,  add_store_command,
        add_report_command,     add_show_command,    add_fleet_command,    add_devices_command,
        add_spec_command,       add_doctor_command,  add_selftest_command, add_config_command,
        add_completion_command, add_man_command,     add_help_command,     add_worker_command})
    add(app, run);
  // Commands defined after it would have the same footer.
  app.footer(
      "hone COMMAND --help has options and examples; hone man is the manual.\n"
      "Topics: hone help environment, hone help migration, hone help providers.\n\n"
      "Exit codes: 0 done; 1 finished with failures you should see; 2 wrong use or\n"
      "input; 3 environment (no compiler, no device); 130 interrupted.");
  for (CLI::App* command : app.get_subcommands({})) command->allow_extras();
  for (const CommandNode& command : command_tree(app))
    command.app->add_option("--config-file")
        ->configurable(false)
        ->description("read option defaults from FILE [$HONE_CONFIG, hone.yaml]");
  describe_commands(app);
}

Result<bool> parse_words(CLI::App& app, std::vector<std::string> words) {
  try {
    words = with_new_spellings(std::move(words));
    std::ranges::reverse(words);  // as CLI11 takes them
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return input_error("{}", error.what());
    app.exit(error);  // --help, --version
    return false;
  }
  HONE_TRY(refuse_extras(app));
  HONE_TRY(refuse_unknown_command(app));
  return true;
}

std::string config_file_of(CLI::App& app) {
  for (const CLI::App* command : {static_cast<const CLI::App*>(chosen_command(app).app),
                                  static_cast<const CLI::App*>(&app)}) {
    const CLI::Option* option = command->get_option_no_throw("--config-file");
    if (option != nullptr && option->count() > 0) return option->as<std::string>();
  }
  return {};
}

int run(int argc, char** argv) {
  // Exceptions of libraries are caught where the library is called; the rest (no memory) ends here.
  try {
    const int code = parse_and_run(argc, argv);
    // Fail if the output is cut short: it must not look complete.
    if (std::fflush(stdout) == 0) return code;
    return report({ErrorKind::kEnvironment,
                   fmt::format("cannot write to standard output: {}", std::strerror(errno))});
  } catch (const std::exception& error) {
    return report({ErrorKind::kFailure, error.what()});
  }
}

}  // namespace hone::cli
