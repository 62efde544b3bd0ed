#include "base/response_file.h"

namespace hone {
namespace {

std::string quoted(const std::string& argument) {
  if (!argument.empty() && argument.find_first_of(" \t\r\n\v\f\"'\\") == std::string::npos)
    return argument;
  std::string text = "\"";
  for (const char c : argument) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + '"';
}

}  // namespace

std::string response_file(const std::vector<std::string>& arguments) {
  std::string text;
  for (const std::string& argument : arguments) text += quoted(argument) + "\n";
  return text;
}

}  // namespace hone
