#include "session/runtime_options.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

#include "base/file.h"
#include "base/json.h"
#include "measure/inputs.h"
#include "tune/services/context.h"

namespace hone::session {
namespace {

using problem::ElementType;

// The format's names of types (github.com/huggingface/safetensors).
constexpr std::pair<ElementType, std::string_view> kSafetensorsTypes[] = {
    {ElementType::kI1, "BOOL"},        {ElementType::kI8, "I8"},
    {ElementType::kI16, "I16"},        {ElementType::kI32, "I32"},
    {ElementType::kI64, "I64"},        {ElementType::kF8E4M3, "F8_E4M3"},
    {ElementType::kF8E5M2, "F8_E5M2"}, {ElementType::kF16, "F16"},
    {ElementType::kBF16, "BF16"},      {ElementType::kF32, "F32"},
    {ElementType::kF64, "F64"}};

std::size_t bytes_of(const problem::TensorType& type) {
  return static_cast<std::size_t>(problem::element_count(type) * problem::byte_size(type.element));
}

// Scales parameters so that a sum of `terms` products with numbers of about one is about one.
measure::InputValues values_for(const problem::TensorType& type) {
  measure::InputValues values;
  if (type.shape.size() < 2) return values;
  const auto terms = static_cast<double>(*std::ranges::max_element(type.shape));
  values.exponent = -static_cast<int>(std::lround(std::log2(terms) / 2));
  return values;
}

// Number of values that are drawn; longer contents repeat them. Drawing billions would take longer
// than the command itself.
constexpr std::size_t kDrawnElements = std::size_t{1} << 22;

std::string drawn_content(const problem::TensorType& type, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(problem::byte_size(type.element));
  std::string drawn(std::min(bytes_of(type), kDrawnElements * size), '\0');
  if (problem::is_float(type.element))
    measure::fill_input(std::as_writable_bytes(std::span(drawn)), type.element, values_for(type),
                        seed);
  return drawn;
}

void write_values(std::ofstream& stream, const problem::TensorType& type, std::uint64_t seed) {
  const std::string drawn = drawn_content(type, seed);
  for (std::size_t left = bytes_of(type); left > 0;) {
    const std::size_t count = std::min(left, drawn.size());
    stream.write(drawn.data(), static_cast<std::streamsize>(count));
    left -= count;
  }
}

bool gives_scope(const std::string& flag, const std::string& scope) {
  constexpr std::string_view kFlag = "--parameters=";
  if (!flag.starts_with(kFlag)) return false;
  const std::string_view value = std::string_view(flag).substr(kFlag.size());
  const auto equals = value.find('=');
  return equals == std::string_view::npos ? scope.empty() : value.substr(0, equals) == scope;
}

Error not_given(const std::string& program, const std::string& scope,
                const std::vector<iree::ProgramParameter>& parameters) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kNamed, parameters.size()); ++i)
    names.push_back(
        fmt::format("{} ({})", parameters[i].key, problem::to_string(parameters[i].type)));
  if (parameters.size() > kNamed) names.emplace_back("...");
  return {
      ErrorKind::kInput,
      fmt::format("'{}' takes {} parameters from files, which are not given, of scope '{}': {}; "
                  "give --parameters {}FILE, or --random-parameters",
                  program, parameters.size(), scope, fmt::join(names, ", "),
                  scope.empty() ? scope : scope + "=")};
}

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

std::string random_content(const problem::TensorType& type, std::uint64_t seed) {
  const std::string drawn = drawn_content(type, seed);
  std::string content;
  content.reserve(bytes_of(type));
  while (content.size() < bytes_of(type)) content.append(drawn, 0, bytes_of(type) - content.size());
  return content;
}

Status write_random_parameters(const std::vector<iree::ProgramParameter>& parameters,
                               const std::filesystem::path& file, std::uint64_t seed) {
  nlohmann::json header = nlohmann::json::object();
  std::size_t end = 0;
  for (const iree::ProgramParameter& parameter : parameters) {
    const std::size_t begin = end;
    end += bytes_of(parameter.type);
    header[parameter.key] = {{"dtype", name_in(kSafetensorsTypes, parameter.type.element)},
                             {"shape", parameter.type.shape},
                             {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // data begins at a multiple of 8
  std::ofstream stream(file, std::ios::binary);
  const std::uint64_t length = text.size();
  static_assert(std::endian::native == std::endian::little);
  stream.write(reinterpret_cast<const char*>(&length), sizeof length);
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  for (std::size_t i = 0; i < parameters.size(); ++i)
    write_values(stream, parameters[i].type, measure::binding_seed(seed, i));
  stream.flush();
  if (!stream)
    return environment_error("cannot write {} bytes of random parameters to '{}'", end,
                             file.string());
  return {};
}

Result<std::vector<std::string>> flags_with_parameters(const RuntimeOptions& options,
                                                       const std::string& given,
                                                       const InputProgram& program,
                                                       const std::filesystem::path& folder,
                                                       std::uint64_t seed) {
  HONE_ASSIGN(std::vector<std::string> of_user, runtime_flags(options));
  std::map<std::string, std::vector<iree::ProgramParameter>> by_scope;
  for (iree::ProgramParameter& parameter : iree::parameters_in(program.bytes))
    by_scope[parameter.scope].push_back(std::move(parameter));
  std::vector<std::string> flags;
  for (const auto& [scope, parameters] : by_scope) {
    const auto gives = [&scope = scope](const std::string& flag) {
      return gives_scope(flag, scope);
    };
    if (std::ranges::any_of(of_user, gives)) continue;
    const auto own = std::ranges::find_if(program.runtime_flags, gives);
    if (own != program.runtime_flags.end()) {
      flags.push_back(*own);
      continue;
    }
    if (!options.random_parameters) return tl::unexpected(not_given(given, scope, parameters));
    const std::filesystem::path file =
        folder / fmt::format("random_parameters{}.safetensors", flags.size());
    HONE_TRY(write_random_parameters(parameters, file, seed));
    flags.push_back("--parameters=" + (scope.empty() ? scope : scope + "=") + file.string());
  }
  return tune::joined(std::move(of_user), flags);
}

Result<std::vector<std::string>> runtime_flags(const RuntimeOptions& options) {
  std::vector<std::string> flags;
  for (const std::string& given : options.parameters) {
    HONE_TRY(check_parameters(given));
    flags.push_back("--parameters=" + given);
  }
  if (!options.flags_file.empty()) {
    HONE_ASSIGN(const std::vector<std::string> in_file, flags_in(options.flags_file));
    flags = tune::joined(std::move(flags), in_file);
  }
  return tune::joined(std::move(flags), options.flags);
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
