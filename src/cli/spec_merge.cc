// hone spec merge: several specs, or folders of hone tune --out, as one.
#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/spec_effects.h"
#include "cli/spec_entries_table.h"
#include "output/json_text.h"
#include "output/screen.h"
#include "provider/iree/compile_worker.h"
#include "session/input_program.h"
#include "session/out_folder.h"
#include "session/toolchain.h"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

struct SpecMergeOptions {
  ToolchainOptions toolchain;
  std::vector<std::string> operands;
  std::string output;   // a file, or a folder if an operand is one
  std::string program;  // empty: the entries' effect is not checked
  bool json = false;
};

struct Operands {
  iree::SpecSources specs;
  std::vector<OutFolder> folders;
};

Result<Operands> read_operands(const SpecMergeOptions& options) {
  Operands read;
  for (const std::string& operand : options.operands) {
    std::error_code code;
    if (fs::is_directory(operand, code)) {
      HONE_ASSIGN(OutFolder folder, read_out_folder(operand));
      if (!folder.spec.empty()) {
        read.specs.paths.push_back(folder.spec_path);
        read.specs.bytes.push_back(folder.spec);
      }
      read.folders.push_back(std::move(folder));
    } else {
      HONE_ASSIGN(std::string bytes, read_file(operand));
      read.specs.paths.push_back(operand);
      read.specs.bytes.push_back(std::move(bytes));
    }
  }
  if (read.specs.paths.empty())
    return input_error("the folders have no tuning spec; give a folder or a spec that has entries");
  return read;
}

// Refuses outputs that would replace more than a file of this name.
Status check_output(const SpecMergeOptions& options, bool to_folder) {
  std::error_code code;
  if (to_folder && fs::exists(options.output, code))
    return input_error("'{}' exists; name a new folder: -o merged", options.output);
  if (!to_folder && fs::is_directory(options.output, code))
    return input_error("'{}' is a folder; name a file: -o merged.mlir", options.output);
  return {};
}

// Takes over the target and the flags of the folders.
Status take_flags(ToolchainOptions& toolchain, const OutFolder& joined) {
  if (!joined.target.empty()) {
    if (toolchain.target != "host" && toolchain.target != joined.target)
      return input_error("the folders are for {}, and --target says {}", joined.target,
                         toolchain.target);
    toolchain.target = joined.target;
  }
  // Put flags of the command line last: the compiler takes the last of two.
  toolchain.flags.insert(toolchain.flags.begin(), joined.flags.begin(), joined.flags.end());
  return {};
}

// Writes spec, kernels, objects and flags into a folder beside `output`, which takes its name once
// all is written.
Status write_folder(const fs::path& output, const OutFolder& joined, const std::string& spec,
                    const ToolchainOptions& toolchain, const provider::SpecWriter& specs) {
  std::error_code code;
  const fs::path parent = fs::absolute(output, code).parent_path();
  fs::create_directories(parent, code);
  HONE_ASSIGN(const TemporaryFolder temporary, TemporaryFolder::create("hone-merge-", parent));
  const fs::path folder = temporary.path() / "merged";
  HONE_TRY(write_files(joined, spec, folder));
  std::vector<std::string> flags = specs.with_spec(compile_flags(toolchain), output / kSpecName);
  if (!joined.kernels.empty()) flags = specs.with_replaced(std::move(flags), output / kKernelsName);
  for (std::string& flag : transform_flags(joined, output)) flags.push_back(std::move(flag));
  HONE_TRY(write_file_atomically(folder / kFlagsName, response_file(flags)));
  fs::rename(folder, output, code);
  if (code) return input_error("'{}': {}", output.string(), code.message());
  return {};
}

struct Effects {
  tune::CheckedSpec spec;
  std::vector<tune::CheckedKernel> kernels;

  bool all_work() const {
    return working_entries(spec) == spec.entries.size() &&
           std::ranges::all_of(kernels, [](const tune::CheckedKernel& each) {
             return each.effect == tune::ReplacedEffect::kApplied;
           });
  }
};

Result<Effects> effects_of(const SpecMergeOptions& options, const Toolchain& toolchain,
                           const iree::IreeProvider& provider, const OutFolder& joined,
                           const std::string& spec) {
  HONE_ASSIGN(const InputProgram program, read_program(options.program, toolchain));
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-merge-"));
  HONE_TRY(write_files(joined, spec, folder.path()));
  std::vector<std::string> flags = compile_flags(options.toolchain);
  for (std::string& flag : transform_flags(joined, folder.path())) flags.push_back(std::move(flag));
  Effects effects;
  HONE_ASSIGN(effects.spec, tune::check_spec(toolchain.compiler(), provider.specs(),
                                             {.program_path = options.program,
                                              .program_bytes = program.bytes,
                                              .spec_path = folder.path() / kSpecName,
                                              .spec_bytes = spec,
                                              .flags = flags}));
  if (joined.kernels.empty()) return effects;
  HONE_ASSIGN(effects.kernels, tune::check_replaced(toolchain.compiler(), provider,
                                                    {.program_path = options.program,
                                                     .program_bytes = program.bytes,
                                                     .folder = folder.path() / kKernelsName,
                                                     .flags = flags}));
  return effects;
}

// Differences that do not stop the merge.
std::vector<std::string> notes_of(const Operands& read, const iree::MergedSpec& merged) {
  std::vector<std::string> notes;
  for (const iree::MergedEntry& entry : merged.entries) {
    if (!entry.behind || entry.repeated) continue;
    notes.push_back(fmt::format(
        "conflict: {}:{} @{} is left out: {} matches the same and configures it differently",
        entry.path, entry.line, entry.matcher,
        merged.entries[static_cast<std::size_t>(*entry.behind)].origin));
  }
  if (!merged.restore_batch.empty() && merged.restore_batch.size() < read.specs.paths.size())
    notes.push_back(
        fmt::format("{} restores the batch loop of convolutions first, for the entries "
                    "of all specs",
                    fmt::join(merged.restore_batch, ", ")));
  for (const std::string& flag : flags_of_some(read.folders))
    notes.push_back(
        fmt::format("{} is not a flag of all folders: the entries of the others were "
                    "tuned without it",
                    flag));
  return notes;
}

void print_json(const SpecMergeOptions& options, bool to_folder, const iree::MergedSpec& merged,
                const std::vector<std::string>& notes, const std::optional<Effects>& effects) {
  const fs::path output = options.output;
  nlohmann::json document{{"spec", to_folder ? (output / kSpecName).string() : options.output},
                          {"merged", entries_json(merged.entries)},
                          {"notes", notes}};
  if (effects) {
    nlohmann::json kernels = nlohmann::json::array();
    for (const tune::CheckedKernel& each : effects->kernels)
      kernels.push_back({{"file", each.file.filename().string()},
                         {"dispatch", each.dispatch},
                         {"effect", tune::name_of(each.effect)},
                         {"note", each.note}});
    document.update(effects_json(effects->spec));
    document.update({{"program", options.program},
                     {"target", target_json(options.toolchain)},
                     {"kernels", kernels}});
  }
  output::print_document(std::move(document));
}

void print_text(const SpecMergeOptions& options, const iree::MergedSpec& merged,
                const std::vector<std::string>& notes, const std::optional<Effects>& effects) {
  const std::size_t width = output::screen_width();
  const auto kept =
      std::ranges::count_if(merged.entries, [](const auto& entry) { return !entry.behind; });
  fmt::print("{}: {} of {} entries, the first match wins\n\n{}", options.output, kept,
             merged.entries.size(), entries_table(merged.entries).to_text(width));
  for (const std::string& note : notes) fmt::print("{}\n", output::wrapped(note, width));
  if (!effects) return;
  fmt::print("\n");
  print_effects({options.output, options.program, options.toolchain.target}, effects->spec, {});
  for (const tune::CheckedKernel& each : effects->kernels)
    fmt::print("kernel {}: {}{}{}\n", each.file.filename().string(), tune::name_of(each.effect),
               each.note.empty() ? "" : ": ", each.note);
}

CommandResult merge_given(SpecMergeOptions& options) {
  HONE_TRY(read_flags(options.toolchain));
  HONE_ASSIGN(const Operands read, read_operands(options));
  const bool to_folder = !read.folders.empty();
  HONE_TRY(check_output(options, to_folder));
  HONE_ASSIGN(const OutFolder joined, joined_folders(read.folders));
  HONE_TRY(take_flags(options.toolchain, joined));
  HONE_ASSIGN(const Toolchain toolchain, Toolchain::start(options.toolchain));
  HONE_ASSIGN(const auto provider, make_provider(options.toolchain, toolchain.installation()));
  HONE_ASSIGN(const iree::MergedSpec merged,
              toolchain.compiler().ask(iree::kMergeSpecs, read.specs));
  std::optional<Effects> effects;
  if (!options.program.empty()) {
    HONE_ASSIGN(effects, effects_of(options, toolchain, *provider, joined, merged.text));
  }
  HONE_TRY(to_folder ? write_folder(options.output, joined, merged.text, options.toolchain,
                                    provider->specs())
                     : write_file_atomically(options.output, merged.text));

  const std::vector<std::string> notes = notes_of(read, merged);
  if (options.json)
    print_json(options, to_folder, merged, notes, effects);
  else
    print_text(options, merged, notes, effects);
  return !effects || effects->all_work() ? 0 : 1;
}

}  // namespace

void add_spec_merge_command(CLI::App& spec, Action& run) {
  const auto [command, options] = add_command<SpecMergeOptions>(
      spec, run, "merge",
      "Merge specs, or folders of hone tune --out with their kernels and flags, into one",
      merge_given);
  command
      .add_option("SPEC", options.operands,
                  "tuning specs (.mlir, .mlirbc) or folders of --out; the first match wins")
      ->required();
  command
      .add_option("-o,--output", options.output,
                  "file to write; if a folder is merged, a new folder")
      ->required();
  command.add_option("--program", options.program,
                     "check each entry's effect on this program (.mlir, .mlirbc, .onnx)");
  add_toolchain_options(command, options.toolchain);
  command.add_flag("--json", options.json, "print one JSON document");
  command.footer(
      "Entries keep their order. An entry behind another of the same conditions is\n"
      "left out. A conflict is printed, and is no error. Exit code 1: with --program,\n"
      "an entry does nothing, is shadowed or ignored, or does not compile. Exit code 2:\n"
      "flags, kernels or targets of folders differ; nothing is written.");
  command.allow_extras();
}

}  // namespace hone::cli
