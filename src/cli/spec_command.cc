// hone spec: checks the effect of a tuning spec on a program, and converts results to other forms.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "output/json_text.h"
#include "output/screen.h"
#include "output/table.h"
#include "session/found_gemms.h"
#include "session/input_program.h"
#include "session/toolchain.h"
#include "tune/program/spec_check.h"

namespace hone::cli {
namespace {

// Rows of the screen; --json has all.
constexpr std::size_t kMostEntries = 30;

struct SpecOptions {
  ToolchainOptions toolchain;
  std::string spec;
  std::string program;
  bool json = false;
};

const problem::Dispatch& dispatch_of(const tune::CheckedSpec& checked, const tune::SpecUse& use) {
  return checked.program.dispatches[use.dispatch];
}

// "applied 3, shadowed 1".
std::string effects_of(const tune::CheckedEntry& entry) {
  std::map<tune::SpecEffect, std::size_t> counts;
  for (const tune::SpecUse& use : entry.uses) ++counts[use.effect];
  std::string text;
  for (const auto& [effect, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", tune::name_of(effect), count);
  return text.empty() ? "does nothing" : text;
}

// Why an entry does not work, or what is different for an applied one.
std::string why_of(const tune::CheckedEntry& entry) {
  if (entry.uses.empty()) return "no dispatch matches";
  const auto worst = std::ranges::max_element(entry.uses, {}, &tune::SpecUse::effect);
  return worst->note.empty() ? "-" : output::in_one_line(worst->note);
}

// Returns a row for each entry; --json has each dispatch that it matches. Of many entries those
// that do not work come first.
output::Table table_of(const tune::CheckedSpec& checked) {
  output::Table table({{"matcher", "entry"},
                       {"effect", "effect on dispatches"},
                       {"matches", "first match"},
                       {"note", "why"},
                       {"line", "line", output::kRight}});
  std::vector<const tune::CheckedEntry*> entries;
  for (const tune::CheckedEntry& entry : checked.entries) entries.push_back(&entry);
  if (entries.size() > kMostEntries)
    std::ranges::stable_partition(entries, [](const auto* entry) { return !entry->works(); });
  for (const tune::CheckedEntry* entry : entries)
    table.add({{entry->entry.matcher, ""},
               {effects_of(*entry), ""},
               {entry->uses.empty() ? "-" : dispatch_of(checked, entry->uses.front()).name, ""},
               {why_of(*entry), ""},
               {entry->entry.line, ""}});
  return table;
}

nlohmann::json json_of(const tune::CheckedSpec& checked) {
  nlohmann::json entries = nlohmann::json::array();
  for (const tune::CheckedEntry& entry : checked.entries) {
    nlohmann::json uses = nlohmann::json::array();
    for (const tune::SpecUse& use : entry.uses)
      uses.push_back({{"dispatch", dispatch_of(checked, use).name},
                      {"spec_class", checked.spec_class[use.dispatch]},
                      {"effect", tune::name_of(use.effect)},
                      {"applied", use.effect == tune::SpecEffect::kApplied},
                      {"legal", use.effect != tune::SpecEffect::kIllegal},
                      {"note", use.note}});
    entries.push_back({{"matcher", entry.entry.matcher},
                       {"line", entry.entry.line},
                       {"parses", true},
                       {"matches", uses},
                       {"works", entry.works()}});
    for (const provider::NamedText& part : entry.says) entries.back()[part.name] = part.text;
  }
  return entries;
}

// Returns the classes of dispatches: an entry for one dispatch applies to its whole class.
nlohmann::json classes_of(const tune::CheckedSpec& checked) {
  nlohmann::json classes = nlohmann::json::array();
  for (std::size_t first = 0; first < checked.spec_class.size(); ++first) {
    nlohmann::json members = nlohmann::json::array();
    for (std::size_t d = first; d < checked.spec_class.size(); ++d)
      if (checked.spec_class[d] == first) members.push_back(checked.program.dispatches[d].name);
    if (checked.spec_class[first] == first)
      classes.push_back({{"spec_class", first}, {"dispatches", members}});
  }
  return classes;
}

// The verdict first, then the entries, and which dispatches share one.
void print(const SpecOptions& options, const tune::CheckedSpec& checked,
           const std::vector<std::string>& flags, std::size_t working) {
  constexpr std::size_t kMostClasses = 3, kMostIllegal = 3;
  const std::size_t width = output::screen_width();
  fmt::print("{}\n", output::wrapped(fmt::format("{} of {} entries work for {} on {}", working,
                                                 checked.entries.size(), options.program,
                                                 options.toolchain.target),
                                     width));
  std::string words = "use it: iree-compile";
  for (const std::string& flag : flags) words += " " + shell_word(flag);
  fmt::print("{}\n\n{}", output::wrapped(words, width, "    ", " \\"),
             table_of(checked).first_text(kMostEntries, width, " (--json)"));
  std::size_t illegal = 0;
  for (const tune::CheckedEntry& entry : checked.entries)
    for (const tune::SpecUse& use : entry.uses)
      if (use.effect == tune::SpecEffect::kIllegal && ++illegal <= kMostIllegal)
        fmt::print("\n{}:{}: @{} on {}: {}\n", options.spec, entry.entry.line, entry.entry.matcher,
                   dispatch_of(checked, use).name, use.note);
  if (illegal > kMostIllegal)
    fmt::print("{} more do not compile (--json)\n", illegal - kMostIllegal);
  std::size_t classes = 0;
  for (const auto& each : classes_of(checked)) {
    const auto names = each.at("dispatches").get<std::vector<std::string>>();
    if (names.size() < 2 || ++classes > kMostClasses) continue;
    fmt::print("{}\n", output::cut_at_end(fmt::format("{} dispatches share an entry: {}",
                                                      names.size(), fmt::join(names, ", ")),
                                          width));
  }
  if (classes > kMostClasses)
    fmt::print("{} more classes of dispatches that share an entry (--json)\n",
               classes - kMostClasses);
}

// Checks a folder of kernels that replace the compiler's.
CommandResult check_kernels(const SpecOptions& options, const OpenedProgram& opened,
                            iree::IreeProvider& provider) {
  HONE_ASSIGN(const std::vector<tune::CheckedKernel> kernels,
              tune::check_replaced(opened.toolchain.compiler(), provider,
                                   {.program_path = options.program,
                                    .program_bytes = opened.input.bytes,
                                    .folder = options.spec,
                                    .flags = compile_flags(options.toolchain)}));
  output::Table table(
      {{"file", "file"}, {"dispatch", "replaces"}, {"effect", "effect"}, {"note", "why"}});
  for (const tune::CheckedKernel& kernel : kernels)
    table.add({{kernel.file.filename().string(), ""},
               {kernel.dispatch, kernel.dispatch.empty() ? "-" : ""},
               {tune::name_of(kernel.effect), ""},
               {kernel.note, kernel.note.empty() ? "-" : output::in_one_line(kernel.note)}});
  const auto applied =
      std::ranges::count(kernels, tune::ReplacedEffect::kApplied, &tune::CheckedKernel::effect);
  const std::vector<std::string> flags = provider.specs().with_replaced({}, options.spec);
  if (options.json)
    output::print_document({{"kernels", table.to_json()},
                            {"program", options.program},
                            {"compiler", opened.toolchain.revision()},
                            {"target", target_json(options.toolchain)},
                            {"flags", flags},
                            {"applied", applied}});
  else
    fmt::print("{}\n{} of {} kernels are applied; the flag that applies them: {}\n",
               table.to_text(output::screen_width()), applied, kernels.size(),
               fmt::join(flags, " "));
  return applied == std::ssize(kernels) ? 0 : 1;
}

CommandResult check(SpecOptions& options) {
  HONE_TRY(read_flags(options.toolchain));
  const bool of_kernels = std::filesystem::is_directory(options.spec);
  tune::SpecCheckRequest request;
  request.spec_path = options.spec;
  if (!of_kernels) {
    HONE_ASSIGN(request.spec_bytes, read_file(options.spec));
  }
  HONE_ASSIGN(OpenedProgram opened, open_program(options.toolchain, options.program,
                                                 /*notes=*/!of_kernels || !options.json));
  const Toolchain& toolchain = opened.toolchain;
  HONE_ASSIGN(const auto provider, make_provider(options.toolchain, toolchain.installation()));
  print_target_note(options.toolchain);
  if (of_kernels) return check_kernels(options, opened, *provider);
  request.flags = compile_flags(options.toolchain);
  request.program_path = options.program;
  request.program_bytes = std::move(opened.input.bytes);
  HONE_ASSIGN(const tune::CheckedSpec checked,
              tune::check_spec(toolchain.compiler(), provider->specs(), request));
  const auto working =
      static_cast<std::size_t>(std::ranges::count_if(checked.entries, &tune::CheckedEntry::works));
  const std::vector<std::string> flags = provider->specs().with_spec({}, options.spec);
  if (options.json)
    output::print_document({{"spec", options.spec},
                            {"program", options.program},
                            {"compiler", toolchain.revision()},
                            {"target", target_json(options.toolchain)},
                            {"flag", provider->specs().flag_of(options.spec)},
                            {"flags", flags},
                            {"entries", json_of(checked)},
                            {"spec_classes", classes_of(checked)},
                            {"working", working}});
  else
    print(options, checked, flags, working);
  return working == checked.entries.size() ? 0 : 1;
}

struct EmitOptions {
  std::string format = "triton";
  std::string store = "hone.db";
  std::filesystem::path out = "out";
  WantedGemms wanted;
};

Status write_code(const EmitOptions& options, const triton::EmittedGemm& gemm,
                  const std::string& code, const std::string& made) {
  const std::filesystem::path folder = options.out / "aot";
  HONE_ASSIGN(const std::string header, triton::c_launcher(gemm, made));
  HONE_TRY(write_file_atomically(folder / (triton::name_of(gemm.entry.gemm) + ".h"), header));
  const std::vector<problem::KernelPart> kernels = problem::kernels_of(gemm.launch, code);
  for (std::size_t i = 0; i < kernels.size(); ++i)
    HONE_TRY(write_file_atomically(folder / triton::kernel_file(gemm, i), kernels[i].code));
  return {};
}

CommandResult emit(EmitOptions& options) {
  HONE_ASSIGN(store::Store store, store::Store::open(options.store, store::Mode::kReadOnly));
  HONE_ASSIGN(const FoundGemms found, found_gemms(store, options.wanted));
  std::string yaml;
  for (const triton::EmittedGemm& gemm : found.gemms)
    yaml += triton::result_line(gemm.entry, gemm.seconds.value_or(std::nan("")));
  HONE_TRY(write_file_atomically(options.out / "gemms.yaml", yaml));
  HONE_TRY(write_file_atomically(options.out / "hone_gemms.py",
                                 triton::python_module(found.gemms, found.made)));
  for (std::size_t i = 0; i < found.gemms.size(); ++i)
    HONE_TRY(write_code(options, found.gemms[i], found.codes[i], found.made));
  fmt::print("{} GEMMs of {}\n{}\n{}\n{}\n", found.gemms.size(), found.made,
             (options.out / "gemms.yaml").string(), (options.out / "hone_gemms.py").string(),
             (options.out / "aot").string());
  return 0;
}

void add_spec_emit_command(CLI::App& spec, Action& run) {
  const auto [command, options] = add_command<EmitOptions>(
      spec, run, "emit",
      "Write tuned GEMMs as gemms.yaml, a Python module of triton.Config, and compiled kernels "
      "with C headers",
      emit);
  add_default_option(command, "--format", options.format, "output format")
      ->check(CLI::IsMember({"triton"}));
  add_default_option(command, "--store", options.store, "SQLite file");
  add_default_option(command, "--out", options.out, "folder for the files");
  command.add_option("--target", options.wanted.target, "use results compiled for this GPU: sm_90");
  command.add_option("--device-name", options.wanted.device,
                     "use results measured on this GPU: 'NVIDIA H200'");
  command.add_option("--candidate", options.wanted.candidates,
                     "write this candidate (hone show ID) instead of the winners; repeatable");
  command.add_flag("--trust", options.wanted.trust,
                   "write stored machine code that others compiled");
  command.allow_extras();
}

}  // namespace

void add_spec_command(CLI::App& app, Action& run) {
  CLI::App* spec =
      app.add_subcommand("spec", "Check tuning specs, write results for use elsewhere");
  spec->require_subcommand(0, 1);
  spec->callback([&run, spec] {
    if (spec->get_subcommands().empty())
      run = []() -> CommandResult {
        return input_error(
            "hone spec needs a command: check, emit or external; hone help spec shows them");
      };
  });
  add_spec_emit_command(*spec, run);
  add_spec_external_command(*spec, run);
  const auto [command, options] = add_command<SpecOptions>(
      *spec, run, "check",
      "Check each entry of a spec on a program: whether it matches, takes effect and compiles",
      check);
  command
      .add_option("SPEC", options.spec,
                  "tuning spec (.mlir, .mlirbc) or folder of kernels (out/kernels)")
      ->required();
  command
      .add_option("--program", options.program,
                  "program to compile with it (.mlir, .mlirbc, .onnx)")
      ->required();
  add_toolchain_options(command, options.toolchain);
  command.add_flag("--json", options.json, "print one JSON document");
  command.footer("Exit code 1: an entry does nothing, is ignored, or does not compile.");
  command.allow_extras();
}

}  // namespace hone::cli
