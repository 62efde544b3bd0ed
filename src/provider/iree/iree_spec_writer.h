// IREE's tuning specs for one target, files with other compilers' kernels, and the flags that apply
// both.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "problem/target.h"
#include "provider/spec_writer.h"

namespace hone::iree {

// Flags that name a spec. IREE 3.13 ignores the first for CUDA without a word.
inline constexpr std::string_view kSpecFlag = "--iree-codegen-tuning-spec-path=";
inline constexpr std::string_view kCudaSpecFlag = "--iree-codegen-transform-dialect-library=";

// Its payloads are Attributes (compiler/attributes.h).
class IreeSpecWriter final : public provider::SpecWriter {
 public:
  // `version`: of IREE, and `target` ("znver4", "sm_90"): for the head of a spec. `flag`: kSpecFlag
  // or kCudaSpecFlag.
  IreeSpecWriter(std::string version, std::string target, std::string_view flag);

  Result<std::string> text_of(const std::vector<provider::SpecEntry>& entries) const override;
  bool same_class(const problem::Operation& a, const problem::Operation& b) const override;
  std::string why_no_entry(const problem::Dispatch& dispatch) const override;
  // Ignores knobs from which the compiler makes its attributes: no spec contains them.
  bool same_in_spec(const provider::Payload& a, const provider::Payload& b) const override;
  Result<provider::Payload> as_compiled(const provider::Payload& payload,
                                        const provider::Artifact& artifact) const override;
  // "lowering_config", "translation_info" and, for a root with parts, "decomposition_config".
  Result<std::vector<provider::NamedText>> texts_in_ir(
      const provider::Payload& configured) const override;
  // Adds a pass that reads the spec before dispatches are compiled in parallel. Without it
  // iree-compile may wait for itself for ever (docs/status.md).
  std::vector<std::string> with_spec(std::vector<std::string> flags,
                                     const std::filesystem::path& file) const override;
  // Returns a module with the dispatch's hal.executable, whose only variant is finished: an
  // external object that holds `code`, PTX or an AMD code object. IREE stores it as it is. It
  // launches the entry with one pointer per binding, followed by the constants (iree/hal/drivers
  // of IREE 3.13). Fails if the code has no such kernel, or if the dispatch does not state its
  // layout.
  Result<provider::ReplacedExecutable> replaced(const problem::Dispatch& dispatch,
                                                const provider::Payload& payload,
                                                const std::string& code,
                                                const problem::Launch& launch) const override;
  Result<provider::ReplacingKernel> read_replaced(const std::string& text) const override;
  // Returns the spec that `flags` name, if any, and removes the flags that name it.
  std::optional<std::filesystem::path> take_spec(std::vector<std::string>& flags) const;

 private:
  std::string version_, target_;
};

}  // namespace hone::iree
