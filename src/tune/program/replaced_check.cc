#include "tune/program/replaced_check.h"

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/ranges.h"
#include "base/text.h"
#include "provider/ptx_kernel.h"

namespace hone::tune {
namespace {

namespace fs = std::filesystem;

Result<std::vector<fs::path>> files_of(const fs::path& folder) {
  std::error_code code;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, code))
    if (entry.path().extension() == ".mlir") files.push_back(entry.path());
  if (code) return input_error("'{}': {}", folder.string(), code.message());
  if (files.empty())
    return input_error("'{}' holds no kernels: they are files EXECUTABLE.mlir, as in out/kernels",
                       folder.string());
  std::ranges::sort(files);
  return files;
}

class ReplacedCheck {
 public:
  ReplacedCheck(trial::CompileService& compiler, const provider::ProgramProvider& provider,
                const ReplacedCheckRequest& request)
      : compiler_(compiler), provider_(provider), request_(request) {}

  Result<std::vector<CheckedKernel>> run() {
    HONE_ASSIGN(const std::vector<fs::path> files, files_of(request_.folder));
    HONE_ASSIGN(program_, compiler_.load_program(
                              {request_.program_path, request_.program_bytes, request_.flags}));
    HONE_ASSIGN(const TemporaryFolder fitting, TemporaryFolder::create("hone-kernels-"));
    for (const fs::path& file : files) {
      HONE_ASSIGN(const std::string text, read_file(file.string()));
      kernels_.push_back(looked_at(file, text));
      if (kernels_.back().effect == ReplacedEffect::kApplied)
        HONE_TRY(write_file_atomically(fitting.path() / file.filename(), text));
    }
    HONE_TRY(read_back(fitting.path()));
    return std::move(kernels_);
  }

 private:
  CheckedKernel looked_at(const fs::path& file, const std::string& text) {
    CheckedKernel checked{file, {}, ReplacedEffect::kApplied, {}};
    const auto kernel = provider_.specs().read_replaced(text);
    codes_.push_back(kernel ? kernel->code : std::string());
    if (!kernel) {
      checked.effect = ReplacedEffect::kUnreadable;
      checked.note = kernel.error().message;
      return checked;
    }
    checked.dispatch = kernel->dispatch;
    const std::string executable = file.stem().string();
    const auto& all = program_.dispatches;
    const auto* const found = find_by(all, executable, &problem::Dispatch::executable);
    if (found == nullptr) {
      checked.effect = ReplacedEffect::kUnused;
      std::set<std::string> names;
      for (const problem::Dispatch& dispatch : all) names.insert(dispatch.executable);
      checked.note =
          fmt::format("under these flags the program has no executable '{}'{}", executable,
                      did_you_mean(executable, std::vector(names.begin(), names.end())));
    } else if (found->name != kernel->dispatch) {
      checked.effect = ReplacedEffect::kMisfit;
      checked.note = fmt::format("the program's is '{}'", found->name);
    } else if (const std::string launch = found->statement ? found->statement->layout : "";
               !launch.empty() && launch != kernel->launch) {
      checked.effect = ReplacedEffect::kMisfit;
      checked.note =
          fmt::format("it is launched with {}, and the program's with {}", kernel->launch, launch);
    }
    return checked;
  }

  Status read_back(const fs::path& fitting) {
    const auto fits = [](const CheckedKernel& each) {
      return each.effect == ReplacedEffect::kApplied;
    };
    if (std::ranges::none_of(kernels_, fits)) return {};
    HONE_ASSIGN(
        const trial::CompiledModule compiled,
        compiler_.compile_program({request_.program_path, request_.program_bytes,
                                   provider_.specs().with_replaced(request_.flags, fitting)}));
    if (!compiled)
      return failure("the program does not compile with these kernels: {}",
                     compiled.error().message);
    for (std::size_t i = 0; i < kernels_.size(); ++i) {
      if (!fits(kernels_[i])) continue;
      const auto held = provider_.device_code(*compiled, kernels_[i].dispatch);
      const std::string& name = kernels_[i].dispatch;
      if (held && provider::ptx_kernel(*held, name) == provider::ptx_kernel(codes_[i], name))
        continue;
      kernels_[i].effect = ReplacedEffect::kIgnored;
      kernels_[i].note = held ? "the program holds other code under that name"
                              : "the program holds no code under that name";
    }
    return {};
  }

  trial::CompileService& compiler_;
  const provider::ProgramProvider& provider_;
  const ReplacedCheckRequest& request_;
  problem::Program program_;
  std::vector<CheckedKernel> kernels_;
  std::vector<std::string> codes_;  // of kernels_
};

}  // namespace

std::string_view name_of(ReplacedEffect effect) {
  switch (effect) {
    case ReplacedEffect::kApplied:
      return "applied";
    case ReplacedEffect::kIgnored:
      return "ignored";
    case ReplacedEffect::kUnused:
      return "does nothing";
    case ReplacedEffect::kMisfit:
      return "does not fit";
    case ReplacedEffect::kUnreadable:
      return "not read";
  }
  return "";
}

Result<std::vector<CheckedKernel>> check_replaced(trial::CompileService& compiler,
                                                  const provider::ProgramProvider& provider,
                                                  const ReplacedCheckRequest& request) {
  return ReplacedCheck(compiler, provider, request).run();
}

}  // namespace hone::tune
