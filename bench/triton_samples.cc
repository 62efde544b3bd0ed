// Random configurations of hone's own space of a GEMM, as the Triton compile worker takes them; run
// through bench/triton_compile_share.py.
//
//   triton_samples N SEED TARGET M N K TYPE C_TYPE LAYOUTS [bias] [tf32] [batch] [oppose=RULE]
// LAYOUTS: 'n' or 't' for A and B stored by rows or by columns. With oppose=RULE of the
// configurations that break that hard rule and keep all others. Prints one JSON object: the GEMM,
// the flags of the worker, the number of configurations, "samples".
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "provider/triton/gemm_space.h"

namespace {

using namespace hone;

Result<nlohmann::ordered_json> samples(const std::vector<std::string>& words) {
  if (words.size() < 9) return input_error("too few arguments");
  HONE_ASSIGN(const triton::GemmDevice device, triton::gemm_device(words[2]));
  triton::Gemm gemm;
  gemm.m = std::atoll(words[3].c_str());
  gemm.n = std::atoll(words[4].c_str());
  gemm.k = std::atoll(words[5].c_str());
  const auto a = problem::element_type_from(words[6]), c = problem::element_type_from(words[7]);
  if (!a || !c) return input_error("'{}' or '{}' is no element type", words[6], words[7]);
  gemm.a = gemm.b = *a;
  gemm.c = *c;
  gemm.a_rows = words[8].at(0) == 'n';
  gemm.b_rows = words[8].at(1) == 'n';
  std::string rule;
  for (std::size_t i = 9; i < words.size(); ++i) {
    if (words[i] == "bias") gemm.bias = gemm.c;
    if (words[i] == "tf32") gemm.tf32 = true;
    if (words[i] == "batch") gemm.batch = 4;
    if (words[i].starts_with("oppose=")) rule = words[i].substr(7);
  }
  HONE_TRY(triton::check(gemm));
  HONE_TRY(triton::check(gemm, device));
  space::SpaceBuilder builder = triton::gemm_space_builder(gemm, device);
  if (!rule.empty() && !builder.oppose(rule)) return input_error("no hard rule '{}'", rule);
  HONE_ASSIGN(const space::Space space, builder.build());
  HONE_ASSIGN(const auto drawn, space.samples(std::strtoull(words[0].c_str(), nullptr, 10),
                                              std::strtoull(words[1].c_str(), nullptr, 10)));
  nlohmann::ordered_json json{
      {"gemm", nlohmann::json(gemm)},
      {"name", triton::name_of(gemm)},
      {"configurations", space.count().value},
      {"flags",
       {fmt::format("--target={}:{}", device.backend, device.arch),
        fmt::format("--units={}", device.units), fmt::format("--shared={}", device.shared_bytes)}}};
  json["samples"] = nlohmann::json::array();
  for (const space::Configuration& each : drawn)
    json["samples"].push_back(triton::worker_knobs(gemm, space, each));
  return json;
}

}  // namespace

int main(int argc, char** argv) {
  const auto json = samples({argv + 1, argv + argc});
  if (!json) {
    std::cerr << json.error().message << "\n";
    return 2;
  }
  std::cout << json->dump() << "\n";
  return 0;
}
