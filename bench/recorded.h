// A dispatch whose configurations were all measured once (or a random part of them), read from a
// file of bench/regret_data.py: what replays of searches look scores up in.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "space/space.h"

namespace hone::bench {

struct Recorded {
  std::string name;
  // Where everything was measured the dispatch's own space, with its neighbours; else the part of
  // it that was.
  space::Space space;
  bool whole = true;
  double noise = 0;  // share by which two measurements of one code differ, as the file states it
  std::function<double(const space::Configuration&)> prior = {};  // of the provider; may be empty
  // Time / the default's; nothing for a configuration that failed or was wrong.
  std::map<space::Configuration, std::optional<double>> scores = {};
  double best = 0;  // of the scores
};

// The first line of the file is an object: "provider" ("iree", "triton"), "space" (of triton:
// "own", "tune_gemm", "tune_gemm_v2"), "target" (problem::CpuTarget, or the GPU's name), "dispatch"
// (problem::Dispatch), "relax", "knobs" (names), "noise"; each further one an array of a
// configuration's values and its score, or the word for its failure. Input errors: another layout,
// a configuration that the space does not have, no score at all.
Result<Recorded> read_recorded(const std::filesystem::path& file);
Result<Recorded> parse_recorded(std::string_view text, const std::string& name);

// The space of exactly `configurations`, with the knobs of `space`. Neighbours are those that
// differ in one knob.
Result<space::Space> only(const space::Space& space,
                          const std::vector<space::Configuration>& configurations);

}  // namespace hone::bench
