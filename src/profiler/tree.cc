#include "profiler/tree.h"

#include <fmt/format.h>

#include <algorithm>
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
auto order_of(const Operation& operation) {
  const ConvDims& c = operation.conv;
  return std::tuple(operation.kind, operation.batch, operation.m, operation.n, operation.k,
                    c.images, c.height, c.width, c.channels, c.filters, operation.split_k_slices,
                    operation.name());
}

Status read_kind(const fs::path& folder, OperationKind kind, Tree& tree) {
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

OperationFiles::OperationFiles(const fs::path& generated_dir, const Operation& operation)
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

Result<Dispatch> parse_dispatch(std::string_view name) {
  const std::size_t at = name.find("_" + std::string(kConfigurationPrefix));
  if (at == std::string_view::npos)
    return input_error(
        "'{}' is no dispatch's name: it has to be OPERATION_tile_config_... (hone generate makes "
        "them)",
        name);
  HONE_ASSIGN(Operation operation, parse_operation(name.substr(0, at)));
  return Dispatch{operation, std::string(name.substr(at + 1))};
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
  for (const OperationKind kind : kOperationKinds)
    HONE_TRY(read_kind(sources / name_of(kind), kind, tree));
  std::ranges::sort(tree.operations, {}, order_of);
  std::ranges::sort(tree.strangers);
  return tree;
}

Result<std::vector<Dispatch>> dispatches_in(std::string_view source, const Operation& operation,
                                            std::string_view where) {
  const std::string prefix = operation.name() + "_";
  std::vector<Dispatch> dispatches;
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

Result<std::vector<Dispatch>> dispatches_of(const fs::path& generated_dir,
                                            const Operation& operation) {
  const fs::path path = OperationFiles(generated_dir, operation).source();
  HONE_ASSIGN(const std::string source, read_file(path));
  return dispatches_in(source, operation, path.string());
}

}  // namespace hone::profiler
