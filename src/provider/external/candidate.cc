#include "provider/external/candidate.h"

#include <filesystem>

#include "base/file.h"
#include "base/process.h"

namespace hone::external {
namespace {

// Time limit of a build command, which might wait for ever. A worker that compiles candidates has
// limits of its own, which are shorter.
constexpr ProcessLimits kBuildLimits{.seconds = 600};

// Largest block and grid that the driver launches, on every GPU since compute capability 2.0 (CUDA
// C++ Programming Guide, "Compute Capabilities").
constexpr space::Value kMostThreads = 1024, kMostGrid = 2147483647, kMostGridBehind = 65535;

// Limit of a kernel's scratch memory, which stays allocated as long as its program is loaded.
constexpr space::Value kMostScratchBytes = space::Value{1} << 30U;

}  // namespace

Candidate::Candidate(const ExternalKernel& kernel, const DispatchForm& form, std::string target,
                     space::Value shared_bytes)
    : kernel_(kernel), target_(std::move(target)), shared_bytes_(shared_bytes) {
  names_.emplace("shared_bytes", shared_bytes);
  for (const auto& [name, size] : form.sizes) give(name, size);
  for (const auto& [knob, value] : kernel.defaults) give(knob, value);
}

void Candidate::give(const std::string& name, space::Value value) {
  values_[name] = value;
  names_.insert_or_assign(name, value);
}

Result<std::string> Candidate::function() const {
  return filled(kernel_.function.text, {});
}

Result<space::Value> Candidate::value_of(const std::string& what,
                                         const provider::KernelManifest::Text& text) const {
  HONE_ASSIGN(const space::Expression expression, space::parse_expression(text.text, names_));
  const auto value = space::evaluate(expression, {});
  if (!value)
    return failure("{}:{}: {}: '{}' has no value here", kernel_.manifest, text.line, what,
                   text.text);
  return *value;
}

Result<std::vector<Argument>> Candidate::arguments(const DispatchForm& form) const {
  std::vector<Argument> arguments;
  for (const auto& argument : kernel_.arguments) {
    const auto operand = form.operands.find(argument.text);
    if (operand != form.operands.end()) {
      arguments.emplace_back(operand->second);
      continue;
    }
    if (argument.text == kScratch) {
      HONE_ASSIGN(const space::Value bytes, value_of("scratch", *kernel_.scratch));
      if (bytes < 1 || bytes > kMostScratchBytes)
        return failure("{}:{}: scratch: '{}' is {}; it must be from 1 to {} bytes",
                       kernel_.manifest, kernel_.scratch->line, kernel_.scratch->text, bytes,
                       kMostScratchBytes);
      arguments.emplace_back(Scratch{bytes});
      continue;
    }
    HONE_ASSIGN(const space::Value value, value_of("arguments", argument));
    arguments.emplace_back(value);
  }
  return arguments;
}

Result<std::string> Candidate::filled(const std::string& text, const std::string& object) const {
  return filled_in(text, [&](const std::string& name) -> std::optional<std::string> {
    if (name == "source") return std::filesystem::absolute(kernel_.source).string();
    if (name == "object") return object;
    if (name == "target") return target_;
    const auto value = values_.find(name);
    return value == values_.end() ? std::nullopt : std::optional(std::to_string(value->second));
  });
}

// `into`: three extents; those that are not given stay 1.
Status Candidate::extents(const std::string& what,
                          const std::vector<provider::KernelManifest::Text>& expressions,
                          const std::array<space::Value, 3>& most,
                          std::array<std::uint32_t, 3>& into) const {
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    HONE_ASSIGN(const space::Value value, value_of(what, expressions[i]));
    if (value < 1 || value > most[i])
      return failure("{}:{}: {}: '{}' is {}; it must be from 1 to {}", kernel_.manifest,
                     expressions[i].line, what, expressions[i].text, value, most[i]);
    into[i] = static_cast<std::uint32_t>(value);
  }
  return {};
}

Result<problem::Launch> Candidate::launched() const {
  problem::Launch launch;
  HONE_TRY(
      extents("grid", kernel_.grid, {kMostGrid, kMostGridBehind, kMostGridBehind}, launch.grid));
  HONE_TRY(
      extents("block", kernel_.block, {kMostThreads, kMostThreads, kMostThreads}, launch.block));
  const space::Value threads = space::Value{launch.block[0]} * launch.block[1] * launch.block[2];
  if (threads > kMostThreads)
    return failure("{}: block has {} threads; at most {} can be launched", kernel_.manifest,
                   threads, kMostThreads);
  if (kernel_.shared_memory) {
    HONE_ASSIGN(const space::Value bytes, value_of("shared_memory", *kernel_.shared_memory));
    if (bytes < 0 || bytes > shared_bytes_)
      return failure("{}:{}: shared_memory: {} bytes; a workgroup may have {}", kernel_.manifest,
                     kernel_.shared_memory->line, bytes, shared_bytes_);
    launch.shared_bytes = static_cast<std::uint32_t>(bytes);
  }
  return launch;
}

Result<std::string> Candidate::made() const {
  if (kernel_.build.empty()) return read_file(kernel_.object.string());
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-object-"));
  const std::filesystem::path object = folder.path() / "kernel";
  Command command;
  command.folder = std::filesystem::absolute(kernel_.source).parent_path();
  for (const auto& word : kernel_.build) {
    HONE_ASSIGN(std::string argument, filled(word.text, object.string()));
    command.arguments.push_back(std::move(argument));
  }
  HONE_ASSIGN(const ProcessResult built, run_process(command, kBuildLimits));
  if (!built.succeeded())
    return failure("{}: {}\n{}{}", fmt::join(command.arguments, " "), describe(built, kBuildLimits),
                   built.standard_output.text(), built.standard_error.text());
  auto bytes = read_file(object.string());
  if (!bytes)
    return failure("{}: it left no {{object}}: {}", fmt::join(command.arguments, " "),
                   bytes.error().message);
  return bytes;
}

}  // namespace hone::external
