// Declarations of the subcommands, each with its options and action.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"

namespace hone::session {}

namespace hone::cli {

using namespace session;  // the command line speaks of what it opens

// Exit code of a command: 0, or 1 if it finished with failures the user should see.
using CommandResult = Result<int>;

// Work of a command. The chosen subcommand sets `run` to its own.
using Action = std::function<CommandResult()>;

// Subcommand with its options, which the command line fills in.
template <class Options>
struct AddedCommand {
  CLI::App& command;
  Options& options;
};

// Adds a subcommand that runs `action` with its options, which live as long as `app`.
template <class Options>
AddedCommand<Options> add_command(CLI::App& app, Action& run, std::string name,
                                  std::string description,
                                  CommandResult (*action)(Options& options)) {
  auto options = std::make_shared<Options>();
  CLI::App* const command = app.add_subcommand(std::move(name), std::move(description));
  command->callback([&run, options, action] { run = [=] { return action(*options); }; });
  return {*command, *options};
}

// Adds an option whose default help shows.
template <class Value>
CLI::Option* add_default_option(CLI::App& command, const std::string& name, Value& value,
                                const std::string& text) {
  return command.add_option(name, value, text)->capture_default_str();
}

// Adds a command to `app`, or below the command `app`.
using AddCommand = void(CLI::App& app, Action& run);
AddCommand add_tune_command, add_check_command, add_compare_command, add_flags_command,
    add_dispatches_command;
AddCommand add_space_command, add_generate_command, add_compile_command, add_profile_command;
AddCommand add_verify_command, add_store_command, add_report_command, add_show_command;
AddCommand add_devices_command, add_spec_command, add_doctor_command, add_config_command;
AddCommand add_fleet_command, add_selftest_command, add_recheck_command;
AddCommand add_completion_command, add_man_command, add_help_command;
// To the command `spec`.
AddCommand add_spec_external_command, add_spec_merge_command, add_spec_show_command;
AddCommand add_spec_audit_command, add_spec_upgrade_command;
AddCommand add_worker_command;  // hidden: what hone starts itself as

// Adds all of them to an `app` without any.
void add_commands(CLI::App& app, Action& run);

}  // namespace hone::cli
