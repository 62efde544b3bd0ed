#include "profiler/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>
#include <system_error>
#include <tuple>

#include "base/file.h"

namespace hone::profiler {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDialect = "linalg";
constexpr std::string_view kFunction = "func.func @";

fs::path sources_folder(const fs::path& generated_dir) {
  return generated_dir / "generated" / kDialect;
}

// Returns the sort key of an operation.
auto order_of(const NamedOperation& operation) {
  const ConvDims& c = operation.conv;
  return std::tuple(operation.kind, operation.batch, operation.m, operation.n, operation.k,
                    c.images, c.height, c.width, c.channels, c.filters, operation.split_k_slices,
                    operation.name());
}

Status read_kind(const fs::path& folder, NamedOperationKind kind, Tree& tree) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (!at->is_directory(error)) continue;
    const std::string name = at->path().filename();
    if (!fs::exists(at->path() / (name + ".mlir"), error)) continue;
    auto operation = parse_operation(name);
    if (!operation)
      tree.strangers.push_back(operation.error().message);
    else if (operation->kind != kind)
      tree.strangers.push_back(fmt::format("'{}' lies in the folder of {}", name, name_of(kind)));
    else
      tree.operations.push_back(std::move(*operation));
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return environment_error("cannot read the folder '{}': {}", folder.string(), error.message());
  return {};
}

}  // namespace

OperationFiles::OperationFiles(const fs::path& generated_dir, const NamedOperation& operation)
    : name_(operation.name()),
      folder_(sources_folder(generated_dir) / name_of(operation.kind) / name_),
      reference_folder_(generated_dir / "generated" / "reference_cache" / name_) {}

fs::path OperationFiles::source() const {
  return folder_ / (name_ + ".mlir");
}

fs::path OperationFiles::verify_module() const {
  return folder_ / (name_ + "_verify.vmfb");
}

fs::path OperationFiles::profile_module() const {
  return folder_ / (name_ + "_profile.vmfb");
}

fs::path OperationFiles::compiler_output() const {
  return folder_ / "iree_compile_cmd_stdout.mlir";
}

Result<Tree> read_tree(const fs::path& generated_dir) {
  const fs::path sources = sources_folder(generated_dir);
  std::error_code error;
  if (!fs::is_directory(sources, error))
    return input_error(
        "there is no folder '{}': --generated-dir names the folder that holds 'generated', which "
        "hone generate makes",
        sources.string());
  Tree tree;
  for (const NamedOperationKind kind : kOperationKinds)
    HONE_TRY(read_kind(sources / name_of(kind), kind, tree));
  std::ranges::sort(tree.operations, {}, order_of);
  std::ranges::sort(tree.strangers);
  return tree;
}

Result<std::vector<NamedDispatch>> dispatches_in(std::string_view source,
                                                 const NamedOperation& operation,
                                                 std::string_view where) {
  const std::string prefix = operation.name() + "_";
  std::vector<NamedDispatch> dispatches;
  for (std::size_t at = source.find(kFunction); at != std::string_view::npos;
       at = source.find(kFunction, at + 1)) {
    if (at != 0 && source[at - 1] != '\n') continue;  // in a comment
    std::string_view name = source.substr(at + kFunction.size());
    name = name.substr(0, name.find('('));
    if (!name.starts_with(prefix + std::string(kConfigurationPrefix)))
      return input_error("{}: the function '{}' is none of this operation; generate the file anew",
                         where, name.substr(0, name.find('\n')));
    dispatches.push_back({operation, std::string(name.substr(prefix.size()))});
  }
  if (dispatches.empty())
    return input_error("{}: there is no function in this file; generate it anew", where);
  return dispatches;
}

Result<std::vector<NamedDispatch>> dispatches_of(const fs::path& generated_dir,
                                                 const NamedOperation& operation) {
  const fs::path path = OperationFiles(generated_dir, operation).source();
  HONE_ASSIGN(const std::string source, read_file(path));
  return dispatches_in(source, operation, path.string());
}

namespace {

bool is_in_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '-';
}

// Returns the "#NAME" at the beginning of `text`.
std::string_view alias_at(std::string_view text) {
  std::size_t end = 1;
  while (end < text.size() && is_in_name(text[end])) ++end;
  return text.substr(1, end - 1);
}

// Returns the aliases that the text defines: "#NAME = ..." at the beginning of a line.
std::set<std::string, std::less<>> aliases_of(std::string_view source) {
  std::set<std::string, std::less<>> aliases;
  for (std::size_t at = 0; at < source.size();) {
    const std::string_view rest = source.substr(at);
    if (rest.front() == '#') {
      const std::string_view name = alias_at(rest);
      if (rest.substr(1 + name.size()).starts_with(" =")) aliases.emplace(name);
    }
    const std::size_t end = rest.find('\n');
    at = end == std::string_view::npos ? source.size() : at + end + 1;
  }
  return aliases;
}

}  // namespace

std::string only_functions(std::string_view source, const std::vector<std::string>& names) {
  constexpr std::string_view kEnd = "\n}\n";
  std::string kept;
  while (!source.empty()) {
    std::size_t begin =
        source.starts_with(kFunction) ? 0 : source.find("\n" + std::string(kFunction));
    if (begin == std::string_view::npos) break;
    if (begin != 0 || !source.starts_with(kFunction)) ++begin;
    const std::size_t close = source.find(kEnd, begin);
    const std::size_t end = close == std::string_view::npos ? source.size() : close + kEnd.size();
    std::string_view name = source.substr(begin + kFunction.size());
    name = name.substr(0, name.find('('));
    const bool keep = std::ranges::find(names, name) != names.end();
    kept += source.substr(0, keep ? end : begin);
    source.remove_prefix(end);
  }
  return kept.append(source);
}

std::string lowering_config_of(std::string_view source, std::string_view name) {
  constexpr std::string_view kBegin = "lowering_config = ", kEnd = "translation_info = ";
  const std::string alias = fmt::format("#{} = ", name);
  const std::size_t at = source.starts_with(alias) ? 0 : source.find("\n" + alias);
  if (at == std::string_view::npos) return "";
  source.remove_prefix(at);
  source = source.substr(0, source.find("\n\n"));
  const std::size_t begin = source.find(kBegin), end = source.find(kEnd);
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return "";
  std::string text(source.substr(begin + kBegin.size(), end - begin - kBegin.size()));
  text.erase(text.find_last_of(',') == std::string::npos ? text.size() : text.find_last_of(','));
  return text;
}

std::string joined_sources(const std::vector<std::string>& sources) {
  std::string joined;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::string_view source = sources[i];
    const auto aliases = aliases_of(source);
    for (std::size_t at; (at = source.find('#')) != std::string_view::npos;) {
      joined += source.substr(0, at + 1);
      source.remove_prefix(at);
      const std::string_view name = alias_at(source);
      if (aliases.contains(name)) joined += fmt::format("file{}_", i);
      joined += name;
      source.remove_prefix(1 + name.size());
    }
    joined.append(source).append("\n");
  }
  return joined;
}

}  // namespace hone::profiler
