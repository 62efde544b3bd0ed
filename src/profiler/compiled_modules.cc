#include "profiler/compiled_modules.h"

#include <algorithm>
#include <sstream>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "profiler/tree.h"

namespace hone::profiler {
namespace {

constexpr std::string_view kMadeOf = "// made of ";
constexpr std::string_view kLeftOut = "// left out: ";

std::string profile_flag(int batch_size) {
  return fmt::format("--iree-hal-benchmark-dispatch-repeat-count={}", batch_size);
}

std::vector<std::string> function_names(const SelectedOperation& selected) {
  std::vector<std::string> names;
  for (const std::string& configuration : selected.configurations)
    names.push_back(NamedDispatch{selected.operation, configuration}.name());
  return names;
}

class Modules {
 public:
  Modules(trial::CompileService& compiler, const ModuleOptions& options,
          const SelectedOperation& selected)
      : compiler_(compiler),
        options_(options),
        selected_(selected),
        files_(options.generated_dir, selected.operation),
        names_(function_names(selected)) {
    row_.operation = selected.operation;
  }

  // Returns whether there is something to compile.
  Result<bool> open() {
    HONE_ASSIGN(const std::string source, read_file(files_.source()));
    text_ = only_functions(source, names_);
    made_of_ = content_hash(fmt::format("{}\n{}\n{}\n{}", options_.compiler, text_,
                                        fmt::join(options_.flags, "\n"), options_.batch_size));
    row_.was_up_to_date = !options_.force && is_up_to_date();
    row_.dispatches = names_.size() - row_.left_out.size();
    return !row_.was_up_to_date;
  }

  // Returns the two programs of the functions that are not skipped.
  std::vector<trial::ProgramToCompile> programs() const {
    std::vector<std::string> profile_flags = options_.flags;
    profile_flags.push_back(profile_flag(options_.batch_size));
    const std::string path = files_.source().string();
    return {{path, text_, options_.flags}, {path, text_, std::move(profile_flags)}};
  }

  // Takes the compiled modules of programs(). If one does not compile, compiles the dispatches one
  // by one.
  Status take(std::span<trial::CompiledModule> modules) {
    const bool compiled = std::ranges::all_of(
        modules, [](const trial::CompiledModule& each) { return each.has_value(); });
    if (compiled) return write(*modules[0], *modules[1]);
    HONE_TRY(leave_out(first_error(modules)));
    if (row_.dispatches == 0) return write("", "");
    HONE_ASSIGN(std::vector<trial::CompiledModule> rest, compiler_.compile_each(programs()));
    if (rest[0] && rest[1]) return write(*rest[0], *rest[1]);
    // Skip the whole operation if its dispatches compile alone but not together.
    for (const std::string& name : names_) row_.left_out.push_back({name, first_error(rest)});
    row_.dispatches = 0;
    return write("", "");
  }

  const ModuleRow& row() const { return row_; }

 private:
  static std::string first_error(std::span<const trial::CompiledModule> modules) {
    return (modules[0] ? modules[1] : modules[0]).error().message;
  }

  // Returns whether the last compile wrote the modules from this text and finished: neither was it
  // stopped nor did the disk lose a part.
  bool is_up_to_date() {
    const Result<std::string> log = read_file(files_.compiler_output());
    if (!log) return false;
    const Result<std::string> verify = read_file(files_.verify_module()),
                              profile = read_file(files_.profile_module());
    std::istringstream lines(*log);
    bool same = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(kMadeOf)) same = line == seal(verify.value_or(""), profile.value_or(""));
      if (!line.starts_with(kLeftOut)) continue;
      const std::string rest = line.substr(kLeftOut.size());
      const std::size_t at = rest.find(": ");
      if (at != std::string::npos)
        row_.left_out.push_back({rest.substr(0, at), rest.substr(at + 2)});
    }
    if (!same) row_.left_out.clear();
    return same;
  }

  std::string seal(std::string_view verify, std::string_view profile) const {
    return fmt::format("{}{}, verify {}, profile {}", kMadeOf, made_of_, content_hash(verify),
                       content_hash(profile));
  }

  Status leave_out(const std::string& why) {
    std::vector<std::string> kept;
    std::vector<trial::ProgramToCompile> alone;
    for (const std::string& name : names_)
      alone.push_back({files_.source().string(), only_functions(text_, {name}), options_.flags});
    std::vector<trial::CompiledModule> modules;
    if (names_.size() == 1) {
      modules.push_back(
          tl::unexpected(provider::Failure{provider::FailureKind::kCompileError, why}));
    } else {
      HONE_ASSIGN(modules, compiler_.compile_each(alone));
    }
    for (std::size_t i = 0; i < names_.size(); ++i)
      if (modules[i])
        kept.push_back(names_[i]);
      else
        row_.left_out.push_back({names_[i], modules[i].error().message});
    names_ = std::move(kept);
    text_ = only_functions(text_, names_);
    row_.dispatches = names_.size();
    return {};
  }

  // Writes the module; removes the file of an earlier compile if the module is empty.
  Status write_module(const std::filesystem::path& path, std::string_view module) const {
    if (!module.empty()) return write_file_atomically(path, module);
    std::error_code error;
    std::filesystem::remove(path, error);
    if (error) return environment_error("cannot remove '{}': {}", path.string(), error.message());
    return {};
  }

  // Writes the log last: it states that the modules are complete.
  Status write(std::string_view verify, std::string_view profile) {
    HONE_TRY(write_module(files_.verify_module(), verify));
    HONE_TRY(write_module(files_.profile_module(), profile));
    return write_file_atomically(files_.compiler_output(), log(verify, profile));
  }

  std::string log(std::string_view verify, std::string_view profile) const {
    std::vector<std::string> words{"iree-compile", shell_word(files_.source().string())};
    for (const std::string& flag : options_.flags) words.push_back(shell_word(flag));
    const std::string command = fmt::format("// {}", fmt::join(words, " "));
    std::string text = fmt::format(
        "{} -o {}\n{} {} -o {}\n{}\n", command, files_.verify_module().string(), command,
        profile_flag(options_.batch_size), files_.profile_module().string(), seal(verify, profile));
    for (const SkippedDispatch& each : row_.left_out) {
      // Keep a reason of several lines in one comment. The next run reads back its first line.
      std::string reason = each.reason;
      for (std::size_t at = 0; (at = reason.find('\n', at)) != std::string::npos; at += 4)
        reason.replace(at, 1, "\n// ");
      text += fmt::format("{}{}: {}\n", kLeftOut, each.dispatch, reason);
    }
    return text;
  }

  trial::CompileService& compiler_;
  const ModuleOptions& options_;
  const SelectedOperation& selected_;
  OperationFiles files_;
  std::vector<std::string> names_;  // of functions that are not left out
  std::string text_;                // of these
  std::string made_of_;
  ModuleRow row_;
};

}  // namespace

Status compile_modules(trial::CompileService& compiler, const ModuleOptions& options,
                       std::span<const SelectedOperation> operations,
                       const std::function<Status(const ModuleRow&)>& row) {
  for (std::size_t first = 0; first < operations.size();) {
    const std::size_t count =
        std::min(std::max<std::size_t>(1, options.jobs), operations.size() - first);
    std::vector<Modules> batch;
    std::vector<trial::ProgramToCompile> programs;
    std::vector<std::size_t> compiled;  // of the batch
    for (std::size_t i = 0; i < count; ++i) {
      batch.emplace_back(compiler, options, operations[first + i]);
      HONE_ASSIGN(const bool to_compile, batch.back().open());
      if (!to_compile) continue;
      compiled.push_back(i);
      std::ranges::move(batch.back().programs(), std::back_inserter(programs));
    }
    HONE_ASSIGN(std::vector<trial::CompiledModule> modules, compiler.compile_each(programs));
    for (std::size_t i = 0; i < compiled.size(); ++i)
      HONE_TRY(batch[compiled[i]].take(std::span(modules).subspan(2 * i, 2)));
    for (const Modules& each : batch) HONE_TRY(row(each.row()));
    first += count;
  }
  return {};
}

}  // namespace hone::profiler
