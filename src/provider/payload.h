// A configuration as a compiler is told it, or says that it was configured with: JSON that a
// provider's half in the tuner and its half in the workers understand, and nobody between them. It
// is kept, sent and compared; what else is to be known of it the provider is asked (provider.h,
// program_provider.h).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace hone::provider {

struct Payload {
  nlohmann::json json = nullptr;
  // Whose it is, where its kernel takes the place of the compiler's in a program; empty: the
  // session's own provider's.
  std::string replacing = {};

  bool operator==(const Payload&) const = default;
};

}  // namespace hone::provider
