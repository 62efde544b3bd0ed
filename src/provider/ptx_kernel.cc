#include "provider/ptx_kernel.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace hone::provider {
namespace {

// Names that LLVM's NVPTX back end numbers by the function they are in.
constexpr std::string_view kNumbered[] = {"$L__BB", "$L__tmp", "__local_depot"};

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_part_of_a_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

std::string without_function_numbers(std::string_view line) {
  std::string text(line);
  for (const std::string_view name : kNumbered)
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
      at += name.size();
      std::size_t digits = 0;
      while (at + digits < text.size() && is_digit(text[at + digits])) ++digits;
      text.erase(at, digits);
    }
  return text;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find("//"));
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0)
      line.remove_suffix(1);
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

bool is_about_the_machine(std::string_view line) {
  return line.starts_with(".version") || line.starts_with(".target") ||
         line.starts_with(".address_size");
}

// The name that a declaration outside of functions declares: "name" of ".shared .b8 name[4096];".
std::string_view declared_name(std::string_view line) {
  const auto end = line.find_first_of("[;=");
  std::string_view name = line.substr(0, end);
  while (!name.empty() && !is_part_of_a_name(name.back())) name.remove_suffix(1);
  std::size_t begin = name.size();
  while (begin > 0 && is_part_of_a_name(name[begin - 1])) --begin;
  return name.substr(begin);
}

bool starts_kernel(std::string_view line, std::string_view entry) {
  const auto at = line.find(".entry ");
  if (at == std::string_view::npos) return false;
  const std::string_view name = line.substr(at + std::string_view(".entry ").size());
  return name.starts_with(entry) &&
         (name.size() == entry.size() || !is_part_of_a_name(name[entry.size()]));
}

std::optional<std::string> kernel_called(std::string_view ptx, std::string_view entry) {
  std::string machine, kernel;
  std::vector<std::string_view> outside;
  bool in_function = false, in_kernel = false;
  for (const std::string_view line : lines_of(ptx)) {
    if (!in_function && line.find(".entry ") != std::string_view::npos) {
      in_function = true;
      in_kernel = starts_kernel(line, entry);
    } else if (!in_function && line.find(".func ") != std::string_view::npos) {
      in_function = line.back() != ';';
    } else if (!in_function) {
      if (is_about_the_machine(line))
        machine += std::string(line) + "\n";
      else
        outside.push_back(line);
    }
    if (in_kernel) kernel += without_function_numbers(line) + "\n";
    if (in_function && line == "}") in_function = in_kernel = false;
  }
  if (kernel.empty()) return std::nullopt;
  if (kernel.find("call") != std::string::npos) return std::string(ptx);
  for (const std::string_view line : outside) {
    const std::string_view name = declared_name(line);
    if (!name.empty() && kernel.find(name) != std::string::npos)
      machine += std::string(line) + "\n";
  }
  return machine + kernel;
}

}  // namespace

std::string symbol_in_code(std::string_view name) {
  std::string symbol(name);
  for (char& c : symbol)
    if (c == '$' || !is_part_of_a_name(c)) c = '_';
  return symbol;
}

std::optional<std::string> ptx_kernel(std::string_view ptx, std::string_view entry) {
  auto kernel = kernel_called(ptx, entry);
  return kernel ? kernel : kernel_called(ptx, symbol_in_code(entry));
}

bool same_kernel(std::string_view a, std::string_view b, std::string_view entry) {
  const auto kernel = ptx_kernel(a, entry);
  return kernel ? kernel == ptx_kernel(b, entry) : a == b;
}

}  // namespace hone::provider
