#include "tune/program/build_bench.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "base/ranges.h"
#include "base/stopwatch.h"
#include "plan/policy.h"
#include "trial/records.h"
#include "tune/program/program_calls.h"
#include "tune/services/given_arguments.h"

namespace hone::tune {
namespace {

// Returns the largest error of the outputs; infinite if one is not a number.
double largest_error(const std::vector<problem::Array>& outputs,
                     const std::vector<problem::Array>& exact) {
  double largest = 0;
  for (std::size_t i = 0; i < std::min(exact.size(), outputs.size()); ++i) {
    const double error = error_by_wide(outputs[i], exact[i]);
    largest = std::isnan(error) ? INFINITY : std::max(largest, error);
  }
  return largest;
}

}  // namespace

Result<BuildBench> BuildBench::create(Context& context, const problem::Program& program,
                                      std::string bytes, const problem::Function& function,
                                      std::filesystem::path folder) {
  BuildBench builds(context);
  builds.path_ = program.path;
  builds.bytes_ = std::make_shared<const std::string>(std::move(bytes));
  builds.function_ = function;
  builds.narrow_ = computes_narrow(program);
  builds.folder_ = std::move(folder);
  builds.in_f32_.emplace(context, program, builds.bytes_, function, builds.folder_);
  builds.calls_ = context.programs->runtime().timers(context.options.place().address).calls;
  HONE_ASSIGN(builds.program_, context.store.intern(store::ProgramRow{
                                   0, program.hash, program.path,
                                   nlohmann::json{{"function", function.name}}.dump()}));
  HONE_ASSIGN(builds.inputs_, write_argument_files(function, context.options.inputs, builds.folder_,
                                                   context.options.seed));
  return builds;
}

provider::ProgramCall BuildBench::call(const ProgramBuild& build) const {
  return {
      .module = build.module,
      .function = function_,
      .inputs = inputs_,
      .device = context_->options.place().address,
      .runtime_flags = context_->options.runtime_flags,
      .stop_fd = context_->stop_fd,
      .most_seconds = context_->state->deadline.most_call().value_or(plan::kMostFirstCallSeconds)};
}

Result<std::vector<trial::CompiledModule>> BuildBench::compile(std::vector<ProgramBuild>& builds) {
  std::vector<trial::CompiledModule> programs(builds.size());
  std::vector<trial::ProgramToCompile> missing;
  std::vector<std::size_t> places;  // of `missing`
  for (std::size_t i = 0; i < builds.size(); ++i) {
    ProgramBuild& build = builds[i];
    build.module = folder_ / fmt::format("build{}.vmfb", made_++);
    programs[i] = std::move(build.compiled);
    build.compiled.clear();
    if (!programs[i]->empty()) continue;
    HONE_ASSIGN(missing.emplace_back(), to_compile(build));
    places.push_back(i);
  }
  if (places.empty()) return programs;
  HONE_ASSIGN(std::vector<trial::CompiledModule> compiled,
              context_->compiler.compile_each(missing));
  for (std::size_t i = 0; i < places.size(); ++i) programs[places[i]] = std::move(compiled[i]);
  return programs;
}

Result<trial::ProgramToCompile> BuildBench::to_compile(const ProgramBuild& build) const {
  std::vector<std::string> all = joined(context_->options.flags, build.flags);
  trial::ProgramToCompile program{path_, *bytes_, {}};
  if (build.shares_frontend_ir()) program.frontend_flags = all;
  // A compile is recognised by its flags: files are named by what they hold.
  if (!build.spec.empty()) {
    const auto file = folder_ / fmt::format("spec_{}.mlir", content_hash(build.spec));
    HONE_TRY(write_file_atomically(file, build.spec));
    all = context_->programs->specs().with_spec(std::move(all), file);
  }
  if (!build.replaced.empty()) {
    std::string kernels;
    for (const provider::ReplacedExecutable& each : build.replaced)
      kernels += content_hash(each.executable) + content_hash(each.text);
    const auto kernels_folder = folder_ / fmt::format("kernels_{}", content_hash(kernels));
    HONE_TRY(write_replaced(kernels_folder, build.replaced));
    all = context_->programs->specs().with_replaced(std::move(all), kernels_folder);
  }
  program.flags = std::move(all);
  return program;
}

std::string file_of_replaced(const std::string& executable) {
  return executable + ".mlir";
}

Status write_replaced(const std::filesystem::path& folder,
                      const std::vector<provider::ReplacedExecutable>& replaced) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code)
    return environment_error("cannot make the folder '{}': {}", folder.string(), code.message());
  for (const provider::ReplacedExecutable& each : replaced)
    HONE_TRY(write_file_atomically(folder / file_of_replaced(each.executable), each.text));
  return {};
}

Status BuildBench::check(ProgramBuild& build, const trial::CompiledModule& compiled) {
  if (!compiled) {
    build.module.clear();
    build.fail(
        Unusable::kDoesNotCompile,
        "does not compile: " + context_->programs->facts().reason_in(compiled.error().message));
    build.may_differ = provider::may_differ_next_time(compiled.error().kind);
    return {};
  }
  const std::string code = content_hash(*compiled);
  if (const ProgramBuild* same = with_code(code); same != nullptr) {
    build.module.clear();
    build.fail(Unusable::kCopy, fmt::format("unchanged (same module as '{}')", same->label));
    build.same_as = same->id();
    return {};
  }
  build.code = code;
  HONE_TRY(write_file_atomically(build.module, *compiled));
  if (builds_.empty()) {
    const Status expected = expect(build);
    expected_by_ = build.id();
    if (expected || expected.error().kind != ErrorKind::kFailure) return expected;
    build.fail(Unusable::kDoesNotRun, "does not run: " + expected.error().message);
    return {};
  }
  if (const auto right = right_.find(code); right != right_.end() && !build.repairs) {
    build.differences = right->second;
    return {};
  }
  Result<std::vector<std::vector<problem::Array>>> outputs = outputs_of(build);
  HONE_TRY(all_but_failure(outputs));
  if (!outputs) {
    build.fail(Unusable::kDoesNotRun, "does not run: " + outputs.error().message);
    build.may_differ = true;
  } else if (build.repairs) {
    HONE_TRY(note_differences(build, outputs->front()));
    HONE_TRY(say_what_is_repaired(build, outputs->front()));
    for (std::size_t i = 0; i < checked_.size(); ++i) {
      checked_[i].expected = std::move((*outputs)[i]);
      checked_[i].moves.reset();
    }
    expected_by_ = build.id();
    right_.clear();
  } else {
    HONE_TRY(compare_outputs(build, *outputs));
    if (build.usable()) right_[code] = build.differences;
  }
  return {};
}

RunOnFiles BuildBench::run_on_files(const ProgramBuild& build) const {
  return [this, of = call(build)](const std::vector<std::filesystem::path>& inputs) {
    provider::ProgramCall anew = of;
    anew.inputs = inputs;
    // With a single set of arguments a kernel that writes nothing would pass: its memory may hold
    // what another build computed for the same ones.
    if (calls_ && checked_.size() != 1) return calls_(anew, function_.outputs.size());
    return context_->programs->runtime().run(anew, function_.outputs.size());
  };
}

Result<std::vector<std::vector<problem::Array>>> BuildBench::outputs_of(
    const ProgramBuild& build) const {
  const RunOnFiles run = run_on_files(build);
  std::vector<std::vector<problem::Array>> outputs;
  for (const CheckedSet& set : checked_) {
    HONE_ASSIGN(outputs.emplace_back(), run(set.inputs));
  }
  return outputs;
}

Status BuildBench::expect(const ProgramBuild& build) {
  const Stopwatch watch(context_->clock);
  HONE_ASSIGN(std::vector<problem::Array> outputs,
              context_->programs->runtime().run(call(build), function_.outputs.size()));
  Deadline& deadline = context_->state->deadline;
  deadline.called(watch.seconds());
  // On a GPU a first call opens the device and assembles the kernels, however short a call is.
  const bool may_be_loading = watch.seconds() > plan::kMayBeLoadingSeconds &&
                              (calls_ || watch.seconds() <= plan::kSlowCallSeconds);
  if (may_be_loading && !deadline.knows_call_again()) {
    HONE_ASSIGN(const auto rounds, time_rounds(context_->programs->runtime(), {call(build)},
                                               {1, sample_seconds(), 1}, context_->observer));
    deadline.called_again(rounds.front().front());
  }
  if (context_->options.budget_seconds < deadline.sufficient())
    context_->note_once(
        "the budget is small for this program, which takes {:.0f} s to compile and {:.2g} s to "
        "call: --budget {:.0f}s leaves time for flags, dispatches and proof",
        deadline.compile(), deadline.call(), deadline.sufficient());
  HONE_ASSIGN(CheckedInputs found,
              inputs_that_tell(context_->options.inputs, {inputs_, std::move(outputs)}, folder_,
                               context_->options.seed, run_on_files(build)));
  checked_ = std::move(found.sets);
  if (deadline.calls(1, 0) > plan::kSlowCallSeconds) checked_.resize(1);
  context_->state->unchecked_outputs = found.says_nothing;
  if (!found.says_nothing.empty())
    context_->note_once(
        "flags cannot be checked by the program's outputs ({}): each dispatch is "
        "verified by itself instead",
        found.says_nothing);
  else if (found.redrawn)
    context_->note_once(
        "outputs say nothing on the first inputs (they have one value, or do not change): they are "
        "compared on others, larger or smaller");
  return {};
}

Result<std::optional<OutputMoves>> BuildBench::moves_of_set(CheckedSet& set) {
  if (!set.moves) {
    HONE_ASSIGN(set.moves, moves_of(set.inputs, set.expected, folder_, context_->options.seed,
                                    run_on_files(*find(expected_by_))));
  }
  return *set.moves;
}

// Whether the program in f32, if it was asked, gives each output that is judged wrong, and not the
// expected one: the default is then far off, and other code is right without its mistakes or
// roundings. Numbers other than reals are exact.
bool BuildBench::is_as_in_f32(const std::vector<JudgedOutput>& judged,
                              const std::vector<problem::Array>& outputs,
                              const CheckedSet& set) const {
  if (!set.wide || set.wide->size() != outputs.size()) return false;
  double largest = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (judged[i].comparison.right) continue;
    if (!problem::is_float(outputs[i].type.element)) return false;
    const double own = error_by_wide(set.expected[i], (*set.wide)[i]);
    if (own <= plan::kMostErrorOfDefault ||
        !(error_by_wide(outputs[i], (*set.wide)[i]) <= plan::kMostErrorOfRepair))
      return false;
    largest = std::max(largest, own);
  }
  context_->note_once(
      "the default's outputs are off by {:.2g} of those of the program in f32, and others are not: "
      "the compiler's own code may be wrong, which hone verify tells",
      largest);
  return true;
}

Status BuildBench::compare_outputs(ProgramBuild& build,
                                   const std::vector<std::vector<problem::Array>>& outputs) {
  for (std::size_t i = 0; i < checked_.size() && build.usable(); ++i) {
    CheckedSet& set = checked_[i];
    OutputWitnesses witnesses{.moves = [&] { return moves_of_set(set); }, .wide = {}};
    if (narrow_ || are_narrow(set.expected)) witnesses.wide = [&] { return in_f32_->outputs(set); };
    HONE_ASSIGN(const std::vector<JudgedOutput> judged,
                judge_outputs(outputs[i], set.expected, witnesses));
    std::string difference = difference_in(judged);
    if (!difference.empty() && !is_as_in_f32(judged, outputs[i], set))
      build.fail(Unusable::kWrong, std::move(difference));
  }
  HONE_TRY(note_differences(build, outputs.front()));
  if (!context_->options.bit_equal || !build.usable()) return {};
  std::string changed = changed_bits(outputs.front(), checked_.front().expected);
  if (changed.empty()) return {};
  build.fail(Unusable::kWrong, std::move(changed));
  build.may_differ = true;  // in a run that asks for less
  return {};
}

Status BuildBench::note_differences(ProgramBuild& build,
                                    const std::vector<problem::Array>& outputs) const {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    HONE_ASSIGN(const auto difference,
                measure::difference_of(outputs[i], checked_.front().expected[i]));
    build.differences.push_back(difference);
  }
  return {};
}

// Checks the repaired program as a whole: correct dispatches are not enough. Some dispatches cannot
// be verified alone, and mistakes that they share with their references stay hidden. The whole
// program by another code generator is an independent witness.
Status BuildBench::say_what_is_repaired(ProgramBuild& build,
                                        const std::vector<problem::Array>& outputs) {
  if (context_->options.traits().runs_on_host) return {};
  const Result<double> error = ask_the_host(outputs);
  HONE_TRY(all_but_failure(error));
  if (error)
    build.repaired_error = *error;
  else
    context_->observer.note("whether the repaired program is right as a whole is not known: " +
                            error.error().message);
  return {};
}

Result<double> BuildBench::error_of_first() {
  HONE_ASSIGN(const std::vector<problem::Array> exact, in_f32_->outputs_of_host(checked_.front()));
  return largest_error(checked_.front().expected, exact);
}

Result<double> BuildBench::ask_the_host(const std::vector<problem::Array>& outputs) {
  HONE_TRY(in_f32_->check_host_can());
  context_->observer.progress({.step = "computing the program on this machine's cores"});
  HONE_ASSIGN(const std::vector<problem::Array> exact, in_f32_->outputs_of_host(checked_.front()));
  for (std::size_t i = 0; i < std::min(exact.size(), outputs.size()); ++i)
    context_->note(
        "by the program computed in f32 on this machine's cores the error of result {} is {:.2g} "
        "of it by default and {:.2g} repaired (root mean square)",
        i, error_by_wide(checked_.front().expected[i], exact[i]),
        error_by_wide(outputs[i], exact[i]));
  return largest_error(outputs, exact);
}

// Prefetches the f32 compile. Among many flag sets, some change a narrow output by more than
// rounding explains, and only the program in f32 tells which.
void BuildBench::compare_in_f32_later(std::size_t builds) {
  if (builds < plan::kManyBuilds || wide_begun_ || checked_.empty() || checked_.front().wide ||
      !are_narrow(checked_.front().expected))
    return;
  wide_begun_ = true;
  in_f32_->prefetch();
}

Status BuildBench::add_each(std::vector<ProgramBuild> wanted) {
  std::vector<ProgramBuild> builds = unknown_of(std::move(wanted));
  const std::size_t at_once = std::max<std::size_t>(
      1, std::min(context_->options.compile_jobs,
                  plan::kCompileBytesAtOnce / std::max<std::size_t>(1, bytes_->size())));
  compare_in_f32_later(builds.size());
  for (std::size_t begin = 0; begin < builds.size(); begin += at_once) {
    const auto from = builds.begin() + static_cast<std::ptrdiff_t>(begin);
    const std::size_t count = std::min(at_once, builds.size() - begin);
    context_->observer.progress(
        {.step = "compiling the whole program", .tried = begin, .planned = builds.size()});
    std::vector<ProgramBuild> some(
        std::make_move_iterator(from),
        std::make_move_iterator(from + static_cast<std::ptrdiff_t>(count)));
    HONE_TRY(add_some(std::move(some)));
  }
  return {};
}

// Returns the builds that the bench does not have yet; one that was set aside counts as new.
std::vector<ProgramBuild> BuildBench::unknown_of(std::vector<ProgramBuild> builds) {
  std::vector<ProgramBuild> unknown;
  std::set<BuildId> ids;
  for (ProgramBuild& build : builds) {
    const BuildId id = build.id();
    const ProgramBuild* const known = find(id);
    if (!ids.insert(id).second || (known != nullptr && known->unusable != Unusable::kSetAside))
      continue;
    std::erase_if(builds_, [&](const ProgramBuild& each) { return each.id() == id; });
    unknown.push_back(std::move(build));
  }
  return unknown;
}

Status BuildBench::add_some(std::vector<ProgramBuild> builds) {
  const Stopwatch watch(context_->clock);
  HONE_ASSIGN(const std::vector<trial::CompiledModule> compiled, compile(builds));
  if (builds_.empty()) context_->state->deadline.compiled(watch.seconds());
  for (std::size_t i = 0; i < builds.size(); ++i) {
    if (compiled[i]) {
      context_->observer.progress({.step = "calling the whole program: " + builds[i].label});
    }
    HONE_TRY(check(builds[i], compiled[i]));
    if (builds_.empty() && !builds[i].usable()) {
      context_->state->default_failure = "as it is, the program " + builds[i].failure;
      return failure("{}", context_->state->default_failure);
    }
    builds_.push_back(std::move(builds[i]));
  }
  return {};
}

Status BuildBench::add(ProgramBuild build) {
  std::vector<ProgramBuild> one;
  one.push_back(std::move(build));
  return add_each(std::move(one));
}

Result<std::string> BuildBench::failure_of(ProgramBuild build, std::string& module) {
  std::vector<ProgramBuild> one;
  one.push_back(std::move(build));
  HONE_ASSIGN(std::vector<trial::CompiledModule> compiled, compile(one));
  HONE_TRY(check(one.front(), compiled.front()));
  if (compiled.front()) module = std::move(*compiled.front());
  return one.front().unusable == Unusable::kCopy ? std::string() : one.front().failure;
}

Status BuildBench::compile_plainly(const BuildId& id) {
  ProgramBuild* const found = find_build(builds_, id);
  if (found == nullptr || !found->shares_frontend_ir()) return {};
  found->plainly = true;
  std::vector<ProgramBuild> plain{*found};
  context_->observer.progress({.step = "compiling what ships as its user will", .planned = 1});
  HONE_ASSIGN(std::vector<trial::CompiledModule> compiled, compile(plain));
  if (compiled.front() && content_hash(*compiled.front()) == found->code) return {};
  plain.front().differences.clear();
  // The repairing build's outputs are known by now: another module must give them too.
  plain.front().repairs = false;
  HONE_TRY(check(plain.front(), compiled.front()));
  plain.front().repairs = found->repairs;
  if (!plain.front().usable())
    return failure("'{}', compiled at once as its user will: {}", found->label,
                   plain.front().failure);
  *found = std::move(plain.front());
  return {};
}

Result<bool> BuildBench::compile_ahead(const ProgramBuild& build) const {
  if (context_->options.traits().compiling_disturbs) return false;
  HONE_ASSIGN(const trial::ProgramToCompile program, to_compile(build));
  return context_->compiler.prefetch_compile(program);
}

Result<bool> BuildBench::compile_plainly_ahead(ProgramBuild build) const {
  if (!build.shares_frontend_ir()) return false;
  build.plainly = true;
  return compile_ahead(build);
}

Status BuildBench::time(int rounds, const std::vector<BuildId>& builds, std::uint64_t seed,
                        double most_seconds) {
  std::vector<ProgramBuild*> usable;
  std::vector<provider::ProgramCall> calls;
  for (ProgramBuild& build : builds_) {
    if (!build.usable() || std::ranges::count(builds, build.id()) == 0) continue;
    build.seconds.clear();
    usable.push_back(&build);
    calls.push_back(call(build));
  }
  ProgramRounds request{static_cast<std::size_t>(rounds), sample_seconds(), seed};
  request.most_seconds = most_seconds;
  request.if_far_apart = plan::kRoundsFarApart;
  request.time = &context_->state->time;
  HONE_ASSIGN(const std::vector<std::vector<double>> times,
              time_rounds(context_->programs->runtime(), calls, request, context_->observer));
  if (times.size() < request.rounds && times.size() != request.if_far_apart)
    context_->note_once(
        "the whole program is timed in {} rounds, not {}: more would take longer than {:.0f} s",
        times.size(), request.rounds, request.most_seconds);
  for (const std::vector<double>& round : times)
    for (std::size_t c = 0; c < usable.size(); ++c) usable[c]->seconds.push_back(round[c]);
  for (ProgramBuild* const build : usable) {
    HONE_ASSIGN(build->against_default,
                measure::compare_paired(builds_.front().seconds, build->seconds));
  }
  return {};
}

double BuildBench::sample_seconds() const {
  const double samples = context_->options.traits().one_batch_tells
                             ? plan::kSamplesWithinBudgetByBatches
                             : plan::kSamplesWithinBudget;
  return std::clamp(context_->options.budget_seconds / samples, plan::kShortestSampleSeconds,
                    trial::kProgramSampleSeconds);
}

Result<std::vector<double>> BuildBench::sample(const std::vector<BuildId>& builds,
                                               std::uint64_t seed) {
  std::vector<provider::ProgramCall> calls;
  for (const BuildId& id : builds) calls.push_back(call(*find(id)));
  HONE_ASSIGN(std::vector<std::vector<double>> times,
              time_rounds(context_->programs->runtime(), calls, {1, sample_seconds(), seed},
                          context_->observer));
  return std::move(times.front());
}

Result<provider::ProgramTimes> BuildBench::kernel_times(const BuildId& id) const {
  const provider::ProgramCall called = call(*find(id));
  return context_->programs->runtime()
      .timers(called.device)
      .kernels(called, trial::kProgramSampleSeconds);
}

void BuildBench::discard(const BuildId& id) {
  std::error_code code;
  if (const ProgramBuild* build = find(id); build != nullptr && !build->module.empty())
    std::filesystem::remove(build->module, code);
}

void BuildBench::set_aside(const BuildId& id, std::string why) {
  discard(id);
  ProgramBuild* const found = find_build(builds_, id);
  if (found == nullptr) return;
  found->fail(Unusable::kSetAside, std::move(why));
  found->code.clear();  // one with the same module is timed for itself
}

Result<std::vector<store::ProgramMeasurement>> BuildBench::rows(std::string_view label) const {
  std::vector<store::ProgramMeasurement> rows;
  const bool repaired = std::ranges::any_of(
      builds_, [](const ProgramBuild& each) { return each.repairs && each.usable(); });
  for (const ProgramBuild& build : builds_) {
    store::ProgramMeasurement row;
    row.program = program_;
    HONE_ASSIGN(row.build, context_->build_with(joined(context_->options.flags, build.flags)));
    row.device = context_->device;
    row.variant = build.label + std::string(label);
    row.spec = build.spec;
    row.verdict = build.failure;
    if (!build.seconds.empty()) {
      row.timing = trial::timing_of(build.seconds);
      row.ratio = build.against_default.ratio;
      row.ratio_low = build.against_default.interval.low;
      row.ratio_high = build.against_default.interval.high;
      row.right = true;
      row.verdict = measure::name_of(build.against_default.verdict);
      if (repaired && &build == &builds_.front()) {
        row.right = false;
        row.verdict = "wrong: see what is repaired";
      }
    } else if (build.unusable == Unusable::kWrong) {
      row.right = false;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

const ProgramBuild* BuildBench::with_code(std::string_view code) const {
  return find_by(builds_, code, &ProgramBuild::code);
}

const ProgramBuild* BuildBench::timed_for(const BuildId& id) const {
  const ProgramBuild* build = find(id);
  if (build != nullptr && build->same_as) build = find(*build->same_as);
  return build != nullptr && build->usable() ? build : nullptr;
}

}  // namespace hone::tune
