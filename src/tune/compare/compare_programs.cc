#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/ranges.h"
#include "base/text.h"
#include "plan/policy.h"
#include "tune/compare/compare.h"
#include "tune/program/checked_inputs.h"
#include "tune/program/program_calls.h"
#include "tune/program/program_outputs.h"
#include "tune/services/function_choice.h"
#include "tune/services/given_arguments.h"

namespace hone::tune {
namespace {

constexpr std::string_view kNone = "none";

// A side of a comparison of whole programs: a compiled module and all that a call of it needs.
struct ProgramSide {
  std::string label;
  std::filesystem::path module;
  std::vector<problem::Function> known{};  // of the program that it was compiled from
  provider::ProgramCall call{};            // complete()
};

// Gives an untyped function the types of the program's function of that name, or of the given
// arguments.
Result<problem::Function> typed(const CompareContext& context, const ProgramSide& side,
                                const provider::UntypedFunction& function) {
  for (const problem::Function& known : side.known)
    if (known.name == function.name) return known;
  problem::Function found{function.name, {}, std::vector<problem::TensorType>(function.outputs)};
  for (const GivenArgument& given : context.options.inputs)
    if (given.type) found.inputs.push_back(*given.type);
  if (found.inputs.size() == function.inputs) return found;
  return input_error(
      "'{}' does not say which types '{}' takes, as modules of programs from PyTorch and ONNX do "
      "not: give the type of each argument, {} in all (--input 1x3x224x224xf32)",
      side.module.string(), function.name, function.inputs);
}

Result<problem::Function> choose_function(const CompareContext& context, const ProgramSide& side) {
  const std::string module = side.module.string();
  HONE_ASSIGN(const provider::ModuleFunctions exported,
              context.provider.runtime().functions(side.module));
  const auto& [functions, untyped] = exported;
  std::vector<std::string> names = mapped(functions, &problem::Function::name);
  for (const provider::UntypedFunction& function : untyped) names.push_back(function.name);
  const std::string& wanted = context.options.function;
  const auto is_wanted = [&](const std::string& name) {
    return wanted.empty() ? names.size() == 1 : name == wanted;
  };
  for (problem::Function function : functions) {
    if (!is_wanted(function.name)) continue;
    const auto* const known = find_by(side.known, function.name, &problem::Function::name);
    if (known != nullptr) {
      function.ranges = known->ranges;
      function.keeps_state = known->keeps_state;
    }
    return as_called(std::move(function), context.options.inputs);
  }
  for (const provider::UntypedFunction& function : untyped) {
    if (!is_wanted(function.name)) continue;
    HONE_ASSIGN(problem::Function found, typed(context, side, function));
    return as_called(std::move(found), context.options.inputs);
  }
  if (names.empty())
    return input_error("'{}' has no function that takes tensors only: nothing to call", module);
  if (wanted.empty())
    return input_error("'{}' has several functions; say which with --function: {}", module,
                       fmt::join(names, ", "));
  return input_error("'{}' has no function '{}'{}; there are: {}", module, wanted,
                     did_you_mean(wanted, names), fmt::join(names, ", "));
}

// Fills in the function that is called, and writes its arguments into `folder`. An input error when
// there is no function to call, or several and none is named.
Status complete(const CompareContext& context, const std::filesystem::path& folder,
                ProgramSide& side) {
  HONE_ASSIGN(const problem::Function function, choose_function(context, side));
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  HONE_ASSIGN(auto inputs,
              write_argument_files(function, context.options.inputs, folder, context.options.seed));
  side.call = {.module = side.module,
               .function = function,
               .inputs = std::move(inputs),
               .device = context.options.place.address,
               .runtime_flags = context.options.runtime_flags,
               .stop_fd = context.options.stop_fd};
  return {};
}

Result<std::vector<problem::Array>> results_of(const CompareContext& context,
                                               const provider::ProgramCall& call) {
  return context.provider.runtime().run(call, call.function.outputs.size());
}

// Times two complete() sides into `pair`, until a slowdown of CompareOptions::find would be found,
// or up to most_rounds.
Status time_sides(const CompareContext& context, const ProgramSide& a, const ProgramSide& b,
                  ComparedPair& pair) {
  context.machine_state();  // shares are of the time from here on
  const CompareOptions& options = context.options;
  do {
    // Each stage has its own seed, so that its orders are drawn anew.
    HONE_ASSIGN(const auto rounds,
                time_rounds(context.provider.runtime(), {a.call, b.call},
                            {options.rounds, options.seconds, options.seed + pair.a_seconds.size()},
                            context.observer));
    for (const std::vector<double>& round : rounds) {
      pair.a_seconds.push_back(round[0]);
      pair.b_seconds.push_back(round[1]);
    }
    HONE_ASSIGN(pair.result,
                measure::compare_paired(pair.a_seconds, pair.b_seconds, options.statistics));
  } while (pair.a_seconds.size() + options.rounds <= options.most_rounds &&
           measure::needs_more_rounds(pair.result, options.find, options.statistics));
  pair.machine = context.machine_state();
  return {};
}

Result<bool> same_contents(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code code;
  if (std::filesystem::file_size(a, code) != std::filesystem::file_size(b, code)) return false;
  HONE_ASSIGN(const std::string a_bytes, read_file(a));
  HONE_ASSIGN(const std::string b_bytes, read_file(b));
  return a_bytes == b_bytes;
}

// Judges B's `outputs` by A's, `expected`, and puts a difference into `pair`.
using Judge =
    std::function<Status(const ProgramSide& a, const std::vector<problem::Array>& expected,
                         const std::vector<problem::Array>& outputs, ComparedPair& pair)>;

// Judges outputs by how far A's move when its inputs are off by rounding (program_outputs.h).
Judge judge_by_moves(const CompareContext& context, const std::filesystem::path& folder) {
  return [&context, folder](const ProgramSide& a, const std::vector<problem::Array>& expected,
                            const std::vector<problem::Array>& outputs,
                            ComparedPair& pair) -> Status {
    const RunOnFiles run = [&](const std::vector<std::filesystem::path>& inputs) {
      provider::ProgramCall call = a.call;
      call.inputs = inputs;
      return results_of(context, call);
    };
    const OutputWitnesses witnesses{
        .moves =
            [&] { return moves_of(a.call.inputs, expected, folder, context.options.seed, run); },
        .wide = {}};
    HONE_ASSIGN(const std::vector<JudgedOutput> judged,
                judge_outputs(outputs, expected, witnesses));
    const std::string difference = difference_in(judged);
    if (!difference.empty()) pair.failure = "B computes something else: " + difference;
    return {};
  };
}

Result<ComparedPair> compare_sides(const CompareContext& context,
                                   const std::filesystem::path& folder, ProgramSide a,
                                   ProgramSide b, const Judge& judge) {
  HONE_TRY(complete(context, folder / "a", a));
  HONE_TRY(complete(context, folder / "b", b));
  ComparedPair pair;
  pair.what = a.call.function.name;
  pair.a = a.label;
  pair.b = b.label;
  HONE_ASSIGN(const auto expected, results_of(context, a.call));
  HONE_ASSIGN(const auto outputs, results_of(context, b.call));
  const problem::Function &of_a = a.call.function, &of_b = b.call.function;
  if (of_a.inputs == of_b.inputs && of_a.outputs == of_b.outputs)
    HONE_TRY(judge(a, expected, outputs, pair));
  else
    pair.note = "A and B take or give different types: each ran on its own, results not compared";
  HONE_ASSIGN(const bool same, same_contents(a.module, b.module));
  if (same) pair.note = "both are the same module";
  HONE_TRY(time_sides(context, a, b, pair));
  return pair;
}

using Functions = std::vector<problem::Function>;

// Compiles a program into the file `module`. `known`: the program's functions. They are read if the
// module does not give their types and they are not known yet.
Result<ProgramSide> compiled(const CompareContext& context, trial::CompileService& compiler,
                             const CompiledSide& side, const std::filesystem::path& module,
                             Functions& known) {
  HONE_ASSIGN(const auto bytes, compiler.compile_program({side.path, side.bytes, side.flags}));
  if (!bytes)
    return input_error("'{}' does not compile ({}): {}", side.path, side.label,
                       bytes.error().message);
  HONE_TRY(write_file_atomically(module, *bytes));
  ProgramSide made{side.label, module};
  HONE_ASSIGN(const auto found, context.provider.runtime().functions(module));
  if (!found.untyped.empty() && known.empty()) {
    // Uses the comparison's flags: a side's own flags do not change the function.
    HONE_ASSIGN(problem::Program loaded,
                compiler.load_program({side.path, side.bytes, context.options.flags}));
    known = std::move(loaded.functions);
  }
  made.known = known;
  return made;
}

Result<CompiledSide> side_of_spec(const CompareContext& context, const std::string& program,
                                  const std::string& bytes, const std::string& spec) {
  CompiledSide side{spec, program, bytes, context.options.flags};
  if (spec == kNone) return side;
  HONE_TRY(read_file(spec));
  side.flags.push_back(context.provider.specs().flag_of(spec));
  return side;
}

// Returns the results of the program in f32; empty if it does not compile or run.
Result<std::vector<problem::Array>> wide_outputs(const CompareContext& context,
                                                 trial::CompileService& compiler,
                                                 const CompiledSide& side, const ProgramSide& a,
                                                 const std::filesystem::path& folder) {
  HONE_ASSIGN(const auto bytes,
              compiler.compile_program_in_f32({side.path, side.bytes, side.flags}));
  if (!bytes) return std::vector<problem::Array>();
  provider::ProgramCall call = a.call;
  call.module = folder / "wide.vmfb";
  HONE_TRY(write_file_atomically(call.module, *bytes));
  HONE_ASSIGN(call, widened_call(std::move(call), a.call.inputs, folder));
  auto outputs = results_of(context, call);
  if (!outputs && outputs.error().kind == ErrorKind::kFailure) return std::vector<problem::Array>();
  return outputs;
}

// Compares two compiles. `judge_in` makes the judge from their folder and the functions known by
// then.
Result<ComparedPair> compare_compiled(
    const CompareContext& context, trial::CompileService& compiler, const CompiledSide& a,
    const CompiledSide& b,
    const std::function<Judge(const std::filesystem::path& folder, Functions& known)>& judge_in) {
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-compare-"));
  Functions known;
  HONE_ASSIGN(const ProgramSide first,
              compiled(context, compiler, a, folder.path() / "a.vmfb", known));
  HONE_ASSIGN(const ProgramSide second,
              compiled(context, compiler, b, folder.path() / "b.vmfb", known));
  return compare_sides(context, folder.path(), first, second, judge_in(folder.path(), known));
}

// Says why the conversions do not explain B's error, which is beyond its tolerance. Empty if the
// error is at most twice that of the conversions alone.
std::string beside_conversions(const OutputErrors& errors) {
  for (std::size_t i = 0; i < errors.results.size(); ++i) {
    const OutputErrors::OfResult& each = errors.results[i];
    if (each.b <= plan::kErrorTimesTheConversions * each.converted.value_or(0)) continue;
    return fmt::format(
        "its error is {:.2g} of result {} (root mean square), and its conversions alone bring "
        "{:.2g}",
        each.b, i, each.converted.value_or(0));
  }
  return {};
}

}  // namespace

Result<ComparedPair> compare_modules(const CompareContext& context, const std::filesystem::path& a,
                                     const std::filesystem::path& b) {
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-compare-"));
  return compare_sides(context, folder.path(), {a.string(), a}, {b.string(), b},
                       judge_by_moves(context, folder.path()));
}

Result<ComparedPair> compare_specs(const CompareContext& context, trial::CompileService& compiler,
                                   const std::string& program, const std::string& a,
                                   const std::string& b) {
  HONE_ASSIGN(const std::string bytes, read_file(program));
  HONE_ASSIGN(const CompiledSide a_side, side_of_spec(context, program, bytes, a));
  HONE_ASSIGN(const CompiledSide b_side, side_of_spec(context, program, bytes, b));
  return compare_compiled(context, compiler, a_side, b_side,
                          [&](const std::filesystem::path& folder, Functions&) {
                            return judge_by_moves(context, folder);
                          });
}

Result<ComparedPair> compare_compiles(const CompareContext& context,
                                      trial::CompileService& compiler, const CompiledSide& a,
                                      const CompiledSide& b,
                                      const std::optional<CompiledSide>& converted) {
  const auto judge = [&](const std::filesystem::path& folder, Functions& known,
                         const ProgramSide& side, const std::vector<problem::Array>& expected,
                         const std::vector<problem::Array>& outputs, ComparedPair& pair) -> Status {
    std::vector<problem::Array> by_conversions, wide;
    if (converted) {
      HONE_ASSIGN(ProgramSide third,
                  compiled(context, compiler, *converted, folder / "c.vmfb", known));
      HONE_TRY(complete(context, folder / "c", third));
      HONE_ASSIGN(by_conversions, results_of(context, third.call));
    }
    if (are_narrow(expected)) {
      HONE_ASSIGN(wide, wide_outputs(context, compiler, a, side, folder));
    }
    HONE_ASSIGN(pair.errors, output_errors(expected, outputs, wide, by_conversions));
    if (!pair.errors->failure.empty())
      pair.failure = "B computes something else: " + pair.errors->failure;
    if (!pair.errors->note.empty())
      pair.note = "right but for its conversions: " + pair.errors->note;
    return {};
  };
  return compare_compiled(context, compiler, a, b,
                          [&](const std::filesystem::path& folder, Functions& known) -> Judge {
                            return std::bind_front(judge, folder, std::ref(known));
                          });
}

Result<ComparedPair> time_compiles(const CompareContext& context, trial::CompileService& compiler,
                                   const CompiledSide& a, const CompiledSide& b) {
  const Judge none = [](const ProgramSide&, const auto&, const auto&,
                        ComparedPair& pair) -> Status {
    pair.note = "results are not compared";
    return {};
  };
  return compare_compiled(context, compiler, a, b,
                          [&](const std::filesystem::path&, Functions&) { return none; });
}

Result<OutputErrors> output_errors(const std::vector<problem::Array>& a,
                                   const std::vector<problem::Array>& b,
                                   const std::vector<problem::Array>& wide,
                                   const std::vector<problem::Array>& converted) {
  OutputErrors errors;
  HONE_ASSIGN(errors.failure, difference_of_outputs(b, a, wide));
  const bool by_wide = wide.size() == a.size() && are_narrow(a);
  errors.exact = by_wide ? "the program computed in f32" : "A";
  const std::vector<problem::Array>& exact = by_wide ? wide : a;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    OutputErrors::OfResult& each = errors.results.emplace_back();
    each.a = error_by_wide(a[i], exact[i]);
    each.b = error_by_wide(b[i], exact[i]);
    if (i < converted.size()) each.converted = error_by_wide(converted[i], exact[i]);
  }
  if (errors.failure.empty() || converted.size() != exact.size()) return errors;
  const std::string beyond = beside_conversions(errors);
  if (beyond.empty())
    std::swap(errors.note, errors.failure);
  else
    errors.failure += "; " + beyond;
  return errors;
}

}  // namespace hone::tune
