#include "provider/iree/compiler/onnx_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/process.h"
#include "base/text.h"

namespace hone::iree {
namespace {

constexpr std::string_view kNamesComment = "// hone: sizes ";

// Reads the output of python/import_onnx.py; empty for anything else.
SizeNames size_names_from(const nlohmann::json& json) {
  SizeNames names;
  if (!json.is_object()) return names;
  for (const auto& [name, extents] : json.items())
    for (const nlohmann::json& extent : extents)
      if (extent.is_string()) names[name].push_back(extent.get<std::string>());
  return names;
}

}  // namespace

std::string comment_of(const SizeNames& names) {
  if (names.empty()) return {};
  return fmt::format("{}{}\n", kNamesComment, nlohmann::json(names).dump());
}

SizeNames size_names_in(std::string_view program) {
  while (program.starts_with("//")) {
    const std::string_view line = program.substr(0, program.find('\n'));
    program.remove_prefix(std::min(program.size(), line.size() + 1));
    if (line.starts_with(kNamesComment))
      return size_names_from(
          nlohmann::json::parse(line.substr(kNamesComment.size()), nullptr, false));
  }
  return {};
}

namespace {

namespace fs = std::filesystem;

constexpr char kHowToGetImporter[] =
    "it comes with `./scripts/setup`, or `pip install iree-base-compiler[onnx]`";

// Smaller constants are shapes and the like, which the compiler must see.
constexpr int kFewestExternal = 4096;

// Some errors print a whole tensor.
constexpr std::size_t kMostOfAnError = 1000;

// The wheel's folders: <prefix>/lib/python3.*/site-packages.
fs::path compiler_packages_of(const Installation& installation) {
  return installation.compiler_library.parent_path().parent_path().parent_path().parent_path();
}

// Protocol buffers hold less than 2 GiB, so the importer neither converts the opset of a larger
// model nor infers its shapes in memory.
constexpr std::uintmax_t kLargestMessage = (std::uintmax_t{1} << 31) - 1;

// The model, its copy with shapes, and the program as text, which has two digits for a byte.
ProcessLimits limits_for(std::uintmax_t bytes_with_weights) {
  const auto bytes = static_cast<double>(bytes_with_weights);
  return {.seconds = 300 + bytes / 1e6,
          .memory_bytes = static_cast<std::uint64_t>(4e9 + 16 * bytes),
          .output_bytes = std::size_t{1} << 20};
}

}  // namespace

std::string error_in_traceback(const std::string& text) {
  constexpr std::string_view kWay = "Traceback (most recent call last):\n";
  const auto way = text.rfind(kWay);
  if (way == std::string::npos) return text;
  std::string_view rest = std::string_view(text).substr(way + kWay.size());
  while (rest.starts_with("  ")) {
    const auto end = rest.find('\n');
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  rest = rest.substr(0, rest.find_last_not_of(" \n") + 1);
  if (rest.empty()) return text;
  if (rest.size() <= kMostOfAnError) return std::string(rest);
  return fmt::format("{}\n[... {} bytes left out ...]", rest.substr(0, kMostOfAnError),
                     rest.size() - kMostOfAnError);
}

Result<SizeNames> import_onnx(const Installation& installation, const fs::path& model,
                              const fs::path& program, const fs::path& parameters,
                              std::uintmax_t bytes_with_weights, int stop_fd) {
  const fs::path packages = compiler_packages_of(installation);
  std::error_code code;
  if (!fs::exists(packages / "iree" / "compiler" / "tools" / "import_onnx", code))
    return environment_error("IREE at '{}' has no importer of ONNX models (iree-import-onnx); {}",
                             packages.string(), kHowToGetImporter);
  Command command = python_of(
      packages, "import_onnx.py",
      {model.string(), "-o", program.string(),
       bytes_with_weights > kLargestMessage ? std::string("--large-model")
                                            : fmt::format("--opset-version={}", kOnnxOpset)});
  if (!parameters.empty())
    for (const std::string& each :
         {std::string("--externalize-params"), fmt::format("--params-scope={}", kOnnxScope),
          "--save-params-to=" + parameters.string(),
          fmt::format("--num-elements-threshold={}", kFewestExternal)})
      command.arguments.push_back(each);
  const ProcessLimits limits = limits_for(bytes_with_weights);
  HONE_ASSIGN(const ProcessResult result, run_process(command, limits, stop_fd));
  if (result.succeeded()) {
    const auto names = nlohmann::json::parse(result.standard_output.text(), nullptr, false);
    return size_names_from(names);
  }
  const std::string said = result.standard_error.text();
  if (said.find("No module named") != std::string::npos ||
      said.find("Python package is installed") != std::string::npos)
    return environment_error("'{}' cannot be imported: {}; {}", model.string(),
                             error_in_traceback(said), kHowToGetImporter);
  return input_error("iree-import-onnx does not take '{}' ({}): {}", model.string(),
                     describe(result, limits), readable(error_in_traceback(said)));
}

}  // namespace hone::iree
