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

// Action of the chosen subcommand. Each function adds its subcommand to `app`, and sets `run` when
// that subcommand is chosen.
using Run = std::function<CommandResult()>;

// Subcommand with its options, which the command line fills in.
template <class Options>
struct AddedCommand {
  CLI::App& command;
  Options& options;
};

// Adds a subcommand that runs `action` with its options, which live as long as `app`.
template <class Options>
AddedCommand<Options> add_command(CLI::App& app, Run& run, std::string name,
                                  std::string description,
                                  CommandResult (*action)(Options& options)) {
  auto options = std::make_shared<Options>();
  CLI::App* const command = app.add_subcommand(std::move(name), std::move(description));
  command->callback([&run, options, action] { run = [=] { return action(*options); }; });
  return {*command, *options};
}

void add_tune_command(CLI::App& app, Run& run);
void add_flags_command(CLI::App& app, Run& run);
void add_compare_command(CLI::App& app, Run& run);
void add_dispatches_command(CLI::App& app, Run& run);
void add_space_command(CLI::App& app, Run& run);
void add_generate_command(CLI::App& app, Run& run);
void add_compile_command(CLI::App& app, Run& run);
void add_profile_command(CLI::App& app, Run& run);
void add_verify_command(CLI::App& app, Run& run);
void add_store_command(CLI::App& app, Run& run);
void add_report_command(CLI::App& app, Run& run);
void add_show_command(CLI::App& app, Run& run);
void add_devices_command(CLI::App& app, Run& run);
void add_spec_command(CLI::App& app, Run& run);
void add_spec_external_command(CLI::App& spec, Run& run);  // to the command `spec`
void add_doctor_command(CLI::App& app, Run& run);
void add_config_command(CLI::App& app, Run& run);
void add_completion_command(CLI::App& app, Run& run);
void add_man_command(CLI::App& app, Run& run);
void add_help_command(CLI::App& app, Run& run);
void add_worker_command(CLI::App& app, Run& run);  // hidden: what hone starts itself as

// Adds all of them to an `app` without any.
void add_commands(CLI::App& app, Run& run);

}  // namespace hone::cli
