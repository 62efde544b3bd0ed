#include "provider/iree/compiler/elided_constants.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "problem/tensor_text.h"

namespace hone::iree {
namespace {

constexpr std::string_view kElided = "dense_resource<__elided__> : tensor<";

// "4x8xsi64" of PyTorch's dialect has a sign.
std::optional<problem::TensorType> signless(std::string type) {
  for (const char* sign : {"si", "ui"})
    if (const auto at = type.rfind(sign); at != std::string::npos) type.erase(at, 1);
  return problem::tensor_type_from(type);
}

void add_hex(std::string& text, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  text.reserve(text.size() + 2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
}

// As MLIR has it: the alignment in four bytes, then the content.
void add_entry(std::string& text, const std::string& name, std::string_view content) {
  text += fmt::format("      {}: \"0x40000000", name);
  add_hex(text, content);
  text += "\"";
}

// A program may have a section of resources already, of this dialect or of others.
void add_section(std::string& program, const std::string& entries) {
  const auto section = program.rfind("{-#");
  constexpr std::string_view kResources = "dialect_resources: {", kBuiltin = "builtin: {";
  const auto resources = section == std::string::npos ? section : program.find(kResources, section);
  if (resources == std::string::npos) {
    program += "\n{-#\n  dialect_resources: {\n    builtin: {\n" + entries + "\n    }\n  }\n#-}\n";
    return;
  }
  const auto builtin = program.find(kBuiltin, resources);
  if (builtin == std::string::npos)
    program.insert(resources + kResources.size(), "\n    builtin: {\n" + entries + "\n    },");
  else
    program.insert(builtin + kBuiltin.size(), "\n" + entries + ",");
}

}  // namespace

bool has_elided_constants(std::string_view program) {
  return program.find(kElided) != std::string_view::npos;
}

FilledProgram with_contents(
    std::string_view program,
    const std::function<std::string(const problem::TensorType&)>& contents) {
  FilledProgram filled;
  std::map<std::string, std::string> names;  // by type
  std::string entries;
  for (auto at = program.find(kElided); at != std::string_view::npos; at = program.find(kElided)) {
    filled.text += program.substr(0, at);
    program.remove_prefix(at + kElided.size());
    const std::string written(program.substr(0, program.find_first_of(",>")));
    const auto type = signless(written);
    if (!type || problem::is_dynamic(*type)) {
      filled.text += kElided;
      continue;
    }
    auto [name, is_new] = names.emplace(written, fmt::format("hone_left_out_{}", names.size()));
    if (is_new) {
      if (!entries.empty()) entries += ",\n";
      add_entry(entries, name->second, contents(*type));
    }
    filled.text += fmt::format("dense_resource<{}> : tensor<", name->second);
    ++filled.constants;
  }
  filled.text += program;
  if (filled.constants > 0) add_section(filled.text, entries);
  return filled;
}

}  // namespace hone::iree
