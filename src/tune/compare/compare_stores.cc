#include <algorithm>
#include <utility>

#include "tune/compare/compare.h"
#include "tune/compare/paired_kernels.h"
#include "tune/compare/stored_choices.h"

namespace hone::tune {
namespace {

// Choices of a store and another one for the same dispatch.
struct SharedChoices {
  std::vector<StoredChoice> a, b;
  std::vector<std::pair<const StoredChoice*, const StoredChoice*>> pairs;  // of these
};

// A store and its path, for messages.
struct NamedStore {
  store::Store& store;
  const std::filesystem::path& path;
};

// Input errors: the stores share no dispatch, or one's times are of an emulator.
Result<SharedChoices> shared_choices(const NamedStore& a, const NamedStore& b,
                                     const std::vector<std::string>& dispatches) {
  SharedChoices shared;
  HONE_ASSIGN(shared.a, stored_choices(a.store, dispatches));
  HONE_ASSIGN(shared.b, stored_choices(b.store, dispatches));
  for (const StoredChoice& mine : shared.a)
    for (const StoredChoice& other : shared.b)
      if (problem::fingerprint(mine.dispatch) == problem::fingerprint(other.dispatch))
        shared.pairs.emplace_back(&mine, &other);
  const std::string a_path = a.path.string(), b_path = b.path.string();
  if (shared.pairs.empty())
    return input_error(
        "'{}' ({} measured dispatches) and '{}' ({}) share no dispatch{}", a_path, shared.a.size(),
        b_path, shared.b.size(),
        dispatches.empty() ? "" : fmt::format(" that matches {}", fmt::join(dispatches, ", ")));
  for (const auto& [mine, other] : shared.pairs)
    if (mine->emulated != other->emulated)
      return input_error(
          "'{}': one of '{}' and '{}' chose it by times of an emulator, which are no device's; "
          "tune it on the device",
          mine->dispatch.name, a_path, b_path);
  return shared;
}

// A store, and its choice for a dispatch.
struct Side {
  store::Store& store;
  const StoredChoice& choice;
};

Result<KernelPair> load_pair(const CompareContext& context, trial::CompileService* compiler,
                             const Side& a, const Side& b) {
  const StoredCodes codes(context, compiler);
  KernelPair kernels;
  kernels.dispatch = a.choice.dispatch;
  HONE_ASSIGN(kernels.a, codes.of(a.store, a.choice.candidate, a.choice.dispatch));
  HONE_ASSIGN(kernels.b, codes.of(b.store, b.choice.candidate, b.choice.dispatch));
  HONE_ASSIGN(kernels.reference, stored_reference(context, codes, compiler, a.store, a.choice));
  return kernels;
}

}  // namespace

Result<StoredCode> stored_code(const std::filesystem::path& a, const std::filesystem::path& b,
                               const std::vector<std::string>& dispatches) {
  HONE_ASSIGN(store::Store a_store, store::Store::open(a, store::Mode::kReadOnly));
  HONE_ASSIGN(store::Store b_store, store::Store::open(b, store::Mode::kReadOnly));
  HONE_ASSIGN(const SharedChoices shared, shared_choices({a_store, a}, {b_store, b}, dispatches));
  StoredCode code;
  for (const auto& [store, choices] :
       {std::pair{&a_store, &shared.a}, std::pair{&b_store, &shared.b}})
    for (const StoredChoice& choice : *choices)
      for (const store::Id candidate :
           {choice.candidate, choice.default_candidate.value_or(choice.candidate)}) {
        HONE_ASSIGN(const bool own, store->is_own(candidate));
        code.is_own = code.is_own && own;
        HONE_ASSIGN(const store::KnownResults known, store->known(candidate, std::nullopt));
        if (known.artifact) code.formats.insert(known.artifact->format);
      }
  return code;
}

Result<std::vector<ComparedPair>> compare_stores(const CompareContext& context,
                                                 trial::CompileService* compiler,
                                                 const std::filesystem::path& a,
                                                 const std::filesystem::path& b,
                                                 const std::vector<std::string>& dispatches) {
  HONE_ASSIGN(store::Store a_store, store::Store::open(a, store::Mode::kReadOnly));
  HONE_ASSIGN(store::Store b_store, store::Store::open(b, store::Mode::kReadOnly));
  HONE_ASSIGN(const SharedChoices choices, shared_choices({a_store, a}, {b_store, b}, dispatches));
  const auto& shared = choices.pairs;

  measure::ComparisonOptions statistics = context.options.statistics;
  statistics.alpha /= static_cast<double>(shared.size());
  std::vector<ComparedPair> pairs;
  for (const auto& [mine, other] : shared) {
    HONE_ASSIGN(const KernelPair kernels,
                load_pair(context, compiler, {a_store, *mine}, {b_store, *other}));
    ComparedPair& pair = pairs.emplace_back();
    pair.what = mine->dispatch.name;
    pair.a = mine->configuration;
    pair.b = other->configuration;
    HONE_TRY(compare_kernels(context, kernels, statistics, pair));
  }
  return pairs;
}

}  // namespace hone::tune
