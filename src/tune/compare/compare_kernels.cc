#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "base/file.h"
#include "base/ranges.h"
#include "base/text.h"
#include "measure/paired_samples.h"
#include "measure/reference.h"
#include "space/configuration.h"
#include "store/store.h"
#include "trial/kernel_runner.h"
#include "trial/protocols.h"
#include "trial/records.h"
#include "tune/compare/compare.h"
#include "tune/services/load_program.h"
#include "tune/services/select_dispatches.h"

namespace hone::tune {
namespace {

constexpr std::string_view kDefaultWord = "default";

struct ToCompile {
  std::string what;  // for messages
  std::optional<provider::Payload> payload = {};
};

// Compiles a dispatch in each of `ways`; returns the artifacts in their order.
Result<std::vector<provider::Artifact>> compile(trial::CompileService& compiler,
                                                const trial::DispatchToPrepare& dispatch,
                                                const std::vector<ToCompile>& ways) {
  std::vector<std::optional<provider::Payload>> payloads = mapped(ways, &ToCompile::payload);
  HONE_ASSIGN(std::vector<trial::CompiledCandidate> compiled,
              compiler.compile_alone(dispatch, payloads));
  std::vector<provider::Artifact> artifacts;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (!compiled[i].artifact)
      return failure("{} does not compile: {}", ways[i].what, compiled[i].artifact.error().message);
    artifacts.push_back(std::move(*compiled[i].artifact));
  }
  return artifacts;
}

Result<const problem::Dispatch*> choose_dispatch(const problem::Program& program,
                                                 const std::string& pattern) {
  std::vector<NotTuned> not_tuned;
  HONE_ASSIGN(
      const std::vector<const problem::Dispatch*> chosen,
      select_dispatches(
          program, pattern.empty() ? std::vector<std::string>() : std::vector{pattern}, not_tuned));
  if (chosen.size() == 1) return chosen.front();
  std::vector<std::string> names = mapped(chosen, &problem::Dispatch::name);
  return input_error("configurations are of one dispatch; say which with --dispatch: {}",
                     fmt::join(names, ", "));
}

Result<std::optional<provider::Payload>> payload_of(const CompareContext& context,
                                                    const problem::Dispatch& dispatch,
                                                    const std::string& text) {
  if (text == kDefaultWord) return std::optional<provider::Payload>();
  return payload_from(context.provider, dispatch, text);
}

// The reference is compiled for another CPU, so that it shares no code generation with A and B.
// `other`: the program as it is compiled there.
Result<provider::Artifact> independent_reference(const CompareContext& context,
                                                 trial::CompileService& compiler,
                                                 const problem::Program& other,
                                                 const problem::Dispatch& dispatch) {
  const std::vector<std::string>& flags = context.options.reference_flags;
  for (const problem::Dispatch& each : other.dispatches) {
    if (each.name != dispatch.name || each.bindings != dispatch.bindings) continue;
    HONE_ASSIGN(
        std::vector<provider::Artifact> compiled,
        compile(compiler, {dispatch.name + "#reference", each.source, flags}, {{"the reference"}}));
    return std::move(compiled.front());
  }
  return failure("'{}' compiled for another CPU has no dispatch '{}' to be verified against",
                 other.path, dispatch.name);
}

// A store's last choice for a dispatch.
struct Choice {
  std::string when;
  std::string configuration;
  store::Id candidate = 0;
  std::optional<store::Id> default_candidate;
  problem::Dispatch dispatch;
  bool emulated = false;  // chosen by times of an emulator
};

Result<std::vector<Choice>> choices_in(store::Store& store,
                                       const std::vector<std::string>& patterns) {
  HONE_ASSIGN(const std::vector<store::DispatchView> rows, store.dispatch_rows());
  std::vector<Choice> choices;
  for (const store::DispatchView& row : rows) {
    const bool wanted =
        patterns.empty() || std::ranges::any_of(patterns, [&](const std::string& pattern) {
          return matches_pattern(row.name, pattern);
        });
    const bool beaten = row.selection && row.selection->winner && row.best;
    if (!wanted || (!beaten && !row.default_row)) continue;
    Choice choice;
    choice.when = row.selection ? row.selection->when : "";
    choice.candidate = beaten ? *row.selection->winner : row.default_row->candidate;
    choice.configuration = beaten ? row.best->configuration : std::string(kDefaultWord);
    if (row.default_row) choice.default_candidate = row.default_row->candidate;
    HONE_ASSIGN(const store::DispatchRow dispatch, store.dispatch(row.dispatch));
    HONE_ASSIGN(choice.dispatch, trial::dispatch_from(dispatch));
    if (row.device) {
      HONE_ASSIGN(const store::DeviceRow device, store.device(*row.device));
      choice.emulated = trial::is_emulated(device);
    }
    // A dispatch has a row for each compiler and device that the store has results of.
    const auto known = std::ranges::find_if(choices, [&](const Choice& other) {
      return problem::fingerprint(other.dispatch) == row.fingerprint;
    });
    if (known == choices.end())
      choices.push_back(std::move(choice));
    else if (known->when < choice.when)
      *known = std::move(choice);
  }
  return choices;
}

// Compiles a stored candidate with this user's compiler and the flags in the store.
Result<provider::Artifact> compile_again(const CompareContext& context,
                                         trial::CompileService& compiler, store::Store& store,
                                         store::Id candidate, const problem::Dispatch& dispatch) {
  HONE_ASSIGN(const store::CandidateDetails details, store.details(candidate));
  if (details.candidate.provider != context.provider.name())
    return input_error(
        "the code of '{}' in '{}' was compiled by {} and not by you: tune it here, or say --trust "
        "to load it",
        dispatch.name, store.path().string(), details.candidate.provider);
  HONE_ASSIGN(const std::vector<std::string> flags,
              flags_to_compile_with(details.build, context.options.own_flags, context.provider));
  std::optional<provider::Payload> payload;
  if (details.candidate.configuration != store::kDefaultConfiguration) {
    HONE_ASSIGN(const space::Space space, context.provider.space_of(dispatch));
    HONE_ASSIGN(const space::Configuration configuration,
                space::configuration_from_json(
                    space, nlohmann::ordered_json::parse(details.candidate.configuration, nullptr,
                                                         /*allow_exceptions=*/false)));
    HONE_ASSIGN(payload, context.provider.payload_of(dispatch, space, configuration));
  }
  HONE_ASSIGN(
      std::vector<provider::Artifact> compiled,
      compile(compiler, {problem::fingerprint(dispatch), dispatch.source, flags},
              {{fmt::format("'{}' of '{}'", dispatch.name, store.path().string()), payload}}));
  return std::move(compiled.front());
}

// Loads code of stores if that is allowed, and compiles it again if not.
class Codes {
 public:
  Codes(const CompareContext& context, trial::CompileService* compiler)
      : context_(context), compiler_(compiler) {}

  Result<provider::Artifact> of(store::Store& store, store::Id candidate,
                                const problem::Dispatch& dispatch) const {
    bool loaded = context_.options.trust == store::Trust::kAnyone || compiler_ == nullptr;
    if (!loaded) {
      HONE_ASSIGN(loaded, store.is_own(candidate));
    }
    if (!loaded) return compile_again(context_, *compiler_, store, candidate, dispatch);
    HONE_ASSIGN(const store::ArtifactRow row,
                store.load_artifact(candidate, context_.options.trust));
    return trial::artifact_from(row);
  }

 private:
  const CompareContext& context_;
  trial::CompileService* compiler_;
};

// Two kernels of one dispatch, verified and measured in pairs.
struct KernelPair {
  problem::Dispatch dispatch;
  std::optional<provider::Artifact> reference;  // none: a bare contraction, computed exactly
  provider::Artifact a;
  provider::Artifact b;
};

class PairedKernels {
 public:
  PairedKernels(const CompareContext& context, const KernelPair& kernels, ComparedPair& pair)
      : context_(context),
        runner_(context.runner),
        kernels_(kernels),
        a_{kernels.a},
        b_{kernels.b},
        pair_(pair) {}

  Status verify() {
    const CompareOptions& options = context_.options;
    const measure::ProblemRequest problem{kernels_.dispatch,
                                          options.place.address,
                                          options.seed,
                                          options.cache,
                                          options.place.facts.last_level_cache_bytes,
                                          kernels_.reference};
    HONE_ASSIGN(const measure::ProblemReady ready, context_.runner.set_problem(problem));
    if (!ready.note.empty()) context_.observer.note(ready.note);
    HONE_TRY(verify("A", a_, pair_.a_fails));
    return verify("B", b_, pair_.b_fails);
  }

  // Loads both kernels once, and measures the rounds of this load.
  Status measure(std::size_t load, std::size_t rounds) {
    const bool b_first = (std::mt19937_64(context_.options.seed + load)() & 1) != 0;
    trial::RoundsRequest request;
    request.kernels = {&a_, &b_};
    request.reload = true;
    request.how.other_memory = true;
    request.how.protocol = trial::comparison_protocol(rounds);
    request.how.seed = context_.options.seed * 1000 + load;
    request.next = [order = b_first ? trial::Columns{1, 0}
                                    : trial::Columns{0, 1}]() mutable -> Result<trial::Columns> {
      return std::exchange(order, {});
    };
    request.take = [&](const trial::Columns&,
                       const measure::MeasureResult& measured) -> Result<bool> {
      if (load == 0 || measured.after.background > pair_.machine.background)
        pair_.machine = measured.after;
      for (const std::vector<double>& round : measure::paired_rounds(measured)) {
        pair_.a_seconds.push_back(round[b_first ? 1 : 0]);
        pair_.b_seconds.push_back(round[b_first ? 0 : 1]);
      }
      return true;
    };
    HONE_ASSIGN(const auto failed, trial::run_rounds(runner_, std::move(request)));
    if (!failed) return {};
    pair_.a_fails = !failed->column || *failed->column == 0;
    pair_.b_fails = !failed->column || *failed->column == 1;
    return fail(!failed->column ? "A or B" : *failed->column == 0 ? "A" : "B", failed->failure);
  }

 private:
  Status verify(std::string_view side, trial::RunnerKernel& kernel, bool& fails) {
    HONE_ASSIGN(const trial::KernelResult<measure::Verification> verified, runner_.verify(kernel));
    fails = !verified || !verified->right;
    if (!verified) return fail(side, verified.error());
    if (fails) say(fmt::format("{}: {}", side, verified->message));
    return runner_.unload(kernel);
  }

  Status fail(std::string_view side, const provider::Failure& failure) {
    say(fmt::format("{}: {}: {}", side, provider::name_of(failure.kind), failure.message));
    return {};
  }

  // Keeps the first failure.
  void say(std::string failure) {
    if (pair_.failure.empty()) pair_.failure = std::move(failure);
  }

  const CompareContext& context_;
  trial::KernelRunner runner_;
  const KernelPair& kernels_;
  trial::RunnerKernel a_, b_;
  ComparedPair& pair_;
};

// Fills in the times, the result, and the failure if A or B does not load, run or compute what the
// reference does. `statistics`: of this pair.
Status compare_kernels(const CompareContext& context, const KernelPair& kernels,
                       const measure::ComparisonOptions& statistics, ComparedPair& pair) {
  pair.same_code = provider::identity(kernels.a) == provider::identity(kernels.b);
  if (pair.same_code) pair.note = "both are the same code";
  PairedKernels measuring(context, kernels, pair);
  HONE_TRY(measuring.verify());
  const std::size_t loads =
      std::max(context.options.loads, measure::fewest_rounds(statistics.alpha));
  const std::size_t rounds_per_load =
      std::max<std::size_t>(1, (context.options.rounds + loads - 1) / loads);
  measure::ComparisonOptions options = statistics;
  if (options.block == 0) options.block = rounds_per_load;
  for (std::size_t load = 0; pair.failure.empty(); ++load) {
    if (load > 0 && load % loads == 0) {
      HONE_ASSIGN(pair.result, measure::compare_paired(pair.a_seconds, pair.b_seconds, options));
      if ((load + loads) * rounds_per_load > context.options.most_rounds ||
          !measure::needs_more_rounds(pair.result, context.options.find, options))
        return {};
    }
    context.observer.progress({.dispatch = pair.what,
                               .dispatch_count = 1,
                               .step = "compare",
                               .tried = pair.a_seconds.size(),
                               .planned = context.options.most_rounds});
    HONE_TRY(measuring.measure(load, rounds_per_load));
  }
  return {};
}

Result<KernelPair> load_pair(const Codes& codes, store::Store& a_store, const Choice& a,
                             store::Store& b_store, const Choice& b, bool runs_on_host) {
  KernelPair kernels;
  kernels.dispatch = a.dispatch;
  HONE_ASSIGN(kernels.a, codes.of(a_store, a.candidate, a.dispatch));
  HONE_ASSIGN(kernels.b, codes.of(b_store, b.candidate, b.dispatch));
  if (measure::has_exact_reference(a.dispatch)) return kernels;
  if (!runs_on_host)
    return input_error(
        "'{}' has more fused around it than its product, and stores of a GPU hold no code for a "
        "CPU to verify it against; compare the configurations on the program (--config)",
        a.dispatch.name);
  if (!a.default_candidate)
    return input_error("'{}' holds no default configuration of '{}' to verify against",
                       a_store.path().string(), a.dispatch.name);
  HONE_ASSIGN(kernels.reference, codes.of(a_store, *a.default_candidate, a.dispatch));
  return kernels;
}

}  // namespace

Result<ComparedPair> compare_configurations(const CompareContext& context,
                                            trial::CompileService& compiler,
                                            const std::string& program, const std::string& dispatch,
                                            const std::string& a, const std::string& b) {
  HONE_ASSIGN(const std::string bytes, read_file(program));
  HONE_ASSIGN(const problem::Program loaded,
              load_program(compiler, context.provider, program, bytes, context.options.flags));
  HONE_ASSIGN(const problem::Dispatch* chosen, choose_dispatch(loaded, dispatch));
  HONE_ASSIGN(const auto a_payload, payload_of(context, *chosen, a));
  HONE_ASSIGN(const auto b_payload, payload_of(context, *chosen, b));

  KernelPair kernels;
  kernels.dispatch = *chosen;
  HONE_ASSIGN(
      std::vector<provider::Artifact> compiled,
      compile(compiler, {problem::fingerprint(*chosen), chosen->source, context.options.flags},
              {{"configuration A", a_payload}, {"configuration B", b_payload}}));
  kernels.a = std::move(compiled[0]);
  kernels.b = std::move(compiled[1]);
  if (!measure::has_exact_reference(*chosen)) {
    HONE_ASSIGN(const problem::Program other,
                compiler.load_program({program, bytes, context.options.reference_flags}));
    HONE_ASSIGN(kernels.reference, independent_reference(context, compiler, other, *chosen));
  }
  ComparedPair pair;
  pair.what = chosen->name;
  pair.a = a;
  pair.b = b;
  HONE_TRY(compare_kernels(context, kernels, context.options.statistics, pair));
  return pair;
}

Result<ComparedPair> compare_sides_of_dispatch(const CompareContext& context,
                                               trial::CompileService& compiler,
                                               const DispatchSides& sides) {
  const problem::Dispatch& dispatch = sides.dispatch;
  const std::string key = problem::fingerprint(dispatch);
  KernelPair kernels;
  kernels.dispatch = dispatch;
  HONE_ASSIGN(
      std::vector<provider::Artifact> a,
      compile(compiler, {key + "#a", dispatch.source, sides.a_flags}, {{dispatch.name + " (A)"}}));
  HONE_ASSIGN(
      std::vector<provider::Artifact> b,
      compile(compiler, {key + "#b", dispatch.source, sides.b_flags}, {{dispatch.name + " (B)"}}));
  kernels.a = std::move(a.front());
  kernels.b = std::move(b.front());
  ComparedPair pair;
  pair.what = dispatch.name;
  pair.same_code = provider::identity(kernels.a) == provider::identity(kernels.b);
  if (pair.same_code && !sides.times_same_code) return pair;
  if (!measure::has_exact_reference(dispatch)) {
    HONE_ASSIGN(kernels.reference,
                independent_reference(context, compiler, sides.reference, dispatch));
  }
  HONE_TRY(compare_kernels(context, kernels, sides.statistics, pair));
  return pair;
}

namespace {

// Choices of a store and another one for the same dispatch.
struct SharedChoices {
  std::vector<Choice> a, b;
  std::vector<std::pair<const Choice*, const Choice*>> pairs;  // of these
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
  HONE_ASSIGN(shared.a, choices_in(a.store, dispatches));
  HONE_ASSIGN(shared.b, choices_in(b.store, dispatches));
  for (const Choice& mine : shared.a)
    for (const Choice& other : shared.b)
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

}  // namespace

Result<StoredCode> stored_code(const std::filesystem::path& a, const std::filesystem::path& b,
                               const std::vector<std::string>& dispatches) {
  HONE_ASSIGN(store::Store a_store, store::Store::open(a, store::Mode::kReadOnly));
  HONE_ASSIGN(store::Store b_store, store::Store::open(b, store::Mode::kReadOnly));
  HONE_ASSIGN(const SharedChoices shared, shared_choices({a_store, a}, {b_store, b}, dispatches));
  StoredCode code;
  for (const auto& [store, choices] :
       {std::pair{&a_store, &shared.a}, std::pair{&b_store, &shared.b}})
    for (const Choice& choice : *choices)
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
                load_pair(Codes(context, compiler), a_store, *mine, b_store, *other,
                          context.options.place.traits.runs_on_host));
    ComparedPair& pair = pairs.emplace_back();
    pair.what = mine->dispatch.name;
    pair.a = mine->configuration;
    pair.b = other->configuration;
    HONE_TRY(compare_kernels(context, kernels, statistics, pair));
  }
  return pairs;
}

}  // namespace hone::tune
