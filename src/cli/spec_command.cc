// hone spec: checks the effect of a tuning spec on a program, and converts results to other forms.
#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/spec_effects.h"
#include "output/json_text.h"
#include "output/screen.h"
#include "output/table.h"
#include "session/found_gemms.h"
#include "session/input_program.h"
#include "session/toolchain.h"
#include "tune/program/spec_check.h"

namespace hone::cli {
namespace {

struct SpecOptions {
  ToolchainOptions toolchain;
  std::string spec;
  std::string program;
  bool json = false;
};

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
  const std::vector<std::string> flags = provider->specs().with_spec({}, options.spec);
  if (options.json) {
    nlohmann::json document = effects_json(checked);
    document.update({{"spec", options.spec},
                     {"program", options.program},
                     {"compiler", toolchain.revision()},
                     {"target", target_json(options.toolchain)},
                     {"flag", provider->specs().flag_of(options.spec)},
                     {"flags", flags}});
    output::print_document(std::move(document));
  } else {
    print_effects({options.spec, options.program, options.toolchain.target}, checked, flags);
  }
  return working_entries(checked) == checked.entries.size() ? 0 : 1;
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
  CLI::App* spec = app.add_subcommand(
      "spec",
      "Check, audit, show, merge and upgrade tuning specs, write results for use elsewhere");
  spec->require_subcommand(0, 1);
  spec->callback([&run, spec] {
    if (spec->get_subcommands().empty())
      run = []() -> CommandResult {
        return input_error(
            "hone spec needs a command: check, audit, show, merge, upgrade, emit or external; hone "
            "help spec "
            "shows them");
      };
  });
  add_spec_audit_command(*spec, run);
  add_spec_emit_command(*spec, run);
  add_spec_external_command(*spec, run);
  add_spec_merge_command(*spec, run);
  add_spec_show_command(*spec, run);
  add_spec_upgrade_command(*spec, run);
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
