// A whole program computed in f32, the arithmetic of f16 and bf16 included: a witness beside the
// outputs of builds, from the device and from this machine's cores.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tune/program/checked_inputs.h"
#include "tune/services/context.h"

namespace hone::tune {

// Begins to compile the program in f32, for the device and for this machine's cores, if compiling
// disturbs nothing: a repaired program is compared with both.
void prefetch_witnesses(Context& context, const problem::Program& program,
                        const std::string& bytes);

class ProgramInF32 {
 public:
  // `bytes`: of the program's file. `folder` takes modules and inputs, and outlives it.
  ProgramInF32(Context& context, const problem::Program& program,
               std::shared_ptr<const std::string> bytes, problem::Function function,
               std::filesystem::path folder);

  // Returns its results on the device for a set's inputs, computed at the first request and kept in
  // CheckedSet::wide. Empty if that is not possible; a note says why.
  Result<std::vector<problem::Array>> outputs(CheckedSet& set) const;
  // Returns its results by an independent compile for this machine's cores
  // (Options::reference_flags). Failure: that does not compile or run.
  Result<std::vector<problem::Array>> outputs_of_host(const CheckedSet& set) const;
  // Failure: this machine's cores would take too long (plan::kMostHostFlops).
  Status check_host_can() const;

  // Begins to compile it for the device, if compiling disturbs nothing.
  void prefetch() const;

 private:
  // Computes it with these flags on this device. `module`: the compiled file, written if it does
  // not exist.
  Result<std::vector<problem::Array>> outputs_by(const std::vector<std::string>& flags,
                                                 const device::Address& device,
                                                 const CheckedSet& set,
                                                 const std::filesystem::path& module) const;

  Context* context_;
  std::string path_;
  std::shared_ptr<const std::string> bytes_;
  problem::Function function_;
  double flops_;  // of a call
  std::filesystem::path folder_;
};

}  // namespace hone::tune
