#include "tune/program_proof.h"

#include <algorithm>
#include <map>

#include "base/file.h"
#include "provider/ptx_kernel.h"
#include "tune/entry_choice.h"
#include "tune/program_variants.h"
#include "tune/select_dispatches.h"

namespace hone::tune {
namespace {

constexpr int kRounds = 12;
// Leaving out each entry in turn takes a compile and kRounds runs per entry.
constexpr std::size_t kMostEntriesTried = 8;
constexpr std::string_view kDefault = "default";
constexpr std::string_view kSpec = "spec";

double gain(const TunedDispatch& tuned) {
  const double speedup = tuned.selection.speedup.value_or(1);
  return problem::flop_count(tuned.dispatch->root) * tuned.dispatch->launches_per_call *
         (1 - 1 / speedup);
}

Result<std::string> spec_text(const provider::ProgramProvider& provider,
                              const std::vector<const TunedDispatch*>& entries) {
  std::vector<provider::SpecEntry> rows;
  for (const TunedDispatch* entry : entries)
    rows.push_back({entry->dispatch->name, entry->dispatch->root, *entry->attributes,
                    entry->dispatch->neighbours});
  if (rows.empty()) return std::string();
  return provider.spec(rows);
}

// What the compiler's IR of a configured dispatch must say.
std::vector<std::string> texts_of(const provider::Attributes& attributes) {
  std::vector<std::string> texts{attributes.lowering_config, attributes.translation_info};
  if (!attributes.decomposition_config.empty()) texts.push_back(attributes.decomposition_config);
  return texts;
}

// Two ways of building at once: "data tiling + spec".
std::string both(const std::string& a, std::string_view b) {
  return a.empty() ? std::string(b) : fmt::format("{} + {}", a, b);
}

class Proof {
 public:
  Proof(Context& context, const problem::Program& program, const std::string& bytes,
        const std::vector<TunedDispatch>& tuned, std::string_view label)
      : context_(context), program_(program), bytes_(bytes), tuned_(tuned), label_(label) {}

  Result<ProvenProgram> run() {
    HONE_ASSIGN(TemporaryFolder folder, TemporaryFolder::create("hone-program-"));
    folder_ = folder.path();
    entries_ = spec_entries(*context_.programs, tuned_, proven_.left_out);
    HONE_TRY(drop_entries_not_applied());
    const problem::Function* function = callable();
    if (function != nullptr) HONE_TRY(compare_where_it_runs(*function));
    HONE_ASSIGN(proven_.spec, spec_text(*context_.programs, entries_));
    for (const TunedDispatch* entry : entries_) proven_.shipped.push_back(entry->id);
    return std::move(proven_);
  }

 private:
  const problem::Function* callable() const {
    if (!context_.options.prove) return nullptr;
    for (const problem::Function& function : program_.functions) {
      const bool wanted =
          context_.options.function.empty() || function.name == context_.options.function;
      if (wanted && is_callable(function)) return &function;
    }
    context_.observer.note(why_none_is_callable(program_, context_.options.function) +
                           ": the spec is checked to be applied, its gain in the whole program is "
                           "not measured");
    return nullptr;
  }

  // The compiler's own words on what each dispatch is configured with decide, not its remarks.
  Status drop_entries_not_applied() {
    if (entries_.empty()) return {};
    HONE_ASSIGN(const std::string text, spec_text(*context_.programs, entries_));
    const std::filesystem::path file = folder_ / "applied_spec.mlir";
    HONE_TRY(write_file_atomically(file, text));
    std::vector<std::string> flags = context_.flags();
    flags.push_back(context_.programs->spec_flag(file));
    HONE_ASSIGN(const std::vector<jobs::ConfiguredDispatch> configured,
                context_.compiler.configured(program_.path, bytes_, flags));
    std::map<std::string, provider::Attributes> by_name;
    for (const jobs::ConfiguredDispatch& dispatch : configured)
      by_name[dispatch.name] = dispatch.attributes;
    std::vector<const TunedDispatch*> applied;
    for (const TunedDispatch* entry : entries_) {
      const std::vector<std::string> got = texts_of(by_name[entry->dispatch->name]);
      std::vector<std::string> wanted = texts_of(*entry->attributes);
      HONE_ASSIGN(wanted, context_.compiler.canonical(wanted));
      if (std::equal(wanted.begin(), wanted.end(), got.begin(), got.end()))
        applied.push_back(entry);
      else
        leave_out(*entry, fmt::format("the compiler does not apply it in the whole program: {} "
                                      "instead of {}",
                                      fmt::join(got, ", "), fmt::join(wanted, ", ")));
    }
    entries_ = applied;
    return {};
  }

  // On a GPU: that the kernels inside the program are those that were verified and measured as they
  // ship (shipped_kernels.h).
  Status compare_kernels(const ProgramVariants& variants) {
    const Variant* whole = variants.find(spec_name());
    if (whole == nullptr || whole->module.empty()) return {};
    HONE_ASSIGN(const std::string module, read_file(whole->module));
    for (const TunedDispatch* entry : entries_) {
      if (entry->code.empty()) continue;
      const std::string& name = entry->dispatch->name;
      const auto code = context_.programs->device_code(module, name);
      const bool same =
          code && provider::ptx_kernel(*code, name) == provider::ptx_kernel(entry->code, name);
      HONE_TRY(context_.store.log_event(
          "shipped code",
          fmt::format("{}: {}", entry->dispatch->name, same ? "as measured" : "other PTX")));
      if (!same)
        context_.observer.note(fmt::format(
            "{}: the program holds other PTX for it than what was measured; the times of the whole "
            "program are of what it holds",
            entry->dispatch->name));
    }
    return {};
  }

  // A machine without the provider's runtime has tuned all the same.
  Status compare_where_it_runs(const problem::Function& function) {
    const Status compared = compare_on(function);
    if (compared || compared.error().kind != ErrorKind::kEnvironment) return compared;
    context_.observer.note("the spec's gain in the whole program is not measured: " +
                           compared.error().message);
    return {};
  }

  void leave_out(const TunedDispatch& entry, std::string reason) {
    proven_.left_out.push_back({entry.dispatch->name, std::move(reason)});
  }

  Status compare_on(const problem::Function& function) {
    HONE_ASSIGN(ProgramVariants variants,
                ProgramVariants::create(context_, program_, bytes_, function, folder_));
    HONE_TRY(variants.add({.name = std::string(kDefault)}));
    if (!context_.added.flags.empty())
      HONE_TRY(variants.add({.name = context_.added.name, .flags = context_.added.flags}));
    for (const FlagSet& set : context_.options.flag_sets)
      HONE_TRY(variants.add({.name = set.name, .flags = set.flags}));
    HONE_TRY(add_spec_variants(variants, entries_, ""));
    HONE_TRY(compare_kernels(variants));
    if (entries_.size() > 1 && entries_.size() <= kMostEntriesTried)
      for (const TunedDispatch* entry : entries_) HONE_TRY(add_ablation(variants, *entry));
    HONE_TRY(variants.time(kRounds));
    HONE_ASSIGN(const bool dropped, drop_entries_that_do_not_help(variants));
    if (dropped) {
      HONE_TRY(add_spec_variants(variants, entries_, " (helping entries)"));
      HONE_TRY(variants.time(kRounds));
    }
    HONE_ASSIGN(proven_.rows, variants.rows(label_));
    return keep_right_ones(variants);
  }

  Status add_spec_variants(ProgramVariants& variants,
                           const std::vector<const TunedDispatch*>& entries,
                           std::string_view suffix) {
    if (entries.empty()) return {};
    HONE_ASSIGN(const std::string text, spec_text(*context_.programs, entries));
    const FlagSet& added = context_.added;
    HONE_TRY(variants.add(
        {.name = spec_name() + std::string(suffix), .flags = added.flags, .spec = text}));
    for (const FlagSet& set : context_.options.flag_sets) {
      std::vector<std::string> flags = set.flags;
      flags.insert(flags.end(), added.flags.begin(), added.flags.end());
      HONE_TRY(variants.add({.name = both(set.name, spec_name()) + std::string(suffix),
                             .flags = std::move(flags),
                             .spec = text}));
    }
    return {};
  }

  Status add_ablation(ProgramVariants& variants, const TunedDispatch& left_out_entry) {
    std::vector<const TunedDispatch*> others;
    for (const TunedDispatch* entry : entries_)
      if (entry != &left_out_entry) others.push_back(entry);
    HONE_ASSIGN(const std::string text, spec_text(*context_.programs, others));
    return variants.add(
        {.name = without(left_out_entry), .flags = context_.added.flags, .spec = text});
  }

  // What is added is part of what the spec was found with.
  std::string spec_name() const { return both(context_.added.name, kSpec); }
  std::string without(const TunedDispatch& entry) const {
    return fmt::format("{} without {}", spec_name(), entry.dispatch->name);
  }

  // By the program with the whole spec beside the one that lacks an entry (with a single entry: the
  // default).
  Result<bool> drop_entries_that_do_not_help(const ProgramVariants& variants) {
    const Variant* whole = variants.find(spec_name());
    if (whole == nullptr) return false;
    if (!whole->usable()) {
      for (const TunedDispatch* entry : entries_)
        leave_out(*entry, "the whole program with the spec: " + whole->failure);
      entries_.clear();
      return false;
    }
    const Variant* const added = variants.find(context_.added.name);
    const Variant& without_spec =
        added != nullptr && added->usable() ? *added : variants.all().front();
    HONE_ASSIGN(const measure::PairedComparison gained,
                measure::compare_paired(without_spec.seconds, whole->seconds));
    std::vector<measure::PairedComparison> with_it;
    std::vector<measure::Verdict> verdicts;
    for (const TunedDispatch* entry : entries_) {
      const Variant* lacking =
          entries_.size() == 1 ? &without_spec : variants.find(without(*entry));
      // One that cannot be left out stays.
      measure::PairedComparison comparison{.verdict = measure::Verdict::kFaster};
      if (lacking != nullptr && lacking->usable()) {
        HONE_ASSIGN(comparison, measure::compare_paired(lacking->seconds, whole->seconds));
      }
      verdicts.push_back(comparison.verdict);
      with_it.push_back(std::move(comparison));
    }
    const std::vector<bool> kept = kept_entries(verdicts, gained.verdict);
    std::vector<const TunedDispatch*> staying;
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (kept[i])
        staying.push_back(entries_[i]);
      else
        leave_out(*entries_[i],
                  fmt::format("the program is {} with it: {:.3f}x [{:.3f}, {:.3f}]",
                              measure::name_of(verdicts[i]), 1 / with_it[i].ratio,
                              1 / with_it[i].interval.high, 1 / with_it[i].interval.low));
    const bool dropped = staying.size() < entries_.size();
    entries_ = staying;
    return dropped && !entries_.empty();
  }

  Status keep_right_ones(const ProgramVariants& variants) {
    HONE_ASSIGN(const std::string text, spec_text(*context_.programs, entries_));
    for (const bool with_spec : {false, true})
      for (const Variant& variant : variants.all())
        if (variant.usable() && variant.spec.empty() != with_spec &&
            (variant.spec.empty() || variant.spec == text))
          proven_.variants.push_back({variant.name, variant.flags, with_spec, variant.seconds});
    return {};
  }

  Context& context_;
  const problem::Program& program_;
  const std::string& bytes_;
  const std::vector<TunedDispatch>& tuned_;
  std::string_view label_;
  std::filesystem::path folder_;
  std::vector<const TunedDispatch*> entries_;
  ProvenProgram proven_;
};

}  // namespace

std::vector<const TunedDispatch*> spec_entries(const provider::ProgramProvider& provider,
                                               const std::vector<TunedDispatch>& tuned,
                                               std::vector<LeftOut>& left_out) {
  std::vector<const TunedDispatch*> candidates;
  for (const TunedDispatch& dispatch : tuned)
    if (dispatch.attributes) candidates.push_back(&dispatch);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto* a, const auto* b) { return gain(*a) > gain(*b); });
  std::vector<const TunedDispatch*> entries;
  for (const TunedDispatch* candidate : candidates) {
    if (const auto alone = spec_text(provider, {candidate}); !alone) {
      left_out.push_back({candidate->dispatch->name, alone.error().message});
      continue;
    }
    const auto same = std::find_if(entries.begin(), entries.end(), [&](const auto* entry) {
      return provider.same_spec_class(entry->dispatch->root, candidate->dispatch->root);
    });
    if (same == entries.end())
      entries.push_back(candidate);
    else
      left_out.push_back({candidate->dispatch->name,
                          fmt::format("a spec cannot tell it from {}, whose entry applies to both",
                                      (*same)->dispatch->name)});
  }
  return entries;
}

Result<ProvenProgram> prove_program(Context& context, const problem::Program& program,
                                    const std::string& bytes,
                                    const std::vector<TunedDispatch>& tuned,
                                    std::string_view label) {
  return Proof(context, program, bytes, tuned, label).run();
}

}  // namespace hone::tune
