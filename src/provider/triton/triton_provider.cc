#include "provider/triton/triton_provider.h"

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "provider/triton/gemm.h"
#include "provider/triton/gemm_model.h"
#include "provider/triton/gemm_space.h"
#include "provider/triton/sources.h"
#include "provider/triton/tune_gemm_space.h"
#include "space/configuration.h"

namespace hone::triton {
namespace {

constexpr const char* kKnobs = "knobs";

}  // namespace

std::string_view TritonProvider::constraint_set() const {
  if (kernel_) return "user's kernel";
  switch (kind_) {
    case SpaceKind::kTuneGemm:
      return "tune_gemm";
    case SpaceKind::kTuneGemmV2:
      return "tune_gemm_v2";
    case SpaceKind::kOwn:
      break;
  }
  return "gemm";
}

Result<space::Space> TritonProvider::space_of(const problem::Dispatch& dispatch) const {
  HONE_ASSIGN(const Gemm gemm, gemm_of(dispatch));
  if (kernel_) return user_kernel_space(*kernel_, gemm, device_);
  switch (kind_) {
    case SpaceKind::kTuneGemm:
      return tune_gemm_space(gemm, {});
    case SpaceKind::kTuneGemmV2:
      return tune_gemm_v2_space(gemm);
    case SpaceKind::kOwn:
      break;
  }
  return gemm_space(gemm, device_);
}

Result<provider::Payload> TritonProvider::payload_of(
    const problem::Dispatch& dispatch, const space::Space& space,
    const space::Configuration& configuration) const {
  HONE_ASSIGN(const Gemm gemm, gemm_of(dispatch));
  return triton::payload_of(kernel_ ? space::values_by_name(space, configuration)
                                    : worker_knobs(gemm, space, configuration));
}

std::function<double(const space::Configuration&)> TritonProvider::prior(
    const problem::Dispatch& dispatch, const space::Space& space) const {
  const Result<Gemm> gemm = gemm_of(dispatch);
  if (!gemm || kernel_) return {};
  return gemm_prior(*gemm, device_, space);
}

std::optional<provider::ShippedForm> TritonProvider::as_shipped(
    const provider::Payload& payload) const {
  if (kernel_ || !payload.json.contains(kKnobs)) return std::nullopt;
  provider::Payload shipped = payload;
  shipped.json[kKnobs]["FIXED"] = 1;
  return provider::ShippedForm{shipped, shipped.json[kKnobs].dump()};
}

provider::Payload payload_of(const std::map<std::string, std::int64_t>& knobs) {
  provider::Payload payload;
  payload.json[kKnobs] = knobs;
  return payload;
}

std::map<std::string, std::int64_t> knobs_in(const provider::Payload& payload) {
  std::map<std::string, std::int64_t> knobs;
  const auto said = payload.json.find(kKnobs);
  if (said == payload.json.end() || !said->is_object()) return knobs;
  for (const auto& [name, value] : said->items())
    if (value.is_number_integer()) knobs[name] = value.get<std::int64_t>();
  return knobs;
}

std::vector<std::string> worker_command(const Installation& installation,
                                        const std::filesystem::path& script) {
  return {installation.python.string(), "-B", script.string()};
}

std::vector<std::string> worker_flags(const GemmDevice& device) {
  return {fmt::format("--target={}:{}", device.backend, device.arch),
          fmt::format("--units={}", device.units), fmt::format("--shared={}", device.shared_bytes)};
}

std::string code_of(const GemmDevice& device, const provider::Payload& payload) {
  if (!payload.json.contains(kKnobs)) return {};
  nlohmann::json read = payload.json.at(kKnobs);
  // The arguments among a user's kernel's knobs are unknown, for it has no structure.
  if (!read.is_object() || !read.contains("STRUCTURE")) return read.dump();
  if (read.value("FIXED", 0) == 0) {
    // A kernel for one part of k lacks the code that adds parts up (structures.py: PARTS).
    read["SPLIT_K"] = read.value("SPLIT_K", 1) > 1;
    for (const char* argument : {"GROUP_M", "WHOLE"}) read.erase(argument);
  }
  if (device.is_cuda())
    for (const char* knob : {"waves_per_eu", "matrix_instr_nonkdim", "kpack"}) read.erase(knob);
  return read.dump();
}

Result<std::filesystem::path> write_sources(const std::filesystem::path& folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code)
    return environment_error("cannot make the folder '{}': {}", folder.string(), code.message());
  for (const EmbeddedFile& file : sources())
    HONE_TRY(write_file_atomically(folder / file.name, std::string(file.text)));
  return folder / "compile_worker.py";
}

}  // namespace hone::triton
