#include "cli/runtime_options.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/file.h"

namespace hone::cli {
namespace {

// Empty lines and those that begin with '#' say nothing.
Result<std::vector<std::string>> flags_in(const std::string& path) {
  HONE_ASSIGN(const std::string text, read_file(path));
  std::istringstream lines(text);
  std::vector<std::string> flags;
  for (std::string line; std::getline(lines, line);) {
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    line = line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
    if (!line.starts_with('-'))
      return input_error("--runtime-flags-file '{}': '{}' is no flag", path, line);
    flags.push_back(std::move(line));
  }
  return flags;
}

// "model=w.irpa", or only the file for parameters without scope.
Status check_parameters(const std::string& given) {
  const auto equals = given.find('=');
  const std::filesystem::path file = equals == std::string::npos ? given : given.substr(equals + 1);
  const std::string extension = file.extension().string();
  if (extension != ".irpa" && extension != ".safetensors" && extension != ".gguf")
    return input_error(
        "--parameters '{}': IREE's runtime takes .irpa, .safetensors and .gguf; write SCOPE=FILE",
        given);
  if (!std::ifstream(file))
    return input_error("--parameters '{}': cannot read '{}': {}", given, file.string(),
                       std::strerror(errno));
  return {};
}

}  // namespace

void add_runtime_options(CLI::App& command, RuntimeOptions& options, const std::string& which) {
  command.add_option("--function", options.function,
                     "of the program that is called (default: " + which + ")");
  command.add_option("--input", options.inputs,
                     "of the function, one for each argument in order: @a.npy, 2x3xf32=0.5, =0.5, "
                     "or 2x3xf32 of generated values; repeatable (default: generated)");
  command.add_option("--parameters", options.parameters,
                     ".irpa, .safetensors or .gguf that the program's parameters of a scope are "
                     "in; repeatable");
  command.add_flag("--random-parameters", options.random_parameters,
                   "where parameters are not given: random numbers of their types");
  command.add_option("--runtime-flag", options.flags, "passed to IREE's runtime tools; repeatable");
  command.add_option("--runtime-flags-file", options.flags_file,
                     "file of such flags, one in each line");
}

Result<std::vector<std::string>> runtime_flags(const RuntimeOptions& options) {
  std::vector<std::string> flags;
  for (const std::string& given : options.parameters) {
    HONE_TRY(check_parameters(given));
    flags.push_back("--parameters=" + given);
  }
  if (!options.flags_file.empty()) {
    HONE_ASSIGN(const std::vector<std::string> in_file, flags_in(options.flags_file));
    flags.insert(flags.end(), in_file.begin(), in_file.end());
  }
  flags.insert(flags.end(), options.flags.begin(), options.flags.end());
  return flags;
}

Result<std::vector<tune::GivenArgument>> given_arguments(const RuntimeOptions& options) {
  std::vector<tune::GivenArgument> arguments;
  for (const std::string& text : options.inputs) {
    HONE_ASSIGN(tune::GivenArgument argument, tune::given_argument(text));
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

}  // namespace hone::cli
