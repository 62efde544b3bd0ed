#include "bench/recorded.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/file.h"
#include "problem/dispatch.h"
#include "provider/iree/iree_provider.h"
#include "provider/triton/triton_provider.h"

namespace hone::bench {
namespace {

Result<std::unique_ptr<provider::Provider>> provider_of(const nlohmann::json& header) {
  const nlohmann::json& target = header.at("target");
  if (header.at("provider") == "iree") {
    // Stating a space needs no compiler.
    if (target.is_object())
      return std::make_unique<iree::CpuIreeProvider>(iree::Installation{},
                                                     target.get<problem::CpuTarget>());
    HONE_ASSIGN(problem::GpuTarget gpu, problem::gpu_target(target.get<std::string>()));
    return std::make_unique<iree::GpuIreeProvider>(iree::Installation{}, std::move(gpu));
  }
  if (header.at("provider") != "triton")
    return input_error("the provider is '{}'; known: iree, triton", header.at("provider").dump());
  HONE_ASSIGN(triton::GemmDevice device, triton::gemm_device(target.get<std::string>()));
  const std::string kind = header.value("space", "own");
  return std::make_unique<triton::TritonProvider>(
      std::move(device), kind == "tune_gemm"      ? triton::SpaceKind::kTuneGemm
                         : kind == "tune_gemm_v2" ? triton::SpaceKind::kTuneGemmV2
                                                  : triton::SpaceKind::kOwn);
}

// In the space's order of knobs, whatever the file's is.
Result<space::Configuration> configuration_from(const space::Space& space,
                                                const std::vector<std::string>& knobs,
                                                const nlohmann::json& values) {
  if (values.size() != knobs.size())
    return input_error("a row has {} values for {} knobs", values.size(), knobs.size());
  space::Configuration configuration;
  configuration.values.resize(space.knobs().size());
  if (knobs.size() != space.knobs().size())
    return input_error("the file has {} knobs, the space {}", knobs.size(), space.knobs().size());
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    HONE_ASSIGN(const std::size_t index, space.knob_index(knobs[i]));
    configuration.values[index] = values.at(i).get<space::Value>();
  }
  if (!space.is_legal(configuration))
    return input_error("{} is not in the space: made by another version of hone?", values.dump());
  return configuration;
}

Result<Recorded> read(std::istringstream lines, const std::string& name) {
  std::string line;
  std::getline(lines, line);
  const nlohmann::json header = nlohmann::json::parse(line);
  HONE_ASSIGN(const std::unique_ptr<provider::Provider> provider, provider_of(header));
  nlohmann::json json = header.at("dispatch");
  if (!json.contains("source")) json["source"] = "";
  const auto dispatch = json.get<problem::Dispatch>();
  HONE_ASSIGN(const space::Space stated, provider->space_of(dispatch));
  HONE_ASSIGN(space::Space space, stated.relax(header.value("relax", std::vector<std::string>())));

  Recorded recorded{name, space};
  recorded.noise = header.value("noise", 0.01);
  recorded.prior = provider->prior(dispatch, space);
  const auto knobs = header.at("knobs").get<std::vector<std::string>>();
  recorded.best = INFINITY;
  while (std::getline(lines, line)) {
    if (line.empty()) continue;
    const nlohmann::json row = nlohmann::json::parse(line);
    HONE_ASSIGN(space::Configuration configuration, configuration_from(space, knobs, row.at(0)));
    std::optional<double> score;
    if (row.at(1).is_number()) score = row.at(1).get<double>();
    if (score) recorded.best = std::min(recorded.best, *score);
    recorded.scores.emplace(std::move(configuration), score);
  }
  if (recorded.best == INFINITY) return input_error("there is no measurement in it");
  recorded.whole = space.count().exact && space.count().value == recorded.scores.size();
  if (recorded.whole) return recorded;
  std::vector<space::Configuration> all;
  for (const auto& [configuration, score] : recorded.scores) all.push_back(configuration);
  HONE_ASSIGN(recorded.space, only(space, all));
  return recorded;
}

}  // namespace

Result<space::Space> only(const space::Space& space,
                          const std::vector<space::Configuration>& configurations) {
  space::SpaceBuilder builder;
  // Beginnings of the configurations, as numbers in mixed radix: one table for each length prunes
  // the enumeration at once, where one of whole configurations would be looked at last.
  space::Expression beginning = 0;
  std::vector<space::Value> numbers(configurations.size(), 0);
  for (std::size_t knob = 0; knob < space.knobs().size(); ++knob) {
    std::set<space::Value> values;
    for (const space::Configuration& each : configurations) values.insert(each.values[knob]);
    const std::vector<space::Value> domain(values.begin(), values.end());
    std::vector<space::Value> positions(domain.size());
    for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<space::Value>(i);
    const space::Value radix = static_cast<space::Value>(domain.size());
    const space::Knob& stated = space.knobs()[knob];
    const space::Expression variable = builder.knob(stated.name, stated.description, domain);
    beginning = beginning * radix + space::lookup(variable, domain, positions);
    std::set<space::Value> known;
    for (std::size_t i = 0; i < configurations.size(); ++i) {
      const auto place =
          std::lower_bound(domain.begin(), domain.end(), configurations[i].values[knob]);
      if (__builtin_mul_overflow(numbers[i], radix, &numbers[i]))
        return input_error("the space has too many knobs for a table of its configurations");
      numbers[i] += place - domain.begin();
      known.insert(numbers[i]);
    }
    std::vector<space::Value> keys(known.begin(), known.end());
    std::vector<space::Value> ones(keys.size(), 1);
    builder.require("measured", "only what was measured is in the space",
                    space::lookup(beginning, std::move(keys), std::move(ones)) == 1);
  }
  return builder.build();
}

Result<Recorded> parse_recorded(std::string_view text, const std::string& name) {
  try {
    Result<Recorded> recorded = read(std::istringstream(std::string(text)), name);
    if (!recorded) return input_error("{}: {}", name, recorded.error().message);
    return recorded;
  } catch (const nlohmann::json::exception& error) {
    return input_error("{}: {}", name, error.what());
  }
}

Result<Recorded> read_recorded(const std::filesystem::path& file) {
  HONE_ASSIGN(const std::string text, read_file(file));
  return parse_recorded(text, file.stem().string());
}

}  // namespace hone::bench
