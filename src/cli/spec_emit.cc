#include "cli/spec_emit.h"

#include <cmath>
#include <memory>

#include "base/file.h"
#include "cli/found_gemms.h"

namespace hone::cli {
namespace {

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

CommandResult emit(const EmitOptions& options) {
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

}  // namespace

void add_spec_emit_command(CLI::App& spec, Run& run) {
  auto options = std::make_shared<EmitOptions>();
  CLI::App* command = spec.add_subcommand(
      "emit",
      "Write what was found for GEMMs: gemms.yaml, a Python module of triton.Config, and "
      "compiled kernels with C headers that launch them");
  command->add_option("--format", options->format, "triton")
      ->check(CLI::IsMember({"triton"}))
      ->capture_default_str();
  command->add_option("--store", options->store, "SQLite file")->capture_default_str();
  command->add_option("--out", options->out, "folder to write to")->capture_default_str();
  command->add_option("--target", options->wanted.target,
                      "GPU that it is compiled for, where the store has several: sm_90");
  command->add_option("--device-name", options->wanted.device,
                      "GPU that it was measured on, where the store has several: 'NVIDIA H200'");
  command->add_option("--candidate", options->wanted.candidates,
                      "this candidate (hone show ID) instead of what was selected; repeatable");
  command->add_flag("--trust", options->wanted.trust,
                    "write machine code that the store holds even where somebody else compiled it");
  command->allow_extras();
  command->callback([&run, options] { run = [options] { return emit(*options); }; });
}

}  // namespace hone::cli
