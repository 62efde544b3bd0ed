// Replaces one of IREE's kernels by a kernel of another compiler.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "problem/dispatch.h"
#include "provider/kernel_replacer.h"

namespace hone::iree {

// A module with the dispatch's hal.executable, whose only variant is finished: an external object
// that holds `ptx`. IREE stores the text as it is. It launches the entry with one pointer per
// binding, followed by the constants (iree/hal/drivers/cuda of IREE 3.13). A failure if the text is
// no PTX, or if the dispatch does not state its layout (problem::Dispatch::statement).
Result<provider::ReplacedExecutable> replaced_executable(const problem::Dispatch& dispatch,
                                                         const std::string& ptx,
                                                         const problem::Launch& launch);

// Reads a file that replaced_executable() has written. An input error for any other file.
Result<provider::ReplacingKernel> read_replaced_executable(const std::string& text);

// The layout attribute of the dispatch's export; empty if the dispatch does not state it.
std::string layout_of(const problem::Dispatch& dispatch);

// The flag that makes iree-compile substitute executables from `folder`. Each file replaces the
// executable that it is named after, right after the program is split into dispatches.
std::string replaced_executables_flag(const std::filesystem::path& folder);

// All of these for callers that do not know IREE.
class IreeReplacer final : public provider::KernelReplacer {
 public:
  Result<provider::ReplacedExecutable> replaced(const problem::Dispatch& dispatch,
                                                const std::string& code,
                                                const problem::Launch& launch) const override {
    return replaced_executable(dispatch, code, launch);
  }
  Result<provider::ReplacingKernel> read_replaced(const std::string& text) const override {
    return read_replaced_executable(text);
  }
  std::string launch_of(const problem::Dispatch& dispatch) const override {
    return layout_of(dispatch);
  }
  std::vector<std::string> with_replaced(std::vector<std::string> flags,
                                         const std::filesystem::path& folder) const override {
    flags.push_back(replaced_executables_flag(folder));
    return flags;
  }
};

}  // namespace hone::iree
