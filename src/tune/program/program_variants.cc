#include "tune/program/program_variants.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "base/stopwatch.h"
#include "trial/records.h"
#include "tune/program/program_outputs.h"
#include "tune/program/program_rounds.h"
#include "tune/services/input_files.h"

namespace hone::tune {
namespace {

// Six variants that are chosen from, and three that are proved, take about 130 samples: with a
// small budget these are short, lest the proof take several times what the user gave.
constexpr double kSamplesWithinBudget = 400, kShortestSampleSeconds = 0.03;

// Each compile has a copy of the program, and a module about as large comes back.
constexpr std::size_t kBytesAtOnce = std::size_t{1} << 30;
// Of a call in f32 by code that nobody tuned: some tens of seconds on a few cores.
constexpr double kMostFlopsOfHost = 1e12;
// Seconds that the default may take for a call.
constexpr double kMostOfFirstCall = 600;
// Seconds. Outputs of a program that takes longer are compared on one set of inputs, not two.
constexpr double kSlowCall = 5;

}  // namespace

Result<ProgramVariants> ProgramVariants::create(Context& context, const problem::Program& program,
                                                std::string bytes,
                                                const problem::Function& function,
                                                std::filesystem::path folder) {
  ProgramVariants variants(context);
  variants.path_ = program.path;
  variants.bytes_ = std::move(bytes);
  variants.function_ = function;
  for (const problem::Dispatch& dispatch : program.dispatches)
    variants.flops_ += problem::flop_count(dispatch.root) * std::max(1, dispatch.launches_per_call);
  variants.narrow_ = computes_narrow(program);
  variants.folder_ = std::move(folder);
  HONE_ASSIGN(variants.program_, context.store.intern(store::Program{
                                     0, program.hash, program.path,
                                     nlohmann::json{{"function", function.name}}.dump()}));
  HONE_ASSIGN(variants.inputs_, write_argument_files(function, context.options.inputs,
                                                     variants.folder_, context.options.seed));
  return variants;
}

provider::ProgramCall ProgramVariants::call(const Variant& variant) const {
  return {.module = variant.module,
          .function = function_,
          .inputs = inputs_,
          .device = context_->options.place().address,
          .runtime_flags = context_->options.runtime_flags,
          .stop_fd = context_->stop_fd,
          .most_seconds = context_->deadline.most_call().value_or(kMostOfFirstCall)};
}

Result<std::vector<trial::CompiledModule>> ProgramVariants::compile(
    std::vector<Variant>& variants) {
  std::vector<trial::CompiledModule> programs(variants.size());
  std::vector<trial::ProgramToCompile> missing;
  std::vector<std::size_t> places;  // of `missing`
  for (std::size_t i = 0; i < variants.size(); ++i) {
    Variant& variant = variants[i];
    variant.module = folder_ / fmt::format("variant{}.vmfb", made_++);
    programs[i] = std::move(variant.compiled);
    variant.compiled.clear();
    if (!programs[i]->empty()) continue;
    HONE_ASSIGN(missing.emplace_back(), to_compile(variant));
    places.push_back(i);
  }
  if (places.empty()) return programs;
  HONE_ASSIGN(std::vector<trial::CompiledModule> compiled,
              context_->compiler.compile_each(missing));
  for (std::size_t i = 0; i < places.size(); ++i) programs[places[i]] = std::move(compiled[i]);
  return programs;
}

Result<trial::ProgramToCompile> ProgramVariants::to_compile(Variant& variant) {
  std::vector<std::string> all = context_->options.flags;
  all.insert(all.end(), variant.flags.begin(), variant.flags.end());
  trial::ProgramToCompile program{path_, bytes_, {}};
  if (variant.shares_front_half()) program.front_flags = all;
  if (!variant.spec.empty()) {
    if (variant.spec_file.empty()) {
      variant.spec_file = variant.module.string() + "_spec.mlir";
      HONE_TRY(write_file_atomically(variant.spec_file, variant.spec));
    }
    all = context_->programs->with_spec(std::move(all), variant.spec_file);
  }
  if (!variant.replaced.empty()) {
    if (variant.kernels_folder.empty()) {
      variant.kernels_folder = variant.module.string() + "_kernels";
      HONE_TRY(write_replaced(variant.kernels_folder, variant.replaced));
    }
    all = context_->programs->with_replaced(std::move(all), variant.kernels_folder);
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

Status ProgramVariants::check(Variant& variant, const trial::CompiledModule& compiled) {
  if (!compiled) {
    variant.module.clear();
    variant.failure =
        "does not compile: " + context_->programs->reason_in(compiled.error().message);
    variant.may_differ = provider::may_differ_next_time(compiled.error().kind);
    return {};
  }
  const std::string code = content_hash(*compiled);
  if (const Variant* same = with_code(code); same != nullptr) {
    variant.module.clear();
    variant.failure = fmt::format("the same module as '{}'", same->name);
    variant.same_as = same->name;
    return {};
  }
  variant.code = code;
  HONE_TRY(write_file_atomically(variant.module, *compiled));
  if (variants_.empty()) {
    const Status expected = expect(variant);
    if (expected || expected.error().kind != ErrorKind::kFailure) return expected;
    variant.failure = "does not run: " + expected.error().message;
    return {};
  }
  Result<std::vector<std::vector<problem::Array>>> outputs = outputs_of(variant);
  if (!outputs) {
    if (outputs.error().kind != ErrorKind::kFailure)
      return tl::unexpected(std::move(outputs).error());
    variant.failure = "does not run: " + outputs.error().message;
    variant.may_differ = true;
  } else if (variant.repairs) {
    HONE_TRY(note_differences(variant, outputs->front()));
    HONE_TRY(say_what_is_repaired(variant, outputs->front()));
    for (std::size_t i = 0; i < checked_.size(); ++i) {
      checked_[i].expected = std::move((*outputs)[i]);
      checked_[i].moves.reset();
    }
    expected_by_ = variants_.size();
  } else {
    HONE_TRY(compare_outputs(variant, *outputs));
  }
  return {};
}

RunOnFiles ProgramVariants::run_on_files(const Variant& variant) const {
  return [this, of = call(variant)](const std::vector<std::filesystem::path>& inputs) {
    provider::ProgramCall anew = of;
    anew.inputs = inputs;
    return context_->programs->run_program(anew, function_.outputs.size());
  };
}

Result<std::vector<std::vector<problem::Array>>> ProgramVariants::outputs_of(
    const Variant& variant) const {
  const RunOnFiles run = run_on_files(variant);
  std::vector<std::vector<problem::Array>> outputs;
  for (const CheckedSet& set : checked_) {
    HONE_ASSIGN(outputs.emplace_back(), run(set.inputs));
  }
  return outputs;
}

Status ProgramVariants::expect(const Variant& variant) {
  const Stopwatch watch(context_->clock);
  HONE_ASSIGN(std::vector<problem::Array> outputs,
              context_->programs->run_program(call(variant), function_.outputs.size()));
  Deadline& deadline = context_->deadline;
  deadline.called(watch.seconds());
  if (context_->options.budget_seconds < deadline.sufficient())
    context_->note_once(fmt::format(
        "the budget is small for this program, which takes {:.0f} s to compile and {:.2g} s to "
        "call: --budget {:.0f}s leaves time for flags, dispatches and proof",
        deadline.compile(), deadline.call(), deadline.sufficient()));
  const bool is_slow = watch.seconds() > kSlowCall;
  HONE_ASSIGN(CheckedInputs found,
              inputs_that_tell(context_->options.inputs, {inputs_, std::move(outputs)}, folder_,
                               context_->options.seed, run_on_files(variant)));
  checked_ = std::move(found.sets);
  if (is_slow) checked_.resize(1);
  context_->unchecked_outputs = found.says_nothing;
  if (!found.says_nothing.empty())
    context_->note_once(
        fmt::format("flags cannot be checked by the program's outputs ({}): each dispatch is "
                    "verified by itself instead",
                    found.says_nothing));
  else if (found.redrawn)
    context_->note_once(
        "outputs say nothing on the first inputs (they have one value, or do not change): they are "
        "compared on others, larger or smaller");
  return {};
}

Result<std::optional<OutputMoves>> ProgramVariants::moves_of_set(CheckedSet& set) {
  if (!set.moves) {
    HONE_ASSIGN(set.moves, moves_of(set.inputs, set.expected, folder_, context_->options.seed,
                                    run_on_files(variants_.at(expected_by_))));
  }
  return *set.moves;
}

Status ProgramVariants::compare_outputs(Variant& variant,
                                        const std::vector<std::vector<problem::Array>>& outputs) {
  for (std::size_t i = 0; i < checked_.size() && variant.failure.empty(); ++i) {
    CheckedSet& set = checked_[i];
    OutputWitnesses witnesses{.moves = [&] { return moves_of_set(set); }, .wide = {}};
    if (narrow_ || are_narrow(set.expected)) witnesses.wide = [&] { return wide_outputs(set); };
    HONE_ASSIGN(const std::vector<JudgedOutput> judged,
                judge_outputs(outputs[i], set.expected, witnesses));
    variant.failure = difference_in(judged);
  }
  HONE_TRY(note_differences(variant, outputs.front()));
  if (!context_->options.bit_equal || !variant.failure.empty()) return {};
  variant.failure = changed_bits(outputs.front(), checked_.front().expected);
  variant.may_differ = !variant.failure.empty();  // in a run that asks for less
  return {};
}

Status ProgramVariants::note_differences(Variant& variant,
                                         const std::vector<problem::Array>& outputs) const {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    HONE_ASSIGN(const auto difference,
                measure::difference_of(outputs[i], checked_.front().expected[i]));
    variant.differences.push_back(difference);
  }
  return {};
}

// Dispatches that are right one by one need not be all that the program does: some cannot be
// verified by themselves, and what their references have in common with them is not seen. The whole
// program by another code generator is a witness of another kind.
Status ProgramVariants::say_what_is_repaired(Variant& variant,
                                             const std::vector<problem::Array>& outputs) {
  if (context_->options.traits().runs_on_host) return {};
  const Result<double> error = ask_the_host(outputs);
  if (!error && error.error().kind != ErrorKind::kFailure) return tl::unexpected(error.error());
  if (error)
    variant.repaired_error = *error;
  else
    context_->observer.note("whether the repaired program is right as a whole is not known: " +
                            error.error().message);
  return {};
}

Result<double> ProgramVariants::error_of_first() {
  CheckedSet& set = checked_.front();
  HONE_ASSIGN(const std::vector<problem::Array> exact,
              outputs_in_f32(context_->options.reference_flags,
                             device::host_of(context_->options.place().address), set,
                             folder_ / "wide_of_host.vmfb"));
  double largest = 0;
  for (std::size_t i = 0; i < std::min(exact.size(), set.expected.size()); ++i) {
    const double error = error_by_wide(set.expected[i], exact[i]);
    largest = std::isnan(error) ? INFINITY : std::max(largest, error);
  }
  return largest;
}

Result<double> ProgramVariants::ask_the_host(const std::vector<problem::Array>& outputs) {
  const Options& options = context_->options;
  if (flops_ > kMostFlopsOfHost)
    return failure("its {:.3g} operations would take this machine's cores too long", flops_);
  Progress progress;
  progress.step = "computing the program on this machine's cores";
  context_->observer.progress(progress);
  HONE_ASSIGN(const std::vector<problem::Array> exact,
              outputs_in_f32(options.reference_flags, device::host_of(options.place().address),
                             checked_.front(), folder_ / "wide_of_host.vmfb"));
  double largest = 0;
  for (std::size_t i = 0; i < std::min(exact.size(), outputs.size()); ++i) {
    const double error = error_by_wide(outputs[i], exact[i]);
    context_->observer.note(fmt::format(
        "by the program computed in f32 on this machine's cores the error of result {} is {:.2g} "
        "of it by default and {:.2g} repaired (root mean square)",
        i, error_by_wide(checked_.front().expected[i], exact[i]), error));
    // What is no number is as wrong as can be.
    largest = std::isnan(error) ? INFINITY : std::max(largest, error);
  }
  return largest;
}

Result<std::vector<problem::Array>> ProgramVariants::wide_outputs(CheckedSet& set) {
  if (set.wide) return *set.wide;
  set.wide.emplace();
  auto outputs = outputs_in_f32(context_->options.flags, context_->options.place().address, set,
                                folder_ / "wide.vmfb");
  if (outputs)
    set.wide = std::move(*outputs);
  else if (outputs.error().kind != ErrorKind::kFailure)
    return tl::unexpected(std::move(outputs).error());
  else
    context_->note_once("outputs are compared within a fixed tolerance: " +
                        outputs.error().message);
  return *set.wide;
}

Result<std::vector<problem::Array>> ProgramVariants::outputs_in_f32(
    const std::vector<std::string>& flags, const device::Address& device, const CheckedSet& set,
    const std::filesystem::path& module) {
  if (!std::filesystem::exists(module)) {
    HONE_ASSIGN(const trial::CompiledModule compiled,
                context_->compiler.compile_program_in_f32(path_, bytes_, flags));
    if (!compiled)
      return failure("in f32 the program does not compile: {}", compiled.error().message);
    HONE_TRY(write_file_atomically(module, *compiled));
  }
  provider::ProgramCall call{.module = module,
                             .function = function_,
                             .inputs = {},
                             .device = device,
                             .runtime_flags = context_->options.runtime_flags,
                             .stop_fd = context_->stop_fd,
                             .most_seconds = std::max(1.0, context_->deadline.to_end())};
  HONE_ASSIGN(call, widened_call(std::move(call), set.inputs, folder_));
  Result<std::vector<problem::Array>> outputs =
      context_->programs->run_program(call, function_.outputs.size());
  if (!outputs && outputs.error().kind != ErrorKind::kInterrupted)
    return failure("in f32 the program does not run: {}", outputs.error().message);
  return outputs;
}

// Of many sets of flags some change a narrow output by more than rounding explains, and only the
// program in f32 tells which: it is compiled beside them.
void ProgramVariants::compare_in_f32_later(std::size_t variants) {
  constexpr std::size_t kMany = 4;
  if (variants < kMany || wide_begun_ || checked_.empty() || checked_.front().wide ||
      !are_narrow(checked_.front().expected) || context_->options.traits().compiling_disturbs)
    return;
  wide_begun_ = true;
  context_->compiler.compile_in_f32_ahead({path_, bytes_, context_->options.flags});
}

Status ProgramVariants::add_each(std::vector<Variant> variants) {
  const std::size_t at_once =
      std::max<std::size_t>(1, std::min(context_->options.compile_jobs,
                                        kBytesAtOnce / std::max<std::size_t>(1, bytes_.size())));
  compare_in_f32_later(variants.size());
  for (std::size_t begin = 0; begin < variants.size(); begin += at_once) {
    const auto from = variants.begin() + static_cast<std::ptrdiff_t>(begin);
    const std::size_t count = std::min(at_once, variants.size() - begin);
    Progress progress;
    progress.step = "compiling the whole program";
    progress.tried = begin;
    progress.planned = variants.size();
    context_->observer.progress(progress);
    std::vector<Variant> some(std::make_move_iterator(from),
                              std::make_move_iterator(from + static_cast<std::ptrdiff_t>(count)));
    HONE_TRY(add_some(std::move(some)));
  }
  return {};
}

Status ProgramVariants::add_some(std::vector<Variant> variants) {
  const Stopwatch watch(context_->clock);
  HONE_ASSIGN(const std::vector<trial::CompiledModule> compiled, compile(variants));
  if (variants_.empty()) context_->deadline.compiled(watch.seconds());
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (compiled[i]) {
      Progress progress;
      progress.step = "calling the whole program: " + variants[i].name;
      context_->observer.progress(progress);
    }
    HONE_TRY(check(variants[i], compiled[i]));
    if (variants_.empty() && !variants[i].usable()) {
      context_->default_failure = "as it is, the program " + variants[i].failure;
      return failure("{}", context_->default_failure);
    }
    variants_.push_back(std::move(variants[i]));
  }
  return {};
}

Status ProgramVariants::add(Variant variant) {
  std::vector<Variant> one;
  one.push_back(std::move(variant));
  return add_each(std::move(one));
}

Result<std::string> ProgramVariants::failure_of(Variant variant) {
  std::vector<Variant> one;
  one.push_back(std::move(variant));
  HONE_ASSIGN(const std::vector<trial::CompiledModule> compiled, compile(one));
  HONE_TRY(check(one.front(), compiled.front()));
  return one.front().same_as.empty() ? one.front().failure : std::string();
}

Status ProgramVariants::compile_plainly(std::string_view name) {
  const auto found = std::ranges::find(variants_, name, &Variant::name);
  if (found == variants_.end() || !found->shares_front_half()) return {};
  found->plainly = true;
  std::vector<Variant> plain{*found};
  Progress progress;
  progress.step = "compiling what ships as its user will";
  progress.planned = 1;
  context_->observer.progress(progress);
  HONE_ASSIGN(std::vector<trial::CompiledModule> compiled, compile(plain));
  if (compiled.front() && content_hash(*compiled.front()) == found->code) return {};
  plain.front().differences.clear();
  // Its outputs are known by now: another module must give them too.
  plain.front().repairs = false;
  HONE_TRY(check(plain.front(), compiled.front()));
  plain.front().repairs = found->repairs;
  if (!plain.front().usable())
    return failure("'{}', compiled at once as its user will: {}", name, plain.front().failure);
  *found = std::move(plain.front());
  return {};
}

Status ProgramVariants::compile_plainly_ahead(std::string_view name) {
  if (context_->options.traits().compiling_disturbs) return {};
  const auto found = std::ranges::find(variants_, name, &Variant::name);
  if (found == variants_.end() || !found->usable() || !found->shares_front_half()) return {};
  found->plainly = true;
  Result<trial::ProgramToCompile> program = to_compile(*found);
  found->plainly = false;
  if (!program) return tl::unexpected(std::move(program).error());
  context_->compiler.compile_ahead(*program);
  return {};
}

Status ProgramVariants::time(int rounds, const std::vector<std::string>& names, std::uint64_t seed,
                             double most_seconds) {
  std::vector<std::size_t> usable;
  std::vector<provider::ProgramCall> calls;
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    if (!variants_[i].usable() ||
        std::find(names.begin(), names.end(), variants_[i].name) == names.end())
      continue;
    variants_[i].seconds.clear();
    usable.push_back(i);
    calls.push_back(call(variants_[i]));
  }
  ProgramRounds request{static_cast<std::size_t>(rounds), sample_seconds(), seed};
  request.most_seconds = most_seconds;
  HONE_ASSIGN(const std::vector<std::vector<double>> times,
              time_rounds(*context_->programs, calls, request, context_->observer));
  if (times.size() < request.rounds)
    context_->note_once(fmt::format(
        "the whole program is timed in {} rounds, not {}: more would take longer than {:.0f} s",
        times.size(), request.rounds, request.most_seconds));
  for (const std::vector<double>& round : times)
    for (std::size_t c = 0; c < usable.size(); ++c)
      variants_[usable[c]].seconds.push_back(round[c]);
  for (const std::size_t timed : usable) {
    Variant& variant = variants_[timed];
    HONE_ASSIGN(variant.against_default,
                measure::compare_paired(variants_.front().seconds, variant.seconds));
  }
  return {};
}

double ProgramVariants::sample_seconds() const {
  return std::clamp(context_->options.budget_seconds / kSamplesWithinBudget, kShortestSampleSeconds,
                    trial::kProgramSampleSeconds);
}

Result<std::vector<double>> ProgramVariants::sample(const std::vector<std::string>& names,
                                                    std::uint64_t seed) {
  std::vector<provider::ProgramCall> calls;
  for (const std::string& name : names) calls.push_back(call(*find(name)));
  HONE_ASSIGN(
      std::vector<std::vector<double>> times,
      time_rounds(*context_->programs, calls, {1, sample_seconds(), seed}, context_->observer));
  return std::move(times.front());
}

Result<provider::ProgramTimes> ProgramVariants::kernel_times(const std::string& name) const {
  return context_->programs->kernel_times(call(*find(name)), trial::kProgramSampleSeconds);
}

void ProgramVariants::discard(const std::string& name) {
  std::error_code code;
  if (const Variant* variant = find(name); variant != nullptr && !variant->module.empty())
    std::filesystem::remove(variant->module, code);
}

void ProgramVariants::set_aside(const std::string& name, std::string why) {
  discard(name);
  const auto found = std::ranges::find(variants_, name, &Variant::name);
  if (found == variants_.end()) return;
  found->failure = std::move(why);
  found->code.clear();  // one with the same module is timed for itself
}

Result<std::vector<store::ProgramMeasurement>> ProgramVariants::rows(std::string_view label) const {
  std::vector<store::ProgramMeasurement> rows;
  HONE_ASSIGN(const store::Build base, context_->store.build(context_->build));
  const bool repaired = std::ranges::any_of(
      variants_, [](const Variant& each) { return each.repairs && each.usable(); });
  for (const Variant& variant : variants_) {
    store::Build build = base;
    std::vector<std::string> flags = context_->options.flags;
    flags.insert(flags.end(), variant.flags.begin(), variant.flags.end());
    build.flags = nlohmann::json(flags).dump();
    store::ProgramMeasurement row;
    row.program = program_;
    HONE_ASSIGN(row.build, context_->store.intern(build));
    row.device = context_->device;
    row.variant = variant.name + std::string(label);
    row.spec = variant.spec;
    row.verdict = variant.failure;
    if (!variant.seconds.empty()) {
      row.timing = trial::timing_of(variant.seconds);
      row.ratio = variant.against_default.ratio;
      row.ratio_low = variant.against_default.interval.low;
      row.ratio_high = variant.against_default.interval.high;
      row.right = true;
      row.verdict = measure::name_of(variant.against_default.verdict);
      if (repaired && &variant == &variants_.front()) {
        row.right = false;
        row.verdict = "wrong: see what is repaired";
      }
    } else if (variant.failure.find("wrong") != std::string::npos) {
      row.right = false;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

const Variant* ProgramVariants::with_code(std::string_view code) const {
  const auto found = std::find_if(variants_.begin(), variants_.end(),
                                  [code](const Variant& v) { return v.code == code; });
  return found == variants_.end() ? nullptr : &*found;
}

const Variant* ProgramVariants::find(std::string_view name) const {
  const auto found = std::find_if(variants_.begin(), variants_.end(),
                                  [name](const Variant& v) { return v.name == name; });
  return found == variants_.end() ? nullptr : &*found;
}

const Variant* ProgramVariants::timed_for(std::string_view name) const {
  const Variant* variant = find(name);
  if (variant != nullptr && !variant->same_as.empty()) variant = find(variant->same_as);
  return variant != nullptr && variant->usable() ? variant : nullptr;
}

}  // namespace hone::tune
