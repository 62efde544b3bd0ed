#include "session/proof_record.h"

#include <algorithm>

#include "base/file.h"
#include "base/hash.h"
#include "base/ranges.h"
#include "base/text.h"
#include "output/json_text.h"
#include "plan/policy.h"
#include "provider/iree/compiler/library.h"
#include "session/out_folder.h"

namespace hone::session {
namespace {

namespace fs = std::filesystem;

Result<ProvedFile> proved(const fs::path& file, const fs::path& folder) {
  HONE_ASSIGN(const std::string bytes, read_file(file));
  const fs::path all = fs::absolute(file).lexically_normal();
  const fs::path from = all.lexically_relative(fs::absolute(folder).lexically_normal());
  const bool is_inside = !from.empty() && *from.begin() != "..";
  return ProvedFile{(is_inside ? from : all).string(), content_hash(bytes)};
}

Result<std::vector<ProvedFile>> proved(const std::vector<fs::path>& files, const fs::path& folder) {
  std::vector<ProvedFile> all;
  for (const fs::path& file : files) {
    HONE_ASSIGN(all.emplace_back(), proved(file, folder));
  }
  return all;
}

// Files that the flags of a folder name.
std::vector<ProvedFile> applied_files(const OutFolder& out) {
  std::vector<ProvedFile> files;
  if (!out.spec_path.empty())
    files.push_back({fs::path(out.spec_path).filename().string(), content_hash(out.spec)});
  for (const NamedFiles* const named : {&out.transform_spec, &out.objects})
    for (const auto& [name, bytes] : *named) files.push_back({name, content_hash(bytes)});
  for (const auto& [name, bytes] : out.kernels)
    files.push_back({(fs::path(kKernelsName) / name).string(), content_hash(bytes)});
  return files;
}

// Makes the path at the end of a flag ("--parameters=model=out/model.irpa") absolute, so that the
// proof can be repeated in another folder.
std::string with_absolute_path(const std::string& flag) {
  const std::size_t at = flag.rfind('=');
  std::error_code code;
  if (at == std::string::npos || !fs::exists(flag.substr(at + 1), code)) return flag;
  return flag.substr(0, at + 1) + fs::absolute(flag.substr(at + 1), code).string();
}

// The speed that fresh rounds proved of what ships; none if they proved none.
std::optional<ProvedSpeed> speed_of(const tune::ProgramVerdict& verdict) {
  const bool by_flags = verdict.recommended == tune::Recommended::kFlags;
  const tune::Claim& claim = by_flags ? *verdict.flags : verdict.chosen;
  if (claim.verdict != measure::Verdict::kFaster) return std::nullopt;
  const measure::PairedComparison& rounds = claim.at_sizes.front();
  return ProvedSpeed{1 / rounds.ratio, 1 / rounds.interval.high, 1 / rounds.interval.low,
                     rounds.rounds, plan::kRecommendedInError};
}

}  // namespace

Status write_proof(const SessionOptions& options, const std::string& compiler,
                   const tune::TuningResult& result) {
  if (!result.proof_files) return {};
  const tune::Options& tuning = options.tuning;
  const tune::ProofFiles& files = *result.proof_files;
  const fs::path& folder = tuning.out;
  const device::Place& place = tuning.place();
  ProofRecord proof;
  proof.hone = version();
  proof.compiler = compiler;
  if (const auto installation = iree::find_installation(options.toolchain.iree)) {
    HONE_ASSIGN(const std::string library, read_file(installation->compiler_library));
    proof.compiler_hash = content_hash(library);
  }
  proof.target = options.toolchain.target;
  proof.default_flags = tuning.flags;
  proof.shipped = result.best->label;
  proof.repairs = result.best->repairs;
  proof.speed = speed_of(*result.verdict);
  proof.device = {place.address.kind, !place.address.index, place.facts.name,
                  place.facts.driver, place.facts.target,   place.address.cores.size(),
                  place.host_cpu};
  proof.function = files.function;
  proof.runtime_flags = mapped(tuning.runtime_flags, with_absolute_path);
  proof.seed = tuning.seed;
  HONE_ASSIGN(proof.program, proved(fs::path(tuning.input), folder));
  if (!options.model.empty()) {
    HONE_ASSIGN(proof.model, proved(fs::path(options.model), folder));
  }
  HONE_ASSIGN(const OutFolder out, read_out_folder(folder));
  proof.applied = applied_files(out);
  proof.flags = out.flags;
  HONE_ASSIGN(proof.baseline_module, proved(files.baseline, folder));
  HONE_ASSIGN(proof.shipped_module, proved(files.shipped, folder));
  HONE_ASSIGN(proof.inputs, proved(files.inputs, folder));
  HONE_ASSIGN(proof.references, proved(files.references, folder));
  proof.tolerances = files.tolerances;
  return output::write_json(folder / kProofName, nlohmann::json(proof));
}

Result<ProofRecord> read_proof(const fs::path& folder) {
  std::error_code code;
  const fs::path file = folder / kProofName;
  if (!fs::exists(file, code))
    return input_error(
        "'{0}' has no {1}: it is no folder of hone tune --out, nothing was proved there, or an "
        "older "
        "hone wrote it; run hone tune PROGRAM --out {0} again",
        folder.string(), kProofName);
  HONE_ASSIGN(const std::string text, read_file(file));
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    const int format = exact<int>(json.at("format"));
    if (format != kProofFormat)
      return input_error("'{}' has format {}, and this hone reads {}; run hone tune again",
                         file.string(), format, kProofFormat);
    auto proof = json.get<ProofRecord>();
    if (proof.tolerances.size() != proof.references.size() ||
        proof.references.size() != proof.function.outputs.size() ||
        proof.inputs.size() != proof.function.inputs.size())
      return input_error("'{}' is damaged: its files do not fit its function; run hone tune again",
                         file.string());
    return proof;
  } catch (const nlohmann::json::exception& error) {
    return input_error("'{}' is damaged: {}; run hone tune again", file.string(), error.what());
  }
}

bool is_same_kind(const ProvedDevice& device, const device::Place& place) {
  if (device.kind != place.address.kind || device.name != place.facts.name ||
      device.target != place.facts.target)
    return false;
  if (place.address.index) return true;
  problem::CpuTarget cpu = device.host_cpu;
  cpu.cores = place.host_cpu.cores;  // what this process may use
  return device.threads == place.address.cores.size() && cpu == place.host_cpu;
}

fs::path path_of(const ProvedFile& file, const fs::path& folder) {
  return folder / file.path;  // an absolute one stays
}

std::vector<std::string> changed_files(const std::vector<ProvedFile>& files,
                                       const fs::path& folder) {
  std::vector<std::string> changed;
  for (const ProvedFile& file : files) {
    const auto bytes = read_file(path_of(file, folder));
    if (!bytes || content_hash(*bytes) != file.hash) changed.push_back(file.path);
  }
  return changed;
}

Result<std::vector<std::string>> changed_applied(const ProofRecord& proof, const fs::path& folder) {
  std::vector<std::string> changed = changed_files(proof.applied, folder);
  const Result<OutFolder> out = read_out_folder(folder);
  if (!out && !changed.empty()) return changed;  // it needs a file that is missing
  if (!out) return tl::unexpected(out.error());
  for (const ProvedFile& file : applied_files(*out))
    if (find_by(proof.applied, file.path, &ProvedFile::path) == nullptr)
      changed.push_back(file.path);
  if (out->flags != proof.flags) changed.push_back(kFlagsName);
  return changed;
}

}  // namespace hone::session
