#include "provider/triton/triton_provider.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/process.h"
#include "base/python_environments.h"
#include "provider/triton/element_space.h"
#include "provider/triton/gemm.h"
#include "provider/triton/gemm_model.h"
#include "provider/triton/gemm_space.h"
#include "provider/triton/stated_spaces.h"
#include "provider/triton/tune_gemm.h"
#include "space/configuration.h"

namespace hone::triton {
namespace {

namespace fs = std::filesystem;

// Versions whose launches are known: hidden arguments, tensor descriptors (problem/launch.h).
constexpr int kMajor = 3, kOldestMinor = 5, kNewestMinor = 9;
constexpr std::string_view kHowToGet =
    "install it with 'python3 -m pip install triton==3.9.0', or name an interpreter that has it "
    "with --triton or HONE_TRITON";
// Prints the version, or nothing; importing Triton itself would take a second.
constexpr const char* kProbe =
    "import importlib.metadata as m, importlib.util as u\n"
    "print(m.version('triton') if u.find_spec('triton') else '')";

std::optional<TritonInstallation> look_at(const fs::path& place) {
  std::error_code code;
  const fs::path python = fs::is_directory(place, code) ? place / "bin" / "python3" : place;
  if (python.has_parent_path() && !fs::exists(python, code)) return std::nullopt;
  const auto printed = run_process({{python.string(), "-c", kProbe}}, {.seconds = 20});
  if (!printed || !printed->succeeded()) return std::nullopt;
  std::string version = printed->standard_output.text();
  while (!version.empty() && version.back() == '\n') version.pop_back();
  if (version.empty()) return std::nullopt;
  return TritonInstallation{python, version};
}

std::vector<fs::path> usual_places() {
  std::vector<fs::path> places = python_environments();
  places.push_back("python3");
  return places;
}

Result<TritonInstallation> checked(TritonInstallation installation) {
  int major = 0, minor = 0;
  std::sscanf(installation.version.c_str(), "%d.%d", &major, &minor);
  if (major == kMajor && minor >= kOldestMinor && minor <= kNewestMinor) return installation;
  return advised(environment_error("Triton {} of '{}' is not one that hone knows ({}.{} to {}.{})",
                                   installation.version, installation.python.string(), kMajor,
                                   kOldestMinor, kMajor, kNewestMinor),
                 kHowToGet);
}

using problem::Statement;

Result<space::SpaceBuilder> builder_of(const problem::Dispatch& dispatch,
                                       const GemmDevice& device) {
  HONE_ASSIGN(const Statement* const stated, problem::stated(dispatch.statement));
  if (stated->attends()) {
    HONE_ASSIGN(const AttentionShape shape, attention_of(*stated));
    return attention_space_builder(shape, device);
  }
  if (!stated->contracts()) {
    HONE_ASSIGN(const ElementShape shape, elements_of(*stated));
    return element_space_builder(shape, device);
  }
  HONE_ASSIGN(const StatedProduct product, stated_product(*stated));
  HONE_TRY(check(product.gemm, device));
  return contraction_space_builder(product, device);
}

}  // namespace

Result<TritonInstallation> find_installation(const std::string& given) {
  const char* variable = std::getenv("HONE_TRITON");
  const auto named = [](const char* by, const std::string& place) -> Result<TritonInstallation> {
    if (auto found = look_at(place)) return checked(std::move(*found));
    return advised(
        environment_error("{} '{}' is no Python interpreter or virtual environment with Triton", by,
                          place),
        kHowToGet);
  };
  if (!given.empty()) return named("--triton", given);
  if (variable != nullptr && *variable != '\0') return named("HONE_TRITON", variable);
  for (const fs::path& place : usual_places())
    if (auto found = look_at(place)) return checked(std::move(*found));
  return advised(environment_error("no Triton found"), kHowToGet);
}

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

std::vector<std::string> worker_command(const TritonInstallation& installation,
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

std::string ReplacingProvider::why_no_space(const problem::Dispatch& dispatch) const {
  const Result<space::SpaceBuilder> builder = builder_of(dispatch, device_);
  return builder ? std::string() : builder.error().message;
}

Result<space::Space> ReplacingProvider::space_of(const problem::Dispatch& dispatch) const {
  HONE_ASSIGN(const space::SpaceBuilder builder, builder_of(dispatch, device_));
  return builder.build();
}

Result<provider::Payload> ReplacingProvider::payload_of(
    const problem::Dispatch&, const space::Space& space,
    const space::Configuration& configuration) const {
  provider::Payload payload = triton::payload_of(space::values_by_name(space, configuration));
  payload.replacing = name_;
  return payload;
}

std::function<double(const space::Configuration&)> ReplacingProvider::prior(
    const problem::Dispatch& dispatch, const space::Space& space) const {
  const Result<const Statement*> stated = problem::stated(dispatch.statement);
  if (!stated || (*stated)->kind == Statement::Kind::kElementwise) return {};
  if ((*stated)->attends()) {
    const Result<AttentionShape> shape = attention_of(**stated);
    return shape ? attention_prior(*shape, device_, space)
                 : std::function<double(const space::Configuration&)>();
  }
  const Result<StatedProduct> product = stated_product(**stated);
  return product ? contraction_prior(*product, device_, space)
                 : std::function<double(const space::Configuration&)>();
}

std::string ReplacingProvider::summation(const problem::Dispatch& dispatch,
                                         const std::optional<provider::Payload>& payload) const {
  const Result<const Statement*> stated = problem::stated(dispatch.statement);
  if (!payload || !stated) return "";
  const std::map<std::string, std::int64_t> knobs = knobs_in(*payload);
  const auto knob = [&](const char* name) {
    const auto known = knobs.find(name);
    return known == knobs.end() ? std::int64_t{0} : known->second;
  };
  if ((*stated)->kind == Statement::Kind::kElementwise)
    return (*stated)->reduces() ? fmt::format("f32, {} at a time", knob("BLOCK_N")) : "";
  std::string told = fmt::format("f32, {} keys at a time", knob("BLOCK_N"));
  if (!(*stated)->attends()) {
    const Result<StatedProduct> product = stated_product(**stated);
    if (!product) return "";
    told = fmt::format("{}, {} at a time", problem::name_of(accumulator(product->gemm)),
                       knob("BLOCK_K"));
  }
  if (knob("SPLIT_K") > 1) told += fmt::format(", in {} parts", knob("SPLIT_K"));
  if (knobs.contains("PRECISION")) {
    const std::int64_t precision = knob("PRECISION");
    told += precision == kBf16x6   ? ", of six products of bf16"
            : precision == kTf32x3 ? ", of three products of tf32"
                                   : ", without matrix units";
  }
  return told;
}

}  // namespace hone::triton
