// Enumerators by name, as the tables have them.
#include <algorithm>
#include <iterator>

#include "base/exact_json.h"
#include "store/columns.h"

namespace hone::store {
namespace {

template <class E>
using Name = std::pair<E, std::string_view>;

constexpr Name<RunState> kRunStates[] = {{RunState::kRunning, "running"},
                                         {RunState::kFinished, "finished"},
                                         {RunState::kInterrupted, "interrupted"},
                                         {RunState::kFailed, "failed"}};
constexpr Name<Phase> kPhases[] = {{Phase::kSearch, "search"},
                                   {Phase::kSentinel, "sentinel"},
                                   {Phase::kFinalist, "finalist"},
                                   {Phase::kOwnRuntime, "iree_runtime"},
                                   {Phase::kProgram, "program"}};
constexpr Name<Purpose> kPurposes[] = {{Purpose::kProof, "proof"}, {Purpose::kFlags, "flags"}};

// A file may have been made without the CHECK of the tables, which admits no other names.
template <class E, std::size_t N>
Status find_in(const Name<E> (&names)[N], std::string_view what, std::string_view name, E& value) {
  const auto found = std::ranges::find(names, name, &Name<E>::second);
  if (found == std::end(names))
    return input_error("the store has a {} '{}', which means nothing here", what, name);
  value = found->first;
  return {};
}

}  // namespace

std::string_view name_of(RunState state) {
  return name_in(kRunStates, state);
}
std::string_view name_of(Phase phase) {
  return name_in(kPhases, phase);
}
std::string_view name_of(Purpose purpose) {
  return name_in(kPurposes, purpose);
}
Status find_named(std::string_view name, RunState& value) {
  return find_in(kRunStates, "run that is", name, value);
}
Status find_named(std::string_view name, Phase& value) {
  return find_in(kPhases, "measurement of", name, value);
}
Status find_named(std::string_view name, Purpose& value) {
  return find_in(kPurposes, "measurement for", name, value);
}

}  // namespace hone::store
