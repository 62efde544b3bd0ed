#include "tune/program/proof_files.h"

#include <cmath>

#include "base/file.h"
#include "plan/policy.h"

namespace hone::tune {
namespace {

namespace fs = std::filesystem;

constexpr char kFolder[] = "proof";

// Another device may round differently: outputs may differ by twice what they differ here, and by
// what the types allow anyway.
measure::Tolerance tolerance_of(const problem::Array& expected,
                                const measure::ArrayDifference& difference) {
  measure::Tolerance tolerance = program_tolerance(expected);
  const double measured = plan::kRunToleranceTimes * difference.largest;
  if (std::isfinite(measured) && measured > tolerance.absolute) {
    tolerance.absolute = measured;
    tolerance.basis = "twice the difference from the default that the proof saw";
  }
  return tolerance;
}

Status copy_file_to(const fs::path& from, const fs::path& to) {
  std::error_code code;
  fs::create_directories(to.parent_path(), code);
  if (!code) fs::copy_file(from, to, fs::copy_options::overwrite_existing, code);
  if (code)
    return environment_error("cannot copy '{}' to '{}': {}", from.string(), to.string(),
                             code.message());
  return {};
}

Result<fs::path> input_of(const fs::path& checked, const std::vector<fs::path>& inputs,
                          std::size_t index, const fs::path& folder) {
  if (index < inputs.size()) {
    HONE_ASSIGN(const std::string bytes, read_file(checked));
    HONE_ASSIGN(const std::string there, read_file(inputs[index]));
    if (bytes == there) return inputs[index];
  }
  const fs::path file = folder / fmt::format("input{}.npy", index);
  HONE_TRY(copy_file_to(checked, file));
  return file;
}

}  // namespace

Result<ProofFiles> write_proof_files(const BuildBench& bench, const VerifiedBuild& best,
                                     const std::vector<fs::path>& inputs, const fs::path& out) {
  const ProgramBuild* const baseline = bench.timed_for(default_build().id());
  const ProgramBuild* const shipped = bench.timed_for(best.id());
  const CheckedSet* const checked = bench.first_checked();
  std::error_code code;
  for (const ProgramBuild* const build : {baseline, shipped})
    if (build == nullptr || !fs::exists(build->module, code))
      return failure("a compiled program of the proof is missing");
  if (checked == nullptr) return failure("no outputs were compared");
  ProofFiles files;
  files.function = bench.function();
  const fs::path folder = out / kFolder;
  files.baseline = folder / "baseline.vmfb";
  files.shipped = folder / "shipped.vmfb";
  HONE_TRY(copy_file_to(baseline->module, files.baseline));
  HONE_TRY(copy_file_to(shipped->module, files.shipped));
  for (std::size_t i = 0; i < checked->inputs.size(); ++i) {
    HONE_ASSIGN(fs::path file, input_of(checked->inputs[i], inputs, i, folder));
    files.inputs.push_back(std::move(file));
  }
  for (std::size_t i = 0; i < checked->expected.size(); ++i) {
    files.references.push_back(folder / fmt::format("reference{}.npy", i));
    HONE_TRY(write_file_atomically(files.references.back(), problem::to_npy(checked->expected[i])));
    files.tolerances.push_back(tolerance_of(
        checked->expected[i],
        i < best.differences.size() ? best.differences[i] : measure::ArrayDifference{}));
  }
  return files;
}

void remove_proof_files(const fs::path& out) {
  std::error_code code;
  fs::remove(out / "proof.json", code);
  fs::remove_all(out / kFolder, code);
}

}  // namespace hone::tune
