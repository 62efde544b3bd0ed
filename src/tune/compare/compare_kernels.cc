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
    HONE_ASSIGN(kernels.reference,
                independent_reference(context, compiler, program, bytes, *chosen));
  }
  ComparedPair pair;
  pair.what = chosen->name;
  pair.a = a;
  pair.b = b;
  HONE_TRY(compare_kernels(context, kernels, context.options.statistics, pair));
  return pair;
}

}  // namespace hone::tune
