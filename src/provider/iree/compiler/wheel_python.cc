#include "provider/iree/compiler/wheel_python.h"

#include <algorithm>

#include "provider/iree/compiler/python_sources.h"

namespace hone::iree {

Command python_of(const std::filesystem::path& packages, std::vector<std::string> arguments) {
  const auto version = packages.parent_path();
  const auto own = version.parent_path().parent_path() / "bin" / "python3";
  std::error_code code;
  // Wherever else the folder lies, a Python that stands above it by chance is not its own.
  const bool has_own =
      version.filename().string().starts_with("python3") && std::filesystem::exists(own, code);
  Command command;
  command.arguments = std::move(arguments);
  command.arguments.insert(command.arguments.begin(), has_own ? own.string() : "python3");
  if (!has_own) command.environment.emplace_back("PYTHONPATH", packages.string());
  return command;
}

Command python_of(const std::filesystem::path& packages, std::string_view file,
                  std::vector<std::string> arguments) {
  const auto source = std::ranges::find(python_sources(), file, &EmbeddedFile::name);
  arguments.insert(arguments.begin(), {"-c", std::string(source->text)});
  return python_of(packages, std::move(arguments));
}

}  // namespace hone::iree
