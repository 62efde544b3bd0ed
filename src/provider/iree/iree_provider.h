// IREE as a Provider for a CPU or a GPU: spaces, tuning specs, IREE's runtime tools.
#pragma once

#include <memory>

#include "problem/target.h"
#include "provider/iree/compiler/library.h"
#include "provider/iree/iree_spec_writer.h"
#include "provider/program_provider.h"

namespace hone::iree {

using Runtime = std::shared_ptr<const provider::ProgramRuntime>;

// IREE for any target. Its payloads are Attributes (compiler/attributes.h).
class IreeProvider : public provider::ProgramProvider {
 public:
  std::string_view name() const override { return "iree"; }
  // "f32, NV_MMA_SYNC_F32_16x8x16_F16, reduction = [0, 0, 2]", as IREE's IR has it; empty for
  // attention.
  std::string summation(const problem::Dispatch& dispatch,
                        const std::optional<provider::Payload>& payload) const override;
  bool names_the_device(std::string_view flag) const override;
  const IreeSpecWriter& specs() const override { return specs_; }
  std::vector<provider::FlagChoice> flag_choices(
      const problem::Program& program, const std::vector<std::string>& flags,
      const std::filesystem::path& folder) const override;
  std::optional<std::string> device_code(std::string_view module,
                                         const std::string& entry) const override;
  const provider::ProgramRuntime& runtime() const override { return *runtime_; }

 protected:
  // `target` and `spec_flag` as IreeSpecWriter's, `vector_bits` as flag_choices()'s. `runtime`:
  // where programs run; null: by the installation's tools.
  IreeProvider(const Installation& installation, std::string target, std::string_view spec_flag,
               int vector_bits, Runtime runtime);

 private:
  Runtime runtime_;
  IreeSpecWriter specs_;
  int vector_bits_;
};

class CpuIreeProvider final : public IreeProvider {
 public:
  // `audited`: the name of one of hone's hard rules. Spaces then hold the configurations that break
  // this rule alone (cpu/space.h). Empty: none.
  CpuIreeProvider(const Installation& installation, problem::CpuTarget target,
                  std::string audited = {}, Runtime runtime = nullptr);

  std::string_view constraint_set() const override { return "llvm-cpu"; }
  std::string why_no_space(const problem::Dispatch& dispatch) const override;
  Result<space::Space> space_of(const problem::Dispatch& dispatch) const override;
  Result<provider::Payload> payload_of(const problem::Dispatch& dispatch, const space::Space& space,
                                       const space::Configuration& configuration) const override;
  // cpu/model.h.
  std::function<double(const space::Configuration&)> prior(
      const problem::Dispatch& dispatch, const space::Space& space) const override;

 private:
  problem::CpuTarget target_;
  std::string audited_;
};

class GpuIreeProvider final : public IreeProvider {
 public:
  // `audited` as CpuIreeProvider's (gpu/space.h).
  GpuIreeProvider(const Installation& installation, problem::GpuTarget target,
                  std::string audited = {}, Runtime runtime = nullptr);

  std::string_view constraint_set() const override { return "gpu"; }
  bool compiler_states_spaces() const override { return true; }
  std::string why_no_space(const problem::Dispatch& dispatch) const override;
  Result<space::Space> space_of(const problem::Dispatch& dispatch) const override;
  Result<provider::Payload> payload_of(const problem::Dispatch& dispatch, const space::Space& space,
                                       const space::Configuration& configuration) const override;
  // Lower bound for contractions, convolutions and attention of 16-bit floats on CUDA; 0 for all
  // else. IREE computes these with mma.sync, so the bound is the measured peak of that instruction.
  double least_seconds(const problem::Dispatch& dispatch, const device::Peak& peak) const override;

 private:
  problem::GpuTarget target_;
  std::string audited_;
};

}  // namespace hone::iree
