// IREE as a Provider for a CPU or a GPU: spaces, tuning specs, IREE's runtime tools.
#pragma once

#include "problem/target.h"
#include "provider/iree/compiler/attributes.h"
#include "provider/iree/compiler/library.h"
#include "provider/program_provider.h"

namespace hone::iree {

class IreeProvider final : public provider::ProgramProvider {
 public:
  // `audited`: the name of one of hone's hard rules. Spaces then hold the configurations that break
  // this rule alone (cpu/space_parts.h, gpu/space.h). Empty: none.
  IreeProvider(Installation installation, problem::CpuTarget target, std::string audited = {})
      : installation_(std::move(installation)),
        target_(std::move(target)),
        audited_(std::move(audited)) {}
  IreeProvider(Installation installation, problem::GpuTarget target, std::string audited = {})
      : installation_(std::move(installation)),
        gpu_(std::move(target)),
        audited_(std::move(audited)) {}

  std::string_view name() const override { return "iree"; }
  std::string_view constraint_set() const override { return gpu_ ? "gpu" : "llvm-cpu"; }
  bool compiler_states_spaces() const override { return gpu_.has_value(); }
  std::string why_no_space(const problem::Dispatch& dispatch) const override;
  Result<space::Space> space_of(const problem::Dispatch& dispatch) const override;
  // Its payloads are Attributes (attributes.h).
  Result<provider::Payload> payload_of(const problem::Dispatch& dispatch, const space::Space& space,
                                       const space::Configuration& configuration) const override;
  // cpu/model.h on a CPU; nothing on a GPU.
  std::function<double(const space::Configuration&)> prior(
      const problem::Dispatch& dispatch, const space::Space& space) const override;
  // Lower bound for contractions, convolutions and attention of 16-bit floats on CUDA; 0 for all
  // else. IREE computes these with mma.sync, so the bound is the measured peak of that instruction.
  double least_seconds(const problem::Dispatch& dispatch, const device::Peak& peak) const override;
  // "f32, NV_MMA_SYNC_F32_16x8x16_F16, reduction = [0, 0, 2]", as IREE's IR has it; empty for
  // attention.
  std::string summation(const problem::Dispatch& dispatch,
                        const std::optional<provider::Payload>& payload) const override;
  Result<std::string> spec(const std::vector<provider::SpecEntry>& entries) const override;
  bool same_spec_class(const problem::Operation& a, const problem::Operation& b) const override;
  std::string why_no_entry(const problem::Dispatch& dispatch) const override;
  // Ignores knobs from which the compiler makes its attributes: no spec contains them.
  bool same_in_spec(const provider::Payload& a, const provider::Payload& b) const override;
  Result<provider::Payload> as_compiled(const provider::Payload& payload,
                                        const provider::Artifact& artifact) const override;
  // "lowering_config", "translation_info" and, for a root with parts, "decomposition_config".
  Result<std::vector<provider::NamedText>> texts_in_ir(
      const provider::Payload& configured) const override;
  provider::Payload default_of(const problem::Dispatch& dispatch) const override;
  std::string spec_flag(const std::filesystem::path& file) const override;
  // Adds a pass that reads the spec before dispatches are compiled in parallel. Without it
  // iree-compile may wait for itself for ever (docs/status.md).
  std::optional<std::filesystem::path> take_spec(std::vector<std::string>& flags) const override;
  std::vector<std::string> with_spec(std::vector<std::string> flags,
                                     const std::filesystem::path& file) const override;
  Result<provider::ReplacedExecutable> replaced(const problem::Dispatch& dispatch,
                                                const std::string& code,
                                                const problem::Launch& launch) const override;
  Result<provider::ReplacingKernel> read_replaced(const std::string& text) const override;
  std::string launch_of(const problem::Dispatch& dispatch) const override;
  std::vector<std::string> with_replaced(std::vector<std::string> flags,
                                         const std::filesystem::path& folder) const override;
  bool is_harmless_flag(std::string_view name) const override;
  std::vector<provider::FlagChoice> flag_choices(
      const problem::Program& program, const std::vector<std::string>& flags,
      const std::filesystem::path& folder) const override;
  bool names_the_device(std::string_view flag) const override;
  Result<std::vector<problem::Function>> functions(
      const std::filesystem::path& module) const override;
  Result<std::vector<provider::UntypedFunction>> untyped_functions(
      const std::filesystem::path& module) const override;
  std::optional<std::string> device_code(std::string_view module,
                                         const std::string& entry) const override;
  Result<std::vector<problem::Array>> run_program(const provider::ProgramCall& call,
                                                  std::size_t results) const override;
  Result<double> time_program(const provider::ProgramCall& call, double seconds) const override;
  provider::ProgramTimer program_timer() const override;
  // True on CPUs only; the runtime's kernel times on GPUs were not tried.
  bool tells_kernel_times(const device::Address& device) const override { return !device.index; }
  Result<provider::ProgramTimes> kernel_times(const provider::ProgramCall& call,
                                              double seconds) const override;
  std::string reason_in(std::string_view message) const override;
  Result<std::string> proof_script(const provider::ProofScript& request) const override;
  Result<double> time_artifact(const provider::ArtifactCall& call, double seconds) const override;

 private:
  Result<Attributes> attributes_of(const problem::Dispatch& dispatch, const space::Space& space,
                                   const space::Configuration& configuration) const;

  Installation installation_;
  // The target to compile for: gpu_ if it is set, else target_.
  problem::CpuTarget target_;
  std::optional<problem::GpuTarget> gpu_;
  std::string audited_;
};

}  // namespace hone::iree
