#include "tune/compare/check_compiler.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "base/ranges.h"
#include "base/text.h"
#include "measure/reference.h"
#include "provider/artifact.h"
#include "store/store.h"
#include "trial/records.h"
#include "tune/compare/paired_kernels.h"
#include "tune/compare/stored_choices.h"

namespace hone::tune {
namespace {

// Dispatches that compile at a time. Each holds a server of the compiler.
constexpr std::size_t kAhead = 8;

// Whether two splits state the same dispatch, though another version of the compiler writes its
// source differently.
bool computes_the_same(const problem::Dispatch& a, const problem::Dispatch& b) {
  return a.root == b.root && a.fused == b.fused && a.bindings == b.bindings &&
         a.constants == b.constants && a.computation == b.computation;
}

// A stored candidate, and what it is compiled from now.
struct Candidate {
  const StoredChoice* choice = nullptr;
  store::Id id = 0;
  const problem::Dispatch* now = nullptr;  // as the compiler states it now
  std::string configuration;
  std::optional<trial::DispatchToPrepare> job = {};  // none: `checked` says why
  std::optional<provider::Payload> payload = {};
  std::optional<tl::expected<provider::Artifact, provider::Failure>> compiled = {};
  CheckedCode checked = {};
};

CheckOutcome outcome_of(const ComparedPair& pair) {
  if (pair.failure.empty())
    return pair.result.verdict == measure::Verdict::kSlower ? CheckOutcome::kSlower
                                                            : CheckOutcome::kNotSlower;
  if (pair.a_failure || !pair.b_failure || provider::is_accident(*pair.b_failure))
    return CheckOutcome::kNotComparable;
  return *pair.b_failure == provider::FailureKind::kWrong ? CheckOutcome::kWrong
                                                          : CheckOutcome::kFails;
}

class CompilerChecker {
 public:
  CompilerChecker(const CompareContext& context, trial::CompileService& compiler,
                  const CheckRequest& request, store::Store& store)
      : context_(context),
        compiler_(compiler),
        request_(request),
        store_(store),
        codes_(context, nullptr) {}

  Result<CheckedCompiler> run() {
    HONE_ASSIGN(choices_, stored_choices(store_, request_.dispatches));
    HONE_TRY(choose());
    HONE_TRY(compile());
    HONE_TRY(load());
    HONE_TRY(compare());
    CheckedCompiler all;
    for (Candidate& each : candidates_) {
      each.checked.configuration = each.configuration;
      each.checked.pair.what = each.now->name;
      all.codes.push_back(std::move(each.checked));
    }
    all.not_known = std::move(not_known_);
    return all;
  }

 private:
  Status choose() {
    if (request_.program == nullptr) {
      for (const StoredChoice& choice : choices_) HONE_TRY(add(choice, choice.dispatch));
    } else {
      for (const problem::Dispatch& now : request_.program->dispatches) {
        if (!is_wanted(now)) continue;
        const StoredChoice* const choice = choice_of(now);
        if (choice != nullptr)
          HONE_TRY(add(*choice, now));
        else if (now.not_tunable.empty())  // a copy never has a result
          not_known_.push_back(now.name);
      }
    }
    if (request_.program == nullptr && candidates_.empty())
      return input_error(
          "'{}' has no measured dispatch{}", request_.store.string(),
          request_.dispatches.empty()
              ? ""
              : fmt::format(" that matches {}", fmt::join(request_.dispatches, ", ")));
    return {};
  }

  bool is_wanted(const problem::Dispatch& dispatch) const {
    return request_.dispatches.empty() ||
           std::ranges::any_of(request_.dispatches, [&](const std::string& pattern) {
             return matches_pattern(dispatch.name, pattern);
           });
  }

  const StoredChoice* choice_of(const problem::Dispatch& now) const {
    const StoredChoice* like = nullptr;
    for (const StoredChoice& choice : choices_) {
      if (problem::fingerprint(choice.dispatch) == problem::fingerprint(now)) return &choice;
      if (like == nullptr && computes_the_same(choice.dispatch, now)) like = &choice;
    }
    return like;
  }

  Status add(const StoredChoice& choice, const problem::Dispatch& now) {
    if (choice.default_candidate)
      HONE_TRY(add(choice, now, *choice.default_candidate, std::string(kDefaultWord)));
    if (choice.candidate == choice.default_candidate) return {};
    return add(choice, now, choice.candidate, choice.configuration);
  }

  Status add(const StoredChoice& choice, const problem::Dispatch& now, store::Id id,
             std::string configuration) {
    Candidate& each =
        candidates_.emplace_back(Candidate{&choice, id, &now, std::move(configuration)});
    if (choice.emulated) {
      each.checked.reason = "its times are of an emulator, which are no device's";
      return {};
    }
    HONE_ASSIGN(const store::CandidateRow row, store_.candidate(id));
    if (context_.maker(row.provider) == nullptr) {
      each.checked.reason = "a kernel of " + row.provider + ", which this compiler does not make";
      return {};
    }
    Result<Recipe> recipe = recipe_of(context_, store_, id, now);
    if (!recipe) {
      HONE_TRY(all_but_input(recipe));
      each.checked.reason = recipe.error().message;
      return {};
    }
    std::vector<std::string> flags = std::move(recipe->flags);
    const std::vector<std::string>& own = context_.options.own_flags;
    flags.insert(flags.end(), own.begin(), own.end());
    each.job = {fmt::format("{}#{}", problem::fingerprint(now), id),
                now.source,
                std::move(flags),
                {},
                now.statement};
    each.payload = std::move(recipe->payload);
    return {};
  }

  static Status all_but_input(const Result<Recipe>& recipe) {
    if (recipe || recipe.error().kind == ErrorKind::kInput) return {};
    return tl::unexpected(recipe.error());
  }

  Status compile() {
    std::vector<Candidate*> to_compile;
    for (Candidate& each : candidates_)
      if (each.job) to_compile.push_back(&each);
    for (std::size_t begin = 0; begin < to_compile.size(); begin += kAhead) {
      const std::size_t end = std::min(begin + kAhead, to_compile.size());
      for (std::size_t i = begin; i < end; ++i)
        HONE_TRY(all_but_failure(
            compiler_.compile_ahead(*to_compile[i]->job, {to_compile[i]->payload})));
      for (std::size_t i = begin; i < end; ++i) {
        context_.observer.progress({.dispatch = to_compile[i]->now->name,
                                    .dispatch_index = i,
                                    .dispatch_count = to_compile.size(),
                                    .step = "compiling",
                                    .tried = i,
                                    .planned = to_compile.size()});
        HONE_TRY(take(*to_compile[i]));
      }
    }
    return {};
  }

  Status take(Candidate& each) {
    Result<std::vector<trial::CompiledCandidate>> compiled =
        compiler_.compile_alone(*each.job, {each.payload});
    HONE_TRY(all_but_failure(compiled));
    if (compiled && compiled->front().artifact) {
      each.compiled = std::move(compiled->front().artifact);
      return {};
    }
    each.checked.outcome = CheckOutcome::kFails;
    each.checked.reason =
        compiled ? fmt::format("{}: {}", provider::name_of(compiled->front().artifact.error().kind),
                               compiled->front().artifact.error().message)
                 : compiled.error().message;
    return {};
  }

  // Loads what the store has of those that compile, and finds out which of them differ.
  Status load() {
    for (Candidate& each : candidates_) {
      if (!each.compiled) continue;
      Result<KernelPair> pair = pair_of(each);
      if (!pair) {
        if (pair.error().kind != ErrorKind::kInput) HONE_TRY(all_but_failure(pair));
        each.checked.reason = pair.error().message;
        continue;
      }
      if (provider::identity(pair->a) == provider::identity(pair->b))
        each.checked.outcome = CheckOutcome::kSameCode;
      else
        differing_.emplace_back(&each, std::move(*pair));
    }
    return {};
  }

  Result<KernelPair> pair_of(const Candidate& each) {
    KernelPair pair;
    pair.dispatch = each.choice->dispatch;
    HONE_ASSIGN(pair.a, codes_.of(store_, each.id, each.choice->dispatch));
    pair.b = **each.compiled;
    if (provider::identity(pair.a) == provider::identity(pair.b)) return pair;
    HONE_ASSIGN(pair.reference,
                stored_reference(context_, codes_, &compiler_, store_, *each.choice));
    return pair;
  }

  Status compare() {
    measure::ComparisonOptions statistics = context_.options.statistics;
    statistics.alpha /= static_cast<double>(std::max<std::size_t>(1, differing_.size()));
    for (auto& [each, kernels] : differing_) {
      ComparedPair& pair = each->checked.pair;
      pair.what = each->now->name;
      HONE_TRY(compare_kernels(context_, kernels, statistics, pair));
      each->checked.outcome = outcome_of(pair);
      if (each->checked.outcome != CheckOutcome::kSlower) each->checked.reason = pair.failure;
    }
    return {};
  }

  const CompareContext& context_;
  trial::CompileService& compiler_;
  const CheckRequest& request_;
  store::Store& store_;
  StoredCodes codes_;
  std::vector<StoredChoice> choices_;
  std::deque<Candidate> candidates_;
  std::vector<std::pair<Candidate*, KernelPair>> differing_;
  std::vector<std::string> not_known_;
};

}  // namespace

std::string_view name_of(CheckOutcome outcome) {
  switch (outcome) {
    case CheckOutcome::kSameCode:
      return "same code";
    case CheckOutcome::kNotSlower:
      return "not slower";
    case CheckOutcome::kSlower:
      return "slower";
    case CheckOutcome::kWrong:
      return "wrong";
    case CheckOutcome::kFails:
      return "fails";
    case CheckOutcome::kNotComparable:
      break;
  }
  return "not comparable";
}

bool is_alarm(CheckOutcome outcome) {
  return outcome == CheckOutcome::kSlower || outcome == CheckOutcome::kWrong ||
         outcome == CheckOutcome::kFails;
}

Result<std::set<std::string>> stored_formats(const std::filesystem::path& path,
                                             const std::vector<std::string>& dispatches) {
  HONE_ASSIGN(store::Store store, store::Store::open(path, store::Mode::kReadOnly));
  HONE_ASSIGN(const std::vector<StoredChoice> choices, stored_choices(store, dispatches));
  if (choices.empty())
    return input_error(
        "'{}' has no measured dispatch{}: hone tune PROGRAM --store {} adds some", path.string(),
        dispatches.empty() ? "" : fmt::format(" that matches {}", fmt::join(dispatches, ", ")),
        path.string());
  std::set<std::string> formats;
  for (const StoredChoice& choice : choices) {
    HONE_ASSIGN(const store::KnownResults known, store.known(choice.candidate, std::nullopt));
    if (known.artifact && known.artifact->has_code) formats.insert(known.artifact->format);
  }
  if (formats.empty())
    return input_error(
        "'{}' keeps no code to compare with: tune with the compiler you trust into another store",
        path.string());
  return formats;
}

Result<CheckedCompiler> check_compiler(const CompareContext& context,
                                       trial::CompileService& compiler,
                                       const CheckRequest& request) {
  HONE_ASSIGN(store::Store store, store::Store::open(request.store, store::Mode::kReadOnly));
  return CompilerChecker(context, compiler, request, store).run();
}

}  // namespace hone::tune
