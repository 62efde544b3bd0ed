#include "cli/gemm_list.h"

#include "base/hash.h"

namespace hone::cli {

Result<Gemms> read_gemms(const GemmOptions& options, const std::string& input) {
  Gemms gemms;
  HONE_ASSIGN(gemms.kernel, user_kernel(options));
  std::vector<std::string> knobs;
  if (gemms.kernel)
    for (const triton::UserKernel::Knob& knob : gemms.kernel->knobs) knobs.push_back(knob.name);
  HONE_ASSIGN(const std::vector<triton::GemmEntry> entries, gemms_of(options, input, knobs));
  std::string names;
  for (const triton::GemmEntry& entry : entries) {
    problem::Dispatch dispatch = triton::dispatch_of(entry.gemm);
    if (gemms.kernel) dispatch = triton::with_kernel(std::move(dispatch), *gemms.kernel);
    if (!gemms.entries.emplace(dispatch.name, entry).second) continue;  // said twice
    names += dispatch.name + '\n';
    gemms.list.dispatches.push_back(std::move(dispatch));
  }
  gemms.list.path = input.empty() ? "GEMMs of the command line" : input;
  gemms.list.hash = content_hash(names);
  return gemms;
}

std::string place_of(const triton::GemmEntry& entry, const std::string& path) {
  return entry.line > 0 ? fmt::format("{}:{}: ", path, entry.line) : std::string();
}

Status check_fits(const triton::GemmEntry& entry, const std::string& path, const std::string& name,
                  std::int64_t memory_bytes, const triton::GemmDevice& device) {
  const problem::Dispatch dispatch = triton::dispatch_of(entry.gemm);
  std::int64_t bytes = 0;
  for (const problem::Binding& binding : dispatch.bindings) bytes += binding.bytes;
  // What is measured is there twice: over one poison and over another.
  if (2 * bytes > memory_bytes)
    return input_error("{}{} takes {:.1f} GB, and {} has {:.1f} GB", place_of(entry, path),
                       dispatch.name, 2e-9 * static_cast<double>(bytes), name,
                       1e-9 * static_cast<double>(memory_bytes));
  const Status legal = triton::check(entry.gemm, device);
  if (!legal)
    return input_error("{}{}: {}", place_of(entry, path), dispatch.name, legal.error().message);
  return {};
}

Status check_kernel(const triton::UserKernel* kernel, const triton::GemmEntry& entry,
                    const triton::GemmDevice& device) {
  if (kernel != nullptr) HONE_TRY(triton::user_kernel_space(*kernel, entry.gemm, device));
  return {};
}

}  // namespace hone::cli
