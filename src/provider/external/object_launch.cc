#include "provider/external/object_launch.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>

#include "base/file.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "problem/code_target.h"
#include "provider/code_object_metadata.h"
#include "provider/ptx_kernel.h"
#include "provider/resources.h"

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

using provider::CodeObjectKernel;
using Text = provider::KernelManifest::Text;

constexpr std::int64_t kAddressBytes = 8, kWordBytes = 4;

class LaunchReader {
 public:
  LaunchReader(const ExternalKernel& kernel, const DispatchForm& form, const ObjectDevice& device)
      : kernel_(kernel),
        form_(form),
        device_(device),
        candidate_(kernel, form, device.target, device.shared_bytes) {}

  Result<ObjectLaunch> read() {
    ObjectLaunch launch;
    HONE_ASSIGN(launch.launch, candidate_.launched());
    HONE_ASSIGN(launch.function, candidate_.function());
    HONE_ASSIGN(launch.code, candidate_.made());
    launch.zeroed = !kernel_.zeroed.empty();
    if (!problem::code_target(launch.code) && !ptx_entries(launch.code).empty())
      return of_ptx(std::move(launch));
    if (kernel_.processor) {
      auto copy = problem::for_processor(launch.code, kernel_.processor->text);
      if (!copy) return at(kernel_.processor->line).error("processor: {}", copy.error().message);
      launch.code = *std::move(copy);
    }
    HONE_TRY(check_target(launch.code));
    launch.format = device_.target.starts_with("gfx") ? "hsaco" : "cubin";
    HONE_TRY(read_arguments(launch));
    HONE_ASSIGN(const std::optional<CodeObjectKernel> said, said_of(launch));
    if (!said) return launch;
    launch.subgroup_size = said->subgroup_size;
    HONE_TRY(check_block(*said, launch.launch));
    HONE_TRY(check_arguments(*said, launch));
    return launch;
  }

 private:
  provider::YamlPlace at(int line) const { return {kernel_.manifest, line}; }

  // Rewrites PTX to take one address for each operand, in the order of the form's bindings.
  Result<ObjectLaunch> of_ptx(ObjectLaunch launch) const {
    if (kernel_.processor)
      return at(kernel_.processor->line)
          .error("processor: it is for AMD code objects, and this is PTX");
    const Status fits = external::check_target(launch.code, device_.runs_as);
    if (!fits) return at(kernel_.object_line).error("{}", fits.error().message);
    HONE_ASSIGN(const std::vector<Argument> arguments, candidate_.arguments(form_));
    const auto& block = launch.launch.block;
    const auto fitted = [&](const std::string& called) -> Result<std::string> {
      auto ptx = with_launch(launch.code, launch.function, called, arguments, form_.bindings, 0,
                             std::int64_t{block[0]} * block[1] * block[2]);
      if (!ptx) return at(kernel_.object_line).error("{}", ptx.error().message);
      return ptx;
    };
    HONE_ASSIGN(const std::string unnamed, fitted(launch.function));
    const std::string entry = launch.function + "_" + content_hash(unnamed).substr(0, 8);
    HONE_ASSIGN(launch.code, fitted(entry));
    launch.function = entry;
    launch.format = "ptx";
    launch.operands.resize(form_.operands.size());
    for (const auto& [name, place] : form_.operands)
      launch.operands.at(static_cast<std::size_t>(place.binding)) = name;
    for (std::size_t i = 0; i < launch.operands.size(); ++i)
      launch.bindings.push_back(static_cast<int>(i));
    return launch;
  }

  Status check_target(const std::string& code) const {
    const std::optional<std::string> made_for = problem::code_target(code);
    if (!made_for)
      return at(kernel_.object_line)
          .error("this is neither an AMD code object nor a cubin nor PTX");
    const Status fits = problem::check_code_target(code, device_.runs_as);
    if (fits) return {};
    const std::string version = problem::override_for(*made_for);
    const bool overridden = device_.runs_as != device_.target;
    if (overridden)
      return at(kernel_.object_line)
          .error("{}, which HSA_OVERRIDE_GFX_VERSION makes of {}", fits.error().message,
                 device_.target);
    if (version.empty() || !device_.target.starts_with("gfx"))
      return at(kernel_.object_line).error("{}", fits.error().message);
    if (problem::has_its_instructions(device_.target, *made_for))
      return at(kernel_.object_line)
          .error(
              "{}; {} has its instructions: 'processor: {}' in the manifest places a copy that "
              "names it",
              fits.error().message, device_.target, device_.target);
    return at(kernel_.object_line)
        .error(
            "{}; --env HSA_OVERRIDE_GFX_VERSION={} has AMD's runtime take the GPU for a {}, and "
            "then "
            "all code of the program must be for that",
            fits.error().message, version, *made_for);
  }

  Status read_arguments(ObjectLaunch& launch) const {
    for (const Text& argument : kernel_.arguments) {
      const auto operand = form_.operands.find(argument.text);
      const bool scratch = argument.text == kScratch;
      if (operand == form_.operands.end() && !scratch) {
        HONE_ASSIGN(const space::Value value, candidate_.value_of("arguments", argument));
        constexpr space::Value kLeast = std::numeric_limits<std::int32_t>::min(),
                               kMost = std::numeric_limits<std::uint32_t>::max();
        if (value < kLeast || value > kMost)
          return at(argument.line)
              .error("arguments: '{}' is {}; a constant of a launch has 32 bits", argument.text,
                     value);
        launch.launch.constants.push_back(static_cast<std::uint32_t>(value));
        launch.constants.push_back(argument.text);
        continue;
      }
      if (!launch.constants.empty())
        return at(argument.line)
            .error(
                "arguments: {} is an address behind numbers; a launch passes all addresses first, "
                "and machine code cannot be given another order",
                argument.text);
      if (std::ranges::find(launch.operands, argument.text) != launch.operands.end())
        return at(argument.line).error("arguments: {} is passed twice", argument.text);
      launch.operands.push_back(argument.text);
      if (scratch) {
        HONE_ASSIGN(launch.scratch_bytes, candidate_.scratch_bytes());
      }
      launch.bindings.push_back(scratch ? kScratchBinding : operand->second.binding);
    }
    return {};
  }

  // Returns the object's metadata of the function; nothing for a cubin that has the function.
  Result<std::optional<CodeObjectKernel>> said_of(const ObjectLaunch& launch) const {
    std::vector<std::string> names;
    for (const CodeObjectKernel& each : provider::code_object_kernels(launch.code)) {
      if (each.name == launch.function) return each;
      names.push_back(each.name);
    }
    if (provider::cubin_resources(launch.code, launch.function))
      return std::optional<CodeObjectKernel>();
    constexpr std::size_t kMostNames = 5;
    const std::string nearest = did_you_mean(launch.function, names);
    const std::size_t count = names.size();
    names.resize(std::min(count, kMostNames));
    return at(kernel_.function.line)
        .error("kernel: the object has no '{}'{}{}", launch.function, nearest,
               names.empty() ? std::string()
                             : fmt::format("; it has {}{}", fmt::join(names, ", "),
                                           count > kMostNames ? ", ..." : ""));
  }

  Status check_block(const CodeObjectKernel& said, const problem::Launch& launch) const {
    const std::int64_t threads = std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    const int line = kernel_.block.front().line;
    if (said.most_threads > 0 && threads > said.most_threads)
      return at(line).error("block: it has {} threads, and the object's kernel may have {}",
                            threads, said.most_threads);
    const auto& wanted = said.required_block;
    const bool says = wanted != std::array<std::int64_t, 3>{};
    if (says && !std::ranges::equal(wanted, launch.block))
      return at(line).error("block: it is {}, and the object's kernel must have {}",
                            fmt::join(launch.block, " x "), fmt::join(wanted, " x "));
    // IREE 3.13's HIP runtime launches with none.
    if (launch.shared_bytes > 0)
      return at(kernel_.shared_memory->line)
          .error(
              "shared_memory: a launch in a program has none on AMD GPUs; give the kernel {} bytes "
              "of "
              "fixed size (.group_segment_fixed_size)",
              launch.shared_bytes);
    const std::int64_t shared = said.shared_bytes;
    if (shared > device_.shared_bytes)
      return at(kernel_.object_line)
          .error(
              "object: its {} bytes of local memory are more than the {} that a workgroup may have",
              shared, device_.shared_bytes);
    return {};
  }

  Status check_arguments(const CodeObjectKernel& said, const ObjectLaunch& launch) const {
    const int line = kernel_.arguments.front().line;
    if (said.kernarg_bytes != launch.argument_bytes())
      return at(line).error(
          "arguments: {} addresses of 8 bytes and {} numbers of 4 bytes are {} bytes, and the "
          "object's kernel reads {}",
          launch.operands.size(), launch.constants.size(), launch.argument_bytes(),
          said.kernarg_bytes);
    // AMD's runtime (clr, hip_module.cpp) walks this list for kernelParams, and rejects `extra` if
    // the list is empty.
    if (said.arguments.empty())
      return at(kernel_.object_line)
          .error(
              "object: it lists no arguments for its kernel, so HIP passes none; list them as "
              ".args "
              "in the .amdgpu_metadata of its assembly");
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < said.arguments.size(); ++i) {
      const CodeObjectKernel::Argument& theirs = said.arguments[i];
      if (i >= kernel_.arguments.size()) break;
      const bool address = i < launch.operands.size();
      const std::int64_t bytes = address ? kAddressBytes : kWordBytes;
      const Text& ours = kernel_.arguments[i];
      if (theirs.offset != offset || theirs.bytes != bytes || theirs.address != address)
        return at(ours.line).error(
            "arguments: '{}' is {} at byte {}, and the object's {} there is {} of {} bytes at byte "
            "{}",
            ours.text, address ? "an address" : "a number of 4 bytes", offset,
            theirs.name.empty() ? "argument" : theirs.name,
            theirs.address ? "an address" : "a value", theirs.bytes, theirs.offset);
      offset += bytes;
    }
    return {};
  }

  const ExternalKernel& kernel_;
  const DispatchForm& form_;
  const ObjectDevice& device_;
  Candidate candidate_;
};

}  // namespace

Candidate::Candidate(const ExternalKernel& kernel, const DispatchForm& form, std::string target,
                     space::Value shared_bytes)
    : kernel_(kernel),
      target_(std::move(target)),
      entry_(provider::symbol_in_code(form.entry.empty() ? kernel.name() : form.entry)),
      shared_bytes_(shared_bytes) {
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
      HONE_ASSIGN(const space::Value bytes, scratch_bytes());
      arguments.emplace_back(Scratch{bytes});
      continue;
    }
    HONE_ASSIGN(const space::Value value, value_of("arguments", argument));
    arguments.emplace_back(value);
  }
  return arguments;
}

Result<space::Value> Candidate::scratch_bytes() const {
  HONE_ASSIGN(const space::Value bytes, value_of("scratch", *kernel_.scratch));
  if (bytes >= 1 && bytes <= kMostScratchBytes) return bytes;
  return failure("{}:{}: scratch: '{}' is {}; it must be from 1 to {} bytes", kernel_.manifest,
                 kernel_.scratch->line, kernel_.scratch->text, bytes, kMostScratchBytes);
}

Result<std::string> Candidate::filled(const std::string& text, const std::string& object) const {
  return filled_in(text, [&](const std::string& name) -> std::optional<std::string> {
    if (name == "source") return std::filesystem::absolute(kernel_.source).string();
    if (name == "object") return object;
    if (name == "target") return target_;
    if (name == "entry") return entry_;
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

Status check_constraints(const ExternalKernel& kernel, const DispatchForm& form,
                         const ObjectDevice& device) {
  const Candidate candidate(kernel, form, device.target, device.shared_bytes);
  for (const auto& rule : kernel.rules) {
    if (rule.soft) continue;
    const auto holds = candidate.value_of("constraints: " + rule.name, {rule.rule, rule.line});
    if (!holds) return input_error("{}", holds.error().message);
    if (*holds == 0)
      return provider::YamlPlace(kernel.manifest, rule.line)
          .error("constraints: {} does not hold here: {}", rule.name, rule.reason);
  }
  return {};
}

Result<ObjectLaunch> object_launch(const ExternalKernel& kernel, const DispatchForm& form,
                                   const ObjectDevice& device) {
  Result<ObjectLaunch> launch = LaunchReader(kernel, form, device).read();
  // All errors are mistakes in the user's files.
  if (!launch) return input_error("{}", launch.error().message);
  return launch;
}

}  // namespace hone::external
