#include "tune/program/spec_entries.h"

#include <algorithm>
#include <limits>

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
  if (!tuned.launch)
    return failure("how the kernel of '{}' is launched is not known", tuned.dispatch->name);
  if (!provider.specs().replaces_kernels())
    return failure("{} has no way to put a kernel in the place of '{}'", provider.name(),
                   tuned.dispatch->name);
  return provider.specs().replaced(*tuned.dispatch, tuned.code, *tuned.launch);
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

}  // namespace hone::tune
