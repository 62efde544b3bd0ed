#include "session/external_proof.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "device/cpu/machine_state.h"
#include "output/comparison_report.h"
#include "provider/iree/compiler/transform_specs.h"
#include "session/places.h"
#include "session/runtime_options.h"

namespace hone::session {
namespace {

std::string text_of_errors(const tune::ComparedPair& pair) {
  std::string text;
  const tune::OutputErrors& errors = *pair.errors;
  for (std::size_t i = 0; i < errors.results.size(); ++i) {
    const auto& each = errors.results[i];
    text += fmt::format("{}: error of result {} by {}: A {:.2g}, B {:.2g}", pair.what, i,
                        errors.exact, each.a, each.b);
    if (each.converted) text += fmt::format(", the conversions alone {:.2g}", *each.converted);
    text += " of it (root mean square)\n";
  }
  return text;
}

nlohmann::json json_of_errors(const tune::OutputErrors& errors) {
  nlohmann::json rows = nlohmann::json::array();
  // nlohmann::json writes infinity as null.
  for (const auto& each : errors.results) {
    nlohmann::json row{{"a", each.a}, {"b", each.b}};
    if (each.converted) row["conversions_alone"] = *each.converted;
    rows.push_back(std::move(row));
  }
  return {{"by", errors.exact}, {"results", rows}};
}

// A program's text, and its flags without and with the kernels.
struct Compared {
  std::string path, bytes;
  std::vector<std::string> plain, with;  // flags
};

ReplacedSides sides_of(std::string what, const Compared& compared,
                       const std::string& converted_spec) {
  ReplacedSides sides{what,
                      {"without the kernel", compared.path, compared.bytes, compared.plain},
                      {"with the kernel", compared.path, compared.bytes, compared.with},
                      {},
                      {}};
  if (converted_spec.empty()) return sides;
  std::vector<std::string> flags = compared.plain;
  flags.push_back(std::string(iree::kTransformSpecFlag) + converted_spec);
  sides.converted = {"with the conversions alone", compared.path, compared.bytes, flags};
  return sides;
}

// Returns the builds of the program, then of each operation alone. Writes specs of conversions to
// `folder`.
Result<std::vector<ReplacedSides>> all_sides(const ExternalProofRequest& request,
                                             const InputProgram& program,
                                             const std::vector<PlacedKernel>& placed,
                                             const std::vector<std::string>& with,
                                             const std::filesystem::path& folder) {
  const std::vector<iree::ExternDispatch> dispatches = extern_dispatches(placed, request.target);
  const auto converts = [](const PlacedKernel& each) {
    return std::ranges::any_of(each.borders, &external::Border::converts);
  };
  std::string converted;
  if (std::ranges::any_of(placed, converts)) {
    converted = (folder / "converted_spec.mlir").string();
    HONE_TRY(write_file_atomically(converted, iree::converted_spec_text(dispatches)));
  }
  const std::vector<std::string> plain = compile_flags(request.toolchain);
  std::vector<ReplacedSides> all;
  all.push_back(sides_of("program", {program.path, program.bytes, plain, with}, converted));
  for (std::size_t i = 0; i < placed.size(); ++i) {
    const std::string what = fmt::format("operation {}", i);
    ReplacedSides sides = sides_of(what, {what, iree::program_of(placed[i].operation), plain, with},
                                   converts(placed[i]) ? converted : std::string());
    sides.without.label = placed[i].operation.name + " alone";
    if (!placed[i].borders.empty() || placed[i].launch.zeroed)
      sides.kernel = {"the kernel alone", what + ", the kernel alone",
                      iree::kernel_program_text(dispatches[i], request.target.backend), with};
    all.push_back(std::move(sides));
  }
  return all;
}

// Turns a failure into a row, so that a kernel that faults does not end the other comparisons.
Result<tune::ComparedPair> kept(Result<tune::ComparedPair> pair, const tune::CompiledSide& a,
                                const tune::CompiledSide& b) {
  if (pair || pair.error().kind != ErrorKind::kFailure) return pair;
  tune::ComparedPair failed;
  failed.a = a.label;
  failed.b = b.label;
  failed.failure = pair.error().message;
  return failed;
}

}  // namespace

Result<std::vector<tune::ComparedPair>> price_replacements(const tune::CompareContext& context,
                                                           trial::CompileService& compiler,
                                                           const std::vector<ReplacedSides>& all) {
  std::vector<tune::ComparedPair> pairs;
  for (const ReplacedSides& each : all) {
    HONE_ASSIGN(
        tune::ComparedPair pair,
        kept(tune::compare_compiles(context, compiler, each.without, each.with, each.converted),
             each.without, each.with));
    pair.what = each.what;
    const bool runs = !pair.a_seconds.empty();
    pairs.push_back(std::move(pair));
    if (!each.kernel || !runs) continue;
    HONE_ASSIGN(tune::ComparedPair borders,
                kept(tune::time_compiles(context, compiler, *each.kernel, each.with), *each.kernel,
                     each.with));
    borders.what = each.what + ": borders";
    pairs.push_back(std::move(borders));
  }
  return pairs;
}

bool holds(const Prices& prices) {
  return (prices.emulated || !prices.pairs.front().regressed()) &&
         std::ranges::all_of(prices.pairs, [](const auto& pair) { return pair.failure.empty(); });
}

std::string text_of(const Prices& prices, const measure::ComparisonOptions& statistics,
                    std::size_t width) {
  std::string text =
      text_of(output::ComparisonReport{statistics, prices.machine, prices.pairs}, width);
  for (const tune::ComparedPair& pair : prices.pairs)
    if (pair.errors) text += text_of_errors(pair);
  if (prices.emulated)
    text += "outputs were compared on an emulator; its times say nothing about a GPU\n";
  return text;
}

nlohmann::json json_of(const Prices& prices, const measure::ComparisonOptions& statistics) {
  nlohmann::json document =
      json_of(output::ComparisonReport{statistics, prices.machine, prices.pairs});
  for (std::size_t i = 0; i < prices.pairs.size(); ++i)
    if (prices.pairs[i].errors)
      document["comparisons"][i]["errors"] = json_of_errors(*prices.pairs[i].errors);
  if (prices.emulated) document["emulated"] = true;
  return document;
}

Result<Prices> prove(const ExternalProofRequest& request, const Toolchain& toolchain,
                     const InputProgram& program, const std::vector<PlacedKernel>& placed,
                     const std::vector<std::string>& flags) {
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-proof-"));
  HONE_ASSIGN(const std::vector<ReplacedSides> sides,
              all_sides(request, program, placed, flags, folder.path()));
  tune::CompareOptions compare = request.compare;
  compare.place = request.place;
  compare.flags = compile_flags(request.toolchain);
  compare.stop_fd = toolchain.stop_fd();
  compare.function = request.runtime.function;
  HONE_ASSIGN(compare.inputs, given_arguments(request.runtime));
  HONE_ASSIGN(compare.runtime_flags, flags_with_parameters(request.runtime, request.given, program,
                                                           folder.path(), compare.seed));
  HONE_ASSIGN(const auto provider, make_provider(request.toolchain, toolchain.installation()));
  trial::RunnerService runner(make_runner(toolchain.stop_fd(), toolchain.temporary()));
  output::StatusLine status(request.status);
  Prices prices;
  prices.emulated = request.place.facts.emulated;
  // An emulator shows outputs only, in the first round.
  if (prices.emulated) {
    compare.rounds = compare.most_rounds = measure::fewest_rounds(compare.statistics.alpha);
  } else {
    measure::NoiseOptions noise;
    noise.rounds = compare.rounds;
    noise.comparison = compare.statistics;
    HONE_ASSIGN(prices.machine, tune::check_machine(runner, request.place.address, noise, status));
  }
  HONE_ASSIGN(const std::vector<int> cores, choose_cores(CoreOptions()));
  device::cpu::MachineSampler sampler(cores);
  const auto state = [&sampler] { return sampler.sample_in_detail(); };
  HONE_ASSIGN(prices.pairs, price_replacements({compare, *provider, runner, status, state},
                                               toolchain.compiler(), {sides.front()}));
  if (!prices.emulated) {
    // The program's function and arguments do not apply to the operations' own programs.
    compare.function.clear();
    compare.inputs.clear();
    HONE_ASSIGN(auto operations,
                price_replacements({compare, *provider, runner, status, state},
                                   toolchain.compiler(), {sides.begin() + 1, sides.end()}));
    std::ranges::move(operations, std::back_inserter(prices.pairs));
  }
  status.clear();
  return prices;
}

}  // namespace hone::session
