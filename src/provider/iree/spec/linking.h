// Two tuning specs as one.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "provider/iree/compiler/library.h"

namespace hone::iree {

// The text of a spec with the entries of both: of those that match, one of `first` is applied
// before any of `second`. Linked by the compiler's own pass (iree-codegen-link-tuning-specs), as
// it links a user's spec with its default ones. `first` is the text of one of hone's own, which has
// no aliases of attributes, and keeps the comments at its head; `path` names the second in
// messages. Input errors: the compiler's words when it does not read one of them, or cannot link
// them.
Result<std::string> link_specs(const Library& library, const std::string& path,
                               std::string_view first, std::string_view second);

}  // namespace hone::iree
