#include "provider/iree/compiler/wheel_python.h"

namespace hone::iree {

Command python_of(const std::filesystem::path& packages, std::vector<std::string> arguments) {
  const auto own = packages.parent_path().parent_path().parent_path() / "bin" / "python3";
  std::error_code code;
  const bool has_own = std::filesystem::exists(own, code);
  Command command;
  command.arguments = std::move(arguments);
  command.arguments.insert(command.arguments.begin(), has_own ? own.string() : "python3");
  if (!has_own) command.environment.emplace_back("PYTHONPATH", packages.string());
  return command;
}

}  // namespace hone::iree
