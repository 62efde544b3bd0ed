// A kernel of another compiler's in the place of one of IREE's.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "problem/dispatch.h"
#include "provider/program_provider.h"

namespace hone::iree {

// A module with the dispatch's hal.executable, whose only variant is made: an external object with
// `ptx` in it. IREE stores the text as it is and launches its entry with one pointer per binding
// and the constants behind them (iree/hal/drivers/cuda of IREE 3.13). A failure for what is no PTX,
// and for a dispatch that does not state its layout (problem::Dispatch::statement).
Result<provider::ReplacedExecutable> replaced_executable(const problem::Dispatch& dispatch,
                                                         const std::string& ptx,
                                                         const problem::Launch& launch);

// What a file says that replaced_executable() has written. An input error for another.
Result<provider::ReplacingKernel> read_replaced_executable(const std::string& text);

// The layout attribute of the dispatch's export; empty where the dispatch does not state it.
std::string layout_of(const problem::Dispatch& dispatch);

// iree-compile takes each file for the executable that it is named after, right after it has split
// the program into dispatches.
std::string replaced_executables_flag(const std::filesystem::path& folder);

}  // namespace hone::iree
