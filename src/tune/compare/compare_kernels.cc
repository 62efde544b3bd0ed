#include <utility>

#include "base/file.h"
#include "base/ranges.h"
#include "measure/reference.h"
#include "tune/compare/compare.h"
#include "tune/compare/paired_kernels.h"
#include "tune/compare/stored_choices.h"
#include "tune/services/load_program.h"
#include "tune/services/select_dispatches.h"

namespace hone::tune {
namespace {

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
      compile_ways(compiler, {problem::fingerprint(*chosen), chosen->source, context.options.flags},
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
  HONE_ASSIGN(std::vector<provider::Artifact> a,
              compile_ways(compiler, {key + "#a", dispatch.source, sides.a_flags},
                           {{dispatch.name + " (A)"}}));
  HONE_ASSIGN(std::vector<provider::Artifact> b,
              compile_ways(compiler, {key + "#b", dispatch.source, sides.b_flags},
                           {{dispatch.name + " (B)"}}));
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

}  // namespace hone::tune
