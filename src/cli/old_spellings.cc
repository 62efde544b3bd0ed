#include "cli/old_spellings.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "cli/other_tools.h"

namespace hone::cli {
namespace {

constexpr std::string_view kTune = "tune";
constexpr std::string_view kProfiling = "generate compile profile";

// Flags with equal spellings (-m, --jobs, --compare) are not listed.
constexpr Spelling kSpellings[] = {
    {tool::kTuneGemm, kTune, "-col_a", "--col-a"},
    {tool::kTuneGemm, kTune, "-col_b", "--col-b"},
    {tool::kTuneGemm, kTune, "-dtype_a", "--dtype-a"},
    {tool::kTuneGemm, kTune, "-dtype_b", "--dtype-b"},
    {tool::kTuneGemm, kTune, "-dtype_c", "--dtype-c"},
    {tool::kTuneGemm, kTune, "--gpu_ids", "--gpu-ids"},
    {tool::kTuneGemm, kTune, "--num_threads", "--num-threads"},
    {tool::kTuneGemm, kTune, "--gemm_size_file", "--gemm-size-file"},
    {tool::kTuneGemm, kTune, "--tuning_results_file", "--tuning-results-file"},
    {tool::kTuneGemm, kTune, "--o", "--tuning-results-file"},
    {tool::kTuneGemm, kTune, "--compare_wo_tuning", "--compare-wo-tuning"},
    {tool::kTuneGemm, kTune, "--init_type", "--init-type"},
    {tool::kTuneGemm, kTune, "--rotating_tensor", "--rotating-tensor"},
    {tool::kTuneGemm, kTune, "--icache_flush", "--icache-flush"},
    {tool::kTuneGemm, kTune, "--bias_vector", "--bias-vector"},
    {tool::kTuneGemm, kTune, "--time_breakdown", "--time-breakdown"},
    {tool::kTuneGemm, kTune, "--no_warmup", "--no-warmup"},
    {tool::kModelTuners, kTune, "--devices", "--device"},
    {tool::kModelTuners, kTune, "--num-candidates", "--candidates"},
    {tool::kModelTuners, kTune, "--max-cpu-workers", "--jobs"},
    {tool::kModelTuners, kTune, "--starter-td-spec", "--starter-spec"},
    {tool::kModelTuners, kTune, "--model-tuner-num-dispatch-candidates", "--model-candidates"},
    {tool::kModelTuners, kTune, "--model-tuner-num-model-candidates", "--model-candidates"},
    {tool::kModelTuners, kTune, "--model-benchmark-flags-file", "--runtime-flags-file"},
    {tool::kModelTuners, kTune, "--search-space-shuffle-seed", "--seed"},
    {tool::kDispatchProfiler, kProfiling, "--op-kind", "--operation-kind"},
    {tool::kDispatchProfiler, kProfiling, "--iree-hal-target-backends", "--device"},
    {tool::kDispatchProfiler, kProfiling, "--iree-hal-cuda-llvm-target-arch", "--cuda-arch"},
    {tool::kDispatchProfiler, kProfiling, "--iree-hal-benchmark-dispatch-repeat-count",
     "--batch-size"},
    {tool::kDispatchProfiler, "compile profile", "--num-cpu", "--jobs"},
    {tool::kDispatchProfiler, "profile", "--benchmark", "--profiling-enabled"},
};

bool has_word(std::string_view words, std::string_view word) {
  std::istringstream stream{std::string(words)};
  for (std::string each; stream >> each;)
    if (each == word) return true;
  return false;
}

}  // namespace

std::vector<Spelling> old_spellings(std::string_view tool, std::string_view command) {
  std::vector<Spelling> found;
  std::ranges::copy_if(kSpellings, std::back_inserter(found), [&](const Spelling& each) {
    return each.tool == tool && has_word(each.commands, command);
  });
  return found;
}

std::vector<std::string> with_new_spellings(std::vector<std::string> arguments) {
  if (arguments.empty()) return arguments;
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    const std::string name = argument.substr(0, argument.find('='));
    const auto found = std::ranges::find_if(kSpellings, [&](const Spelling& each) {
      return each.old == name && has_word(each.commands, arguments.front());
    });
    if (found != std::end(kSpellings))
      argument = std::string(found->spelling) + argument.substr(name.size());
  }
  return arguments;
}

}  // namespace hone::cli
