#include "session/runtime_options.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/file.h"

namespace hone::session {
namespace {

// Reads one flag a line, without empty lines and lines that begin with '#'.
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

// Checks "model=w.irpa", or the file alone for parameters without scope.
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

}  // namespace hone::session
