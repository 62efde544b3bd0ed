#include "tune/program/spec_check.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/file.h"
#include "base/ranges.h"
#include "base/text.h"
#include "provider/ptx_kernel.h"
#include "tune/program/spec_entries.h"

namespace hone::tune {
namespace {

using problem::Dispatch;
using Texts = std::vector<provider::NamedText>;

// Whether `got` has every part of `wanted`, the empty ones too.
bool say(const Texts& got, const Texts& wanted) {
  return std::ranges::all_of(wanted, [&](const provider::NamedText& part) {
    return std::ranges::any_of(got, [&](const provider::NamedText& each) {
      return each.name == part.name && each.text == part.text;
    });
  });
}

bool says_nothing(const Texts& entry) {
  return std::ranges::all_of(entry,
                             [](const provider::NamedText& part) { return part.text.empty(); });
}

std::string texts_in_words(const Texts& texts) {
  return fmt::format("{}", fmt::join(mapped(texts, &provider::NamedText::text), " with "));
}

class SpecCheck {
 public:
  SpecCheck(trial::CompileService& compiler, const provider::SpecWriter& specs,
            const SpecCheckRequest& request)
      : compiler_(compiler), specs_(specs), request_(request) {}

  Result<CheckedSpec> run() {
    HONE_ASSIGN(const provider::jobs::SpecFile spec,
                compiler_.ask(provider::jobs::kReadSpec,
                              {request_.spec_path.string(), request_.spec_bytes}));
    HONE_ASSIGN(checked_.program, compiler_.load_program({request_.program_path,
                                                          request_.program_bytes, request_.flags}));
    for (const provider::jobs::SpecFileEntry& entry : spec.entries) {
      HONE_ASSIGN(std::vector<provider::NamedText> says, specs_.texts_in_ir(entry.payload));
      checked_.entries.push_back({entry, std::move(says), {}});
    }
    set_spec_classes();
    HONE_ASSIGN(const auto matched, matches_of(spec));
    for (std::size_t d = 0; d < checked_.program.dispatches.size(); ++d) {
      const auto* const entries = value_at(matched, checked_.program.dispatches[d].name);
      if (entries != nullptr && !entries->empty()) HONE_TRY(judge(d, *entries));
    }
    return std::move(checked_);
  }

 private:
  void set_spec_classes() {
    const std::vector<Dispatch>& all = checked_.program.dispatches;
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::size_t first = 0;
      while (first < i && !specs_.same_class(all[first].root, all[i].root)) ++first;
      checked_.spec_class.push_back(first);
    }
  }

  // Returns the entries that match in each dispatch, by the dispatch's name.
  Result<std::map<std::string, std::vector<int>>> matches_of(const provider::jobs::SpecFile& spec) {
    HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-spec-"));
    const std::filesystem::path file = folder.path() / "marking_spec.mlir";
    HONE_TRY(write_file_atomically(file, spec.marking));
    HONE_ASSIGN(const auto marked,
                compiler_.configured({request_.program_path, request_.program_bytes, with(file)}));
    std::map<std::string, std::vector<int>> matched;
    for (const provider::jobs::ConfiguredDispatch& dispatch : marked)
      matched[dispatch.name] = dispatch.marks;
    return matched;
  }

  Status judge(std::size_t index, const std::vector<int>& matching) {
    const Dispatch& dispatch = checked_.program.dispatches[index];
    const std::vector<std::string> flags = with(request_.spec_path);
    const auto got = compiler_.configured_dispatch(dispatch.name, dispatch.source, flags);
    Status legal = got.map([](const auto&) {});
    if (legal)
      legal =
          compiler_.ask(provider::jobs::kCompileDispatch, {dispatch.name, dispatch.source, flags})
              .map([](const auto&) {});
    HONE_ASSIGN(const bool refused, is_refused(legal));
    for (const int mark : matching) {
      const auto position = static_cast<std::size_t>(mark);
      if (position >= checked_.entries.size()) continue;
      CheckedEntry& entry = checked_.entries[position];
      SpecUse use{.dispatch = index};
      if (mark != matching.front()) {
        use.effect = SpecEffect::kShadowed;
        use.note =
            fmt::format("@{} matches too and comes first",
                        checked_.entries[static_cast<std::size_t>(matching.front())].entry.matcher);
      } else if (refused) {
        use.effect = SpecEffect::kIllegal;
        use.note = legal.error().message;
      } else {
        HONE_TRY(compare(entry, dispatch, got->payload, use));
      }
      entry.uses.push_back(std::move(use));
    }
    return {};
  }

  Status compare(const CheckedEntry& entry, const Dispatch& dispatch,
                 const provider::Payload& configured, SpecUse& use) const {
    HONE_ASSIGN(const auto got, specs_.texts_in_ir(configured));
    const Texts defaults = specs_.default_texts(dispatch);
    const bool changed = !say(got, defaults);
    const bool as_wanted = says_nothing(entry.says) ? changed : say(got, entry.says);
    if (!as_wanted) {
      use.effect = SpecEffect::kIgnored;
      use.note = changed ? fmt::format("the compiler configures {} instead", texts_in_words(got))
                         : "the dispatch is configured as without the spec";
    } else if (!changed) {
      use.changed = false;
      use.note = "what the compiler chooses without it";
    }
    return {};
  }

  std::vector<std::string> with(const std::filesystem::path& spec) const {
    std::vector<std::string> flags = request_.flags;
    std::error_code code;
    flags.push_back(specs_.flag_of(std::filesystem::absolute(spec, code)));
    return flags;
  }

  trial::CompileService& compiler_;
  const provider::SpecWriter& specs_;
  const SpecCheckRequest& request_;
  CheckedSpec checked_;
};

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
      if (!fits(kernels_[i]) || codes_[i].empty()) continue;  // made with the program
      const auto held = provider_.device_code(*compiled, kernels_[i].dispatch);
      const std::string& name = kernels_[i].dispatch;
      if (held && provider::same_kernel(*held, codes_[i], name)) continue;
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

std::string_view name_of(SpecEffect effect) {
  switch (effect) {
    case SpecEffect::kApplied:
      return "applied";
    case SpecEffect::kShadowed:
      return "shadowed";
    case SpecEffect::kIgnored:
      return "ignored";
    case SpecEffect::kIllegal:
      return "illegal";
  }
  return "";
}

bool CheckedEntry::works() const {
  const auto has = [this](SpecEffect effect) {
    return std::ranges::any_of(uses, [effect](const SpecUse& use) { return use.effect == effect; });
  };
  return has(SpecEffect::kApplied) && !has(SpecEffect::kIllegal) && !has(SpecEffect::kIgnored);
}

Result<CheckedSpec> check_spec(trial::CompileService& compiler, const provider::SpecWriter& specs,
                               const SpecCheckRequest& request) {
  return SpecCheck(compiler, specs, request).run();
}

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
