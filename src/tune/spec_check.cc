#include "tune/spec_check.h"

#include <algorithm>
#include <map>

#include "base/file.h"

namespace hone::tune {
namespace {

using problem::Dispatch;

class SpecCheck {
 public:
  SpecCheck(CompileService& compiler, const provider::ProgramProvider& provider,
            const SpecCheckRequest& request)
      : compiler_(compiler), provider_(provider), request_(request) {}

  Result<CheckedSpec> run() {
    HONE_ASSIGN(const SpecFile spec,
                compiler_.read_spec(request_.spec_path.string(), request_.spec_bytes));
    HONE_ASSIGN(checked_.program, compiler_.load_program(request_.program_path,
                                                         request_.program_bytes, request_.flags));
    for (const jobs::SpecFileEntry& entry : spec.entries) checked_.entries.push_back({entry, {}});
    set_spec_classes();
    HONE_ASSIGN(const auto matched, matches_of(spec));
    for (std::size_t d = 0; d < checked_.program.dispatches.size(); ++d) {
      const auto entries = matched.find(checked_.program.dispatches[d].name);
      if (entries != matched.end() && !entries->second.empty()) HONE_TRY(judge(d, entries->second));
    }
    return std::move(checked_);
  }

 private:
  void set_spec_classes() {
    const std::vector<Dispatch>& all = checked_.program.dispatches;
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::size_t first = 0;
      while (first < i && !provider_.same_spec_class(all[first].root, all[i].root)) ++first;
      checked_.spec_class.push_back(first);
    }
  }

  // By a dispatch's name: the entries that match in it.
  Result<std::map<std::string, std::vector<int>>> matches_of(const SpecFile& spec) {
    HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-spec-"));
    const std::filesystem::path file = folder.path() / "marking_spec.mlir";
    HONE_TRY(write_file_atomically(file, spec.marking));
    HONE_ASSIGN(const auto marked,
                compiler_.configured(request_.program_path, request_.program_bytes, with(file)));
    std::map<std::string, std::vector<int>> matched;
    for (const jobs::ConfiguredDispatch& dispatch : marked) matched[dispatch.name] = dispatch.marks;
    return matched;
  }

  Status judge(std::size_t index, const std::vector<int>& matching) {
    const Dispatch& dispatch = checked_.program.dispatches[index];
    const std::vector<std::string> flags = with(request_.spec_path);
    const auto got = compiler_.configured_dispatch(dispatch.name, dispatch.source, flags);
    if (!got && !is_refusal(got.error())) return tl::unexpected(got.error());
    std::string refusal = got ? "" : got.error().message;
    if (got) {
      const Status compiled = compiler_.compile_dispatch(dispatch.name, dispatch.source, flags);
      if (!compiled && !is_refusal(compiled.error())) return compiled;
      if (!compiled) refusal = compiled.error().message;
    }
    for (const int mark : matching) {
      const auto position = static_cast<std::size_t>(mark);
      if (position >= checked_.entries.size()) continue;
      CheckedEntry& entry = checked_.entries[position];
      SpecUse use{index, SpecEffect::kApplied, {}};
      if (mark != matching.front()) {
        use.effect = SpecEffect::kShadowed;
        use.note =
            fmt::format("@{} matches too and comes first",
                        checked_.entries[static_cast<std::size_t>(matching.front())].entry.matcher);
      } else if (!refusal.empty()) {
        use.effect = SpecEffect::kIllegal;
        use.note = refusal;
      } else {
        compare(entry.entry, dispatch, got->attributes, use);
      }
      entry.uses.push_back(std::move(use));
    }
    return {};
  }

  static void compare(const jobs::SpecFileEntry& entry, const Dispatch& dispatch,
                      const provider::Attributes& got, SpecUse& use) {
    const bool changed = got.lowering_config != dispatch.default_configuration ||
                         got.translation_info != dispatch.default_translation;
    const provider::Attributes& wanted = entry.attributes;
    const bool as_wanted = wanted.lowering_config.empty()
                               ? changed
                               : got.lowering_config == wanted.lowering_config &&
                                     got.translation_info == wanted.translation_info;
    if (!as_wanted) {
      use.effect = SpecEffect::kIgnored;
      use.note = changed ? fmt::format("the compiler configures {} with {} instead",
                                       got.lowering_config, got.translation_info)
                         : "the dispatch is configured as without the spec";
    } else if (!changed) {
      use.note = "what the compiler chooses without it";
    }
  }

  // What the compiler says about the spec, as opposed to what keeps hone from asking.
  static bool is_refusal(const Error& error) {
    return error.kind == ErrorKind::kInput || error.kind == ErrorKind::kFailure;
  }

  std::vector<std::string> with(const std::filesystem::path& spec) const {
    std::vector<std::string> flags = request_.flags;
    std::error_code code;
    flags.push_back(provider_.spec_flag(std::filesystem::absolute(spec, code)));
    return flags;
  }

  CompileService& compiler_;
  const provider::ProgramProvider& provider_;
  const SpecCheckRequest& request_;
  CheckedSpec checked_;
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
    return std::any_of(uses.begin(), uses.end(),
                       [effect](const SpecUse& use) { return use.effect == effect; });
  };
  return has(SpecEffect::kApplied) && !has(SpecEffect::kIllegal) && !has(SpecEffect::kIgnored);
}

Result<CheckedSpec> check_spec(CompileService& compiler, const provider::ProgramProvider& provider,
                               const SpecCheckRequest& request) {
  return SpecCheck(compiler, provider, request).run();
}

}  // namespace hone::tune
