#include "provider/external/ptx_entry.h"

#include <algorithm>
#include <charconv>
#include <regex>

#include "base/text.h"

namespace hone::external {
namespace {

constexpr std::string_view kEntry = ".entry";

bool is_part_of_a_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%';
}

std::string word_at(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n')) ++at;
  std::size_t end = at;
  while (end < text.size() && is_part_of_a_name(text[end])) ++end;
  return std::string(text.substr(at, end - at));
}

// The places of a kernel's parts in the module's text.
struct Kernel {
  std::size_t begin = 0;       // of its name
  std::size_t parameters = 0;  // behind "("
  std::size_t directives = 0;  // behind ")"
  std::size_t body = 0;        // behind "{"
  std::size_t end = 0;         // of "}"
};

// Strings and comments of PTX hold no unmatched braces that compilers write; a body's own scopes
// do.
std::size_t end_of_body(std::string_view ptx, std::size_t body) {
  int depth = 1;
  for (std::size_t at = body; at < ptx.size(); ++at) {
    depth += ptx[at] == '{' ? 1 : ptx[at] == '}' ? -1 : 0;
    if (depth == 0) return at;
  }
  return std::string_view::npos;
}

Result<Kernel> find_kernel(const std::string& ptx, const std::string& function) {
  for (std::size_t at = ptx.find(kEntry); at != std::string::npos; at = ptx.find(kEntry, at)) {
    at += kEntry.size();
    if (word_at(ptx, at) != function) continue;
    Kernel kernel;
    kernel.begin = ptx.find(function, at);
    kernel.parameters = ptx.find('(', kernel.begin) + 1;
    kernel.directives = ptx.find(')', kernel.begin);
    kernel.body = ptx.find('{', kernel.begin);
    if (kernel.directives == std::string::npos || kernel.body == std::string::npos ||
        kernel.directives > kernel.body)
      break;
    ++kernel.directives;
    ++kernel.body;
    kernel.end = end_of_body(ptx, kernel.body);
    if (kernel.end == std::string::npos) break;
    return kernel;
  }
  const std::vector<std::string> names = ptx_entries(ptx);
  return failure(
      "there is no kernel '{}' in the PTX{}; it has {} (extern \"C\" keeps a name as it "
      "is)",
      function, did_you_mean(function, names),
      names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

struct Parameter {
  std::string name, type;  // ".u64"
};

Result<std::vector<Parameter>> parameters_of(const std::string& listed) {
  std::vector<Parameter> parameters;
  static const std::regex kForm(
      R"(^\s*\.param\s+(?:\.align\s+\d+\s+)?(\.\w+)\s+(?:\.ptr\s+)?(?:\.\w+\s+)?(?:\.align\s+\d+\s+)?([\w$%]+)(\[\d+\])?\s*$)");
  for (std::size_t begin = 0; begin < listed.size();) {
    const std::size_t end = std::min(listed.find(',', begin), listed.size());
    const std::string one = listed.substr(begin, end - begin);
    begin = end + 1;
    if (one.find_first_not_of(" \t\r\n") == std::string::npos) continue;
    std::smatch found;
    if (!std::regex_match(one, found, kForm))
      return failure("the kernel's parameter '{}' cannot be read", one);
    if (found[3].matched)
      return failure(
          "the kernel's parameter {} is a structure; addresses and whole numbers can be "
          "passed",
          found[2].str());
    parameters.push_back({found[2], found[1]});
  }
  return parameters;
}

bool is_of_64_bits(const std::string& type) {
  return type == ".u64" || type == ".s64" || type == ".b64";
}
bool is_of_32_bits(const std::string& type) {
  return type == ".u32" || type == ".s32" || type == ".b32";
}

Status check_argument(const Parameter& parameter, const Argument& argument, std::size_t index) {
  if (!std::holds_alternative<std::int64_t>(argument)) {
    if (is_of_64_bits(parameter.type)) return {};
    return failure("arguments: number {} is {}, and the kernel's parameter {} is {}, no address",
                   index + 1,
                   std::holds_alternative<OperandPlace>(argument) ? "an operand" : "scratch memory",
                   parameter.name, parameter.type);
  }
  const std::int64_t value = std::get<std::int64_t>(argument);
  if (is_of_64_bits(parameter.type)) return {};
  if (!is_of_32_bits(parameter.type))
    return failure("arguments: number {} is a whole number, and the kernel's parameter {} is {}",
                   index + 1, parameter.name, parameter.type);
  if (value < -(std::int64_t{1} << 31) || value >= std::int64_t{1} << 32)
    return failure("arguments: number {} is {}, and the kernel's parameter {} has 32 bits",
                   index + 1, value, parameter.name);
  return {};
}

// Registers of hone's own; compilers never put an underscore behind the percent sign.
constexpr std::string_view kRegisters = "\n\t.reg .b32 \t%_hone_word;\n\t.reg .b64 \t%_hone_wide;";

// PTX that puts the argument into register `into`.
std::string load_of(const Argument& argument, const std::string& into, const std::string& entry,
                    int bindings, bool wide) {
  if (const auto* const value = std::get_if<std::int64_t>(&argument)) {
    if (wide) return fmt::format("mov.b64 \t{}, {};", into, *value);
    return fmt::format("mov.b32 \t{}, {};", into, static_cast<std::int32_t>(*value));
  }
  if (std::holds_alternative<Scratch>(argument))
    return fmt::format(
        "mov.u64 \t{0}, {1};\n\tcvta.global.u64 \t{0}, {0};\n\tadd.s64 \t{0}, {0}, {2};", into,
        scratch_variable(entry), problem::OwnMemory::kGuardBytes);
  const OperandPlace& place = std::get<OperandPlace>(argument);
  std::string text = fmt::format("ld.param.u64 \t{}, [{}_param_{}];", into, entry, place.binding);
  if (place.offset != 0) text += fmt::format("\n\tadd.s64 \t{0}, {0}, {1};", into, place.offset);
  for (std::size_t word = 0; word < place.words.size(); ++word) {
    text += fmt::format(
        "\n\tld.param.u32 \t%_hone_word, [{}_param_{}];\n\tcvt.u64.u32 \t%_hone_wide, "
        "%_hone_word;",
        entry, bindings + place.words[word]);
    if (word == 1) text += "\n\tshl.b64 \t%_hone_wide, %_hone_wide, 32;";
    text += fmt::format("\n\tadd.s64 \t{0}, {0}, %_hone_wide;", into);
  }
  return text;
}

// The body with each read of the parameter replaced.
Result<std::string> without_reads(const std::string& body, const Parameter& parameter,
                                  const Argument& argument, const std::string& entry,
                                  int bindings) {
  std::string replaced;
  std::size_t at = 0;
  for (;;) {
    const std::size_t found = body.find(parameter.name, at);
    if (found == std::string::npos) return replaced + body.substr(at);
    const std::size_t behind = found + parameter.name.size();
    if ((found > 0 && is_part_of_a_name(body[found - 1])) ||
        (behind < body.size() && is_part_of_a_name(body[behind]))) {
      replaced += body.substr(at, behind - at);  // of a longer name
      at = behind;
      continue;
    }
    const std::size_t begin = body.rfind('\n', found) + 1;
    const std::size_t end = body.find(';', found);
    static const std::regex kRead(R"(^\s*ld\.param\.([busf])(\d+)\s+([%\w$]+)\s*,\s*\[[\w$%]+\]$)");
    std::smatch read;
    const std::string statement = end == std::string::npos ? "" : body.substr(begin, end - begin);
    if (begin < at || !std::regex_match(statement, read, kRead))
      return failure("the kernel reads its parameter {} in a way that cannot be replaced: '{}'",
                     parameter.name, statement);
    replaced += body.substr(at, begin - at) + "\t" +
                load_of(argument, read[3], entry, bindings, read[2] == "64");
    at = end + 1;
  }
}

// "128, 2, 1" of ".maxntid 128, 2, 1" as a product; nothing where the directive is not there.
std::optional<std::int64_t> threads_of(const std::string& directives, const std::string& name) {
  std::smatch found;
  if (!std::regex_search(directives, found,
                         std::regex("\\" + name + R"(\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?)")))
    return std::nullopt;
  std::int64_t product = 1;
  for (std::size_t i = 1; i <= 3; ++i)
    if (found[i].matched) product *= std::stoll(found[i]);
  return product;
}

// Declares the module's variable for the scratch memory; empty if no argument uses it.
std::string scratch_declaration(const std::vector<Argument>& arguments, const std::string& entry) {
  // Largest alignment, in bytes, that vector loads and tensor descriptors need.
  constexpr int kAlignment = 128;
  for (const Argument& argument : arguments)
    if (const auto* const scratch = std::get_if<Scratch>(&argument))
      return fmt::format(".visible .global .align {} .b8 {}[{}];\n", kAlignment,
                         scratch_variable(entry),
                         scratch->bytes + 2 * problem::OwnMemory::kGuardBytes);
  return "";
}

std::string parameter_list(const std::string& entry, int bindings, int constants) {
  std::vector<std::string> listed;
  for (int i = 0; i < bindings + constants; ++i)
    listed.push_back(
        fmt::format("\n\t.param .{} {}_param_{}", i < bindings ? "u64" : "u32", entry, i));
  return fmt::format("({}\n)", fmt::join(listed, ","));
}

struct Architecture {
  int number = 0;
  bool specific = false;  // "sm_90a", "sm_100f"
};

std::optional<Architecture> architecture_of(std::string_view name) {
  Architecture read;
  if (!name.starts_with("sm_")) return std::nullopt;
  name.remove_prefix(3);
  const auto end = std::from_chars(name.data(), name.data() + name.size(), read.number);
  if (end.ec != std::errc()) return std::nullopt;
  read.specific = end.ptr != name.data() + name.size();
  return read;
}

}  // namespace

std::string scratch_variable(const std::string& entry) {
  return entry + "_scratch";
}

std::vector<std::string> ptx_entries(std::string_view ptx) {
  std::vector<std::string> names;
  for (std::size_t at = ptx.find(kEntry); at != std::string_view::npos; at = ptx.find(kEntry, at)) {
    at += kEntry.size();
    if (std::string name = word_at(ptx, at); !name.empty()) names.push_back(std::move(name));
  }
  return names;
}

Status check_target(std::string_view ptx, std::string_view device) {
  const std::size_t at = ptx.find(".target");
  if (at == std::string_view::npos)
    return failure(
        "this is no PTX: it has no .target (machine code cannot be given other "
        "parameters)");
  const std::string target = word_at(ptx, at + std::string_view(".target").size());
  const auto code = architecture_of(target), gpu = architecture_of(device);
  if (!code) return failure("the PTX is for '{}'", target);
  if (!gpu) return {};
  if (code->specific ? code->number == gpu->number : code->number <= gpu->number) return {};
  return failure("the PTX is for {}, and this GPU is {}", target, device);
}

Result<std::string> with_launch(const std::string& ptx, const std::string& function,
                                const std::string& entry, const std::vector<Argument>& arguments,
                                int bindings, int constants, std::int64_t threads) {
  HONE_ASSIGN(const Kernel kernel, find_kernel(ptx, function));
  HONE_ASSIGN(
      const std::vector<Parameter> parameters,
      parameters_of(ptx.substr(kernel.parameters, kernel.directives - 1 - kernel.parameters)));
  if (parameters.size() != arguments.size())
    return failure("arguments: there are {}, and the kernel has {} parameters", arguments.size(),
                   parameters.size());
  const std::string directives = ptx.substr(kernel.directives, kernel.body - 1 - kernel.directives);
  for (const char* const name : {".maxntid", ".reqntid"})
    if (const auto made_for = threads_of(directives, name); made_for && *made_for < threads)
      return failure("a block has {} threads, and the kernel is compiled for {} at most", threads,
                     *made_for);
  std::string body = ptx.substr(kernel.body, kernel.end - kernel.body);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    HONE_TRY(check_argument(parameters[i], arguments[i], i));
    HONE_ASSIGN(body, without_reads(body, parameters[i], arguments[i], entry, bindings));
  }
  const std::size_t line = ptx.rfind('\n', kernel.begin) + 1;
  return ptx.substr(0, line) + scratch_declaration(arguments, entry) +
         ptx.substr(line, kernel.begin - line) + entry +
         parameter_list(entry, bindings, constants) + directives + "{" + std::string(kRegisters) +
         body + ptx.substr(kernel.end);
}

}  // namespace hone::external
