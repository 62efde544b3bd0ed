// Two tuning specs as one.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "provider/iree/compiler/library.h"

namespace hone::iree {

// Links two specs into one text with the entries of both; matches in `first` take precedence over
// matches in `second`. The compiler's own pass (iree-codegen-link-tuning-specs) does it, as for a
// user's spec and the compiler's defaults. `first` is the text of one of hone's specs, which has no
// attribute aliases; the comments at its head are kept. `path` names the second in messages. Input
// errors: the compiler's words if it cannot read or link the specs.
Result<std::string> link_specs(const Library& library, const std::string& path,
                               std::string_view first, std::string_view second);

}  // namespace hone::iree
