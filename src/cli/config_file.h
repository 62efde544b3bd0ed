// Defaults of options, read from files of YAML (docs/configuration.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::cli {

// One key of a file, not yet compared with what options there are.
struct Setting {
  std::string command;  // "tune", "spec check"; kAllCommands for every one that has the option
  std::string key;      // an option's long name: "budget"
  std::vector<std::string> values;
  std::string place;  // "hone.yaml:3"

  bool operator==(const Setting&) const = default;
};
inline constexpr std::string_view kAllCommands = "all";

// The settings in a file's text, those of single commands before those of all. Input errors with
// `path` and the line: no YAML, no mapping of commands to options, a key twice, one without a
// value.
Result<std::vector<Setting>> parse_settings(const std::string& path, const std::string& text);

// What `given` or else $HONE_CONFIG names; an empty HONE_CONFIG means no file at all. Without
// either: hone.yaml in the working folder or one above it, up to the root of its repository (.git)
// or the home folder (outside of both in the working folder only, so that nobody else's file
// counts), and $XDG_CONFIG_HOME/hone/config.yaml (default ~/.config). Most wanted first.
std::vector<std::string> config_files(const std::string& given);

// The settings of those files; of two for one option the first counts. Errors as parse_settings,
// and an input error for a file that was named and cannot be read.
Result<std::vector<Setting>> read_settings(const std::string& given);

}  // namespace hone::cli
