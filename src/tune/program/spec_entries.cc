#include "tune/program/spec_entries.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/ranges.h"
#include "base/stopwatch.h"

namespace hone::tune {
namespace {

// Repairs come before gains in speed.
double gain(const TunedDispatch& tuned) {
  if (tuned.repairs()) return std::numeric_limits<double>::infinity();
  const double speedup = tuned.selection.speedup.value_or(1);
  return problem::flop_count(tuned.dispatch->root) * tuned.dispatch->launches_per_call *
         (1 - 1 / speedup);
}

// Returns the text of a dispatch's export, which includes its launch, and of its functions. Leaves
// out what differs between equal dispatches: the symbols' names, and the target, which the flags
// are part of.
std::string anonymous_functions(const problem::Dispatch& dispatch) {
  constexpr std::string_view kFunctions = "hal.executable.export";
  std::string text = dispatch.source;
  const std::size_t start = text.find(kFunctions);
  if (start != std::string::npos) text.erase(0, start);
  if (dispatch.executable.empty()) return text;
  std::string named;
  std::size_t from = 0;
  for (std::size_t at = 0; (at = text.find(dispatch.executable, from)) != std::string::npos;
       from = at + dispatch.executable.size())
    named.append(text, from, at - from).append("dispatch");
  return named.append(text, from);
}

// Ignores offsets: under other flags a program packs its buffers otherwise.
bool same_views(const std::vector<problem::Binding>& a, const std::vector<problem::Binding>& b) {
  return std::ranges::equal(a, b, [](const problem::Binding& one, const problem::Binding& other) {
    return one.access == other.access && one.use == other.use && one.type == other.type &&
           one.bytes == other.bytes;
  });
}

Result<provider::ReplacedExecutable> file_of(const provider::ProgramProvider& provider,
                                             const TunedDispatch& tuned) {
  // A near tie of another provider has neither; its payload may be enough.
  if (!tuned.launch && !tuned.code.empty())
    return failure("how the kernel of '{}' is launched is not known", tuned.dispatch->name);
  if (!provider.specs().replaces_kernels())
    return failure("{} has no way to put a kernel in the place of '{}'", provider.name(),
                   tuned.dispatch->name);
  return provider.specs().replaced(*tuned.dispatch, *tuned.payload, tuned.code,
                                   tuned.launch.value_or(problem::Launch()));
}

// Launch sets of one kernel share an executable, and so one replacing kernel: the one that gains
// most.
void add_replaced(const provider::ProgramProvider& provider, const TunedDispatch& candidate,
                  std::vector<VerifiedEntry>& entries, std::vector<LeftOut>& left_out) {
  const std::string& name = candidate.dispatch->name;
  if (const auto file = file_of(provider, candidate); !file) {
    left_out.push_back({name, file.error().message});
    return;
  }
  const auto same = std::ranges::find_if(entries, [&](const VerifiedEntry& entry) {
    return replaces(entry) && entry.tuned->dispatch->executable == candidate.dispatch->executable;
  });
  if (same == entries.end())
    entries.push_back({.tuned = &candidate, .verified = {&candidate}});
  else if (same->tuned->code == candidate.code)
    same->verified.push_back(&candidate);
  else
    left_out.push_back({name, "another of its launches has another kernel in its place"});
}

using problem::Dispatch;

std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

// The compiler's message begins with the name of the file; the reason is in the next line.
std::string reason_in(const std::string& words) {
  const std::size_t end = words.find('\n');
  return std::string(first_line(end == std::string::npos
                                    ? std::string_view(words)
                                    : std::string_view(words).substr(end + 1)));
}

class Vetting {
 public:
  Vetting(Context& context, const VettingRequest& request, std::vector<VerifiedEntry> entries)
      : context_(context), request_(request), entries_(std::move(entries)) {
    for (VerifiedEntry& entry : entries_) entry.only.clear();  // names of other flags
  }

  Result<VettedSpec> run() {
    if (!entries_.empty()) {
      context_.observer.progress({.step = "checking the spec in the whole program"});
      HONE_TRY(look_at_program());
    }
    while (!entries_.empty()) {
      HONE_ASSIGN(const bool configured, configure());
      if (!configured) continue;
      HONE_ASSIGN(const bool compiled, compile());
      if (compiled) break;
    }
    HONE_ASSIGN(vetted_.spec, spec_text(context_.programs->specs(), entries_));
    vetted_.entries = std::move(entries_);
    return std::move(vetted_);
  }

 private:
  const std::vector<Dispatch>& dispatches() const {
    return (request_.program != nullptr ? *request_.program : loaded_).dispatches;
  }

  // All requests here share one frontend compile: `flags` add a spec at most.
  trial::ProgramToCompile program_with(const std::vector<std::string>& flags) const {
    return {request_.path, request_.bytes, flags, request_.flags};
  }

  // Returns the texts that the compiler's IR has for a dispatch of this configuration.
  Result<std::vector<std::string>> texts_of(const provider::Payload& configured) const {
    HONE_ASSIGN(const auto named, context_.programs->specs().texts_in_ir(configured));
    return mapped(named, &provider::NamedText::text);
  }

  // Whether the first `count` entries go wrong.
  using Wrong = std::function<Result<bool>(std::size_t)>;

  Status look_at_program() {
    if (request_.program == nullptr) {
      HONE_ASSIGN(loaded_,
                  context_.compiler.load_program({request_.path, request_.bytes, request_.flags,
                                                  request_.flags, request_.given}));
    }
    for (const VerifiedEntry& entry : entries_) {
      HONE_ASSIGN(const std::vector<std::string> texts, texts_of(*entry.tuned->payload));
      HONE_ASSIGN(wanted_[entry.tuned], context_.compiler.ask(provider::jobs::kCanonical, texts));
    }
    HONE_ASSIGN(const auto configured, context_.compiler.configured(program_with(request_.flags)));
    for (const provider::jobs::ConfiguredDispatch& each : configured) {
      HONE_ASSIGN(defaults_[each.name], texts_of(each.payload));
    }
    return {};
  }

  // Returns whether each dispatch is configured as it may be; if not, drops or restricts an entry.
  Result<bool> configure() {
    HONE_ASSIGN(const std::vector<std::string> flags, with(entries_.size()));
    const auto got = context_.compiler.configured(program_with(flags));
    HONE_ASSIGN(const bool refused, is_refused(got));
    if (refused) {
      HONE_TRY(leave_out_what_breaks(reason_in(got.error().message), &Vetting::refuses_to_configure,
                                     &Vetting::refuses_to_configure_all));
      return false;
    }
    std::map<std::string, std::vector<std::string>> by_name;
    for (const provider::jobs::ConfiguredDispatch& each : *got) {
      HONE_ASSIGN(by_name[each.name], texts_of(each.payload));
    }
    std::set<const TunedDispatch*> applied;
    changed_.clear();
    for (const Dispatch& dispatch : dispatches()) {
      const auto* const found = value_at(by_name, dispatch.name);
      if (found == nullptr) continue;
      const VerifiedEntry* own = entry_for(dispatch);
      const std::vector<std::string>& texts = *found;
      if (own != nullptr && texts == wanted_[own->tuned]) applied.insert(own->tuned);
      if (texts != defaults_[dispatch.name]) changed_.push_back(&dispatch);
      if (!astray(dispatch, own, texts)) continue;
      HONE_TRY(leave_out_what_strays(dispatch, own, texts));
      return false;
    }
    return keep_only(applied, by_name);
  }

  // Returns the entry that was verified for such code; null if there is none.
  const VerifiedEntry* entry_for(const Dispatch& dispatch) const {
    for (const VerifiedEntry& entry : entries_)
      for (const TunedDispatch* verified : entry.verified)
        if (same_work(context_.programs->specs(), *verified->dispatch, dispatch)) return &entry;
    return nullptr;
  }

  bool astray(const Dispatch& dispatch, const VerifiedEntry* own,
              const std::vector<std::string>& texts) {
    const bool as_verified = own != nullptr && texts == wanted_[own->tuned];
    return !as_verified && texts != defaults_[dispatch.name];
  }

  Status leave_out_what_strays(const Dispatch& dispatch, const VerifiedEntry* own,
                               const std::vector<std::string>& texts) {
    const Wrong wrong = [&](std::size_t count) -> Result<bool> {
      HONE_ASSIGN(const std::vector<std::string> flags, with(count));
      const auto got = context_.compiler.configured_dispatch(dispatch.name, dispatch.source, flags);
      HONE_ASSIGN(const bool refused, is_refused(got));
      if (refused) return true;
      HONE_ASSIGN(const std::vector<std::string> alone, texts_of(got->payload));
      return astray(dispatch, own, alone);
    };
    HONE_ASSIGN(std::optional<std::size_t> culprit, first_with(wrong));
    // No culprit: alone, the dispatch is configured otherwise than within the program.
    for (std::size_t i = 0; !culprit && i < entries_.size(); ++i)
      if (wanted_[entries_[i].tuned] == texts) culprit = i;
    const std::size_t entry = culprit.value_or(entries_.size() - 1);
    if (!keep_to_its_own(entry))
      leave_out(entry, fmt::format("it is applied to {} too, for which it was not verified",
                                   dispatch.name));
    return {};
  }

  // Drops entries that are not applied. Such an entry may match something else once another one is
  // gone, so the program is checked again after each change.
  Result<bool> keep_only(const std::set<const TunedDispatch*>& applied,
                         const std::map<std::string, std::vector<std::string>>& by_name) {
    bool all = true;
    for (std::size_t i = entries_.size(); i-- > 0;) {
      const TunedDispatch* tuned = entries_[i].tuned;
      if (applied.count(tuned) > 0) continue;
      const auto* const got = value_at(by_name, tuned->dispatch->name);
      leave_out(i, got == nullptr
                       ? "the program has no such dispatch with these flags"
                       : fmt::format("the compiler does not apply it in the whole program: {} "
                                     "instead of {}",
                                     fmt::join(*got, ", "), fmt::join(wanted_[tuned], ", ")));
      all = false;
    }
    return all;
  }

  // Returns whether the whole program compiles; if not, drops or restricts an entry.
  Result<bool> compile() {
    const Stopwatch watch(context_.clock);
    HONE_ASSIGN(auto compiled, compile_with(entries_.size()));
    if (compiled) {
      context_.state->deadline.compiled_with_spec(watch.seconds());
      vetted_.module = std::move(*compiled);
      return true;
    }
    const std::string words = compiled.error().message;
    HONE_TRY(leave_out_what_breaks(reason_in(words), &Vetting::refuses_to_compile,
                                   &Vetting::refuses_to_compile_all));
    return false;
  }

  Result<tl::expected<std::string, provider::Failure>> compile_with(std::size_t count) {
    HONE_ASSIGN(const std::vector<std::string> flags, with(count));
    HONE_ASSIGN(std::vector<trial::CompiledModule> compiled,
                context_.compiler.compile_each({program_with(flags)}));
    return std::move(compiled.front());
  }

  // Drops or restricts the entry that breaks the compile. A single dispatch compiles fast, so the
  // failing one is searched first.
  Status leave_out_what_breaks(const std::string& words,
                               Result<bool> (Vetting::*in_dispatch)(const Dispatch&, std::size_t),
                               Result<bool> (Vetting::*in_program)(std::size_t)) {
    for (const Dispatch& dispatch : dispatches()) {
      const Wrong wrong = [&](std::size_t count) { return (this->*in_dispatch)(dispatch, count); };
      HONE_ASSIGN(const bool refused, wrong(entries_.size()));
      if (!refused) continue;
      HONE_ASSIGN(const std::optional<std::size_t> culprit, first_with(wrong));
      if (!culprit) continue;
      if (entry_for(dispatch) != &entries_[*culprit] && keep_to_its_own(*culprit)) return {};
      leave_out(*culprit, fmt::format("with it {} does not compile: {}", dispatch.name, words));
      return {};
    }
    HONE_ASSIGN(const std::optional<std::size_t> culprit,
                first_with([&](std::size_t count) { return (this->*in_program)(count); }));
    if (!culprit)
      return failure("the program does not compile with the flags {}: {}",
                     fmt::join(request_.flags, " "), words);
    leave_out(*culprit, "with it the program does not compile: " + words);
    return {};
  }

  Result<bool> refuses_to_configure(const Dispatch& dispatch, std::size_t count) {
    HONE_ASSIGN(const std::vector<std::string> flags, with(count));
    return is_refused(context_.compiler.configured_dispatch(dispatch.name, dispatch.source, flags));
  }

  Result<bool> refuses_to_configure_all(std::size_t count) {
    HONE_ASSIGN(const std::vector<std::string> flags, with(count));
    return is_refused(context_.compiler.configured(program_with(flags)));
  }

  Result<bool> refuses_to_compile(const Dispatch& dispatch, std::size_t count) {
    if (std::ranges::find(changed_, &dispatch) == changed_.end()) return false;
    HONE_ASSIGN(const std::vector<std::string> flags, with(count));
    return is_refused(context_.compiler.ask(provider::jobs::kCompileDispatch,
                                            {dispatch.name, dispatch.source, flags}));
  }

  Result<bool> refuses_to_compile_all(std::size_t count) {
    HONE_ASSIGN(const auto compiled, compile_with(count));
    return !compiled.has_value();
  }

  // Returns, by bisection, the first entry that makes the ones before it go wrong. None if all
  // entries together do not go wrong, or if the program does without any.
  Result<std::optional<std::size_t>> first_with(const Wrong& wrong) {
    HONE_ASSIGN(const bool all, wrong(entries_.size()));
    HONE_ASSIGN(const bool none, wrong(0));
    if (!all || none) return std::optional<std::size_t>();
    std::size_t right = 0, known_wrong = entries_.size();
    while (known_wrong - right > 1) {
      const std::size_t middle = right + (known_wrong - right) / 2;
      HONE_ASSIGN(const bool is_wrong, wrong(middle));
      (is_wrong ? known_wrong : right) = middle;
    }
    return std::optional<std::size_t>(known_wrong - 1);
  }

  // Returns the flags with a spec of the first `count` entries.
  Result<std::vector<std::string>> with(std::size_t count) {
    std::vector<std::string> flags = request_.flags;
    if (count == 0) return flags;
    const std::vector<VerifiedEntry> some(entries_.begin(),
                                          entries_.begin() + static_cast<std::ptrdiff_t>(count));
    HONE_ASSIGN(const std::string text, spec_text(context_.programs->specs(), some));
    const std::filesystem::path file = request_.folder / "vetted_spec.mlir";
    HONE_TRY(write_file_atomically(file, text));
    return context_.programs->specs().with_spec(std::move(flags), file);
  }

  // Restricts an entry to the dispatches that it was verified for. Returns false if it was
  // restricted before, or if the program has none of them.
  bool keep_to_its_own(std::size_t index) {
    VerifiedEntry& entry = entries_[index];
    if (!entry.only.empty()) return false;
    for (const Dispatch& dispatch : dispatches())
      if (entry_for(dispatch) == &entry) entry.only.push_back(dispatch.name);
    return !entry.only.empty();
  }

  void leave_out(std::size_t entry, const std::string& reason) {
    for (const TunedDispatch* verified : entries_[entry].verified)
      vetted_.left_out.push_back({verified->dispatch->name, reason});
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(entry));
  }

  Context& context_;
  const VettingRequest& request_;
  std::vector<VerifiedEntry> entries_;
  problem::Program loaded_;
  // Configurations as the compiler prints them: those of the entries, and its own choices.
  std::map<const TunedDispatch*, std::vector<std::string>> wanted_;
  std::map<std::string, std::vector<std::string>> defaults_;
  std::vector<const Dispatch*> changed_;  // not configured as without the spec
  VettedSpec vetted_;
};

}  // namespace

bool one_entry_for(const provider::SpecWriter& specs, const problem::Dispatch& a,
                   const problem::Dispatch& b) {
  if (a.name == b.name) return true;
  return specs.same_class(a.root, b.root) && a.surrounding == b.surrounding;
}

std::vector<VerifiedEntry> spec_entries(const provider::ProgramProvider& provider,
                                        const std::vector<TunedDispatch>& tuned,
                                        std::vector<LeftOut>& left_out) {
  std::vector<const TunedDispatch*> by_gain;
  for (const TunedDispatch& candidate : tuned)
    if (candidate.payload) by_gain.push_back(&candidate);
  std::ranges::stable_sort(by_gain,
                           [](const auto* a, const auto* b) { return gain(*a) > gain(*b); });
  std::vector<VerifiedEntry> entries;
  for (const TunedDispatch* candidate : by_gain) {
    if (candidate->replaces()) {
      add_replaced(provider, *candidate, entries, left_out);
      continue;
    }
    if (const auto alone =
            spec_text(provider.specs(), {{.tuned = candidate, .verified = {candidate}}});
        !alone) {
      left_out.push_back({candidate->dispatch->name, alone.error().message});
      continue;
    }
    const auto same = std::ranges::find_if(entries, [&](const VerifiedEntry& entry) {
      return !replaces(entry) &&
             provider.specs().same_class(entry.tuned->dispatch->root, candidate->dispatch->root);
    });
    if (same == entries.end())
      entries.push_back({.tuned = candidate, .verified = {candidate}});
    else if (provider.specs().same_in_spec(*same->tuned->payload, *candidate->payload))
      same->verified.push_back(candidate);
    else
      left_out.push_back(
          {candidate->dispatch->name,
           fmt::format("a spec cannot tell it from {}, whose configuration is another",
                       same->name())});
  }
  return entries;
}

Result<std::string> spec_text(const provider::SpecWriter& specs,
                              const std::vector<VerifiedEntry>& entries) {
  std::vector<provider::SpecEntry> rows;
  for (const VerifiedEntry& entry : entries) {
    if (replaces(entry)) continue;
    rows.push_back({entry.name(), entry.tuned->dispatch->root, *entry.tuned->payload,
                    entry.tuned->dispatch->surrounding, entry.only});
  }
  if (rows.empty()) return std::string();
  return specs.text_of(rows);
}

Result<std::vector<provider::ReplacedExecutable>> replaced_executables(
    const provider::ProgramProvider& provider, const std::vector<VerifiedEntry>& entries) {
  std::vector<provider::ReplacedExecutable> replaced;
  for (const VerifiedEntry& entry : entries) {
    if (!replaces(entry)) continue;
    HONE_ASSIGN(provider::ReplacedExecutable file, file_of(provider, *entry.tuned));
    replaced.push_back(std::move(file));
  }
  return replaced;
}

bool same_work(const provider::SpecWriter& specs, const problem::Dispatch& a,
               const problem::Dispatch& b) {
  if (&a == &b || anonymous_functions(a) == anonymous_functions(b)) return true;
  return a.root_operations > 0 && b.root_operations > 0 && specs.same_class(a.root, b.root) &&
         a.fused == b.fused && a.surrounding == b.surrounding &&
         same_views(a.bindings, b.bindings) && a.root_bindings == b.root_bindings &&
         a.fill_value == b.fill_value;
}

Result<VettedSpec> vet_spec(Context& context, const VettingRequest& request,
                            std::vector<VerifiedEntry> entries) {
  return Vetting(context, request, std::move(entries)).run();
}

}  // namespace hone::tune
