// Configuration encoded for the provider's compiler, or as the compiler reports it. The JSON is
// opaque to everyone but the provider's halves in the tuner and in the workers. Other code stores,
// sends and compares it, and asks the provider for anything else (provider.h, spec_writer.h).
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace hone::provider {

struct Payload {
  nlohmann::json json = nullptr;
  // Provider whose kernel replaces the compiler's in a program; empty: the session's own.
  std::string replacing = {};

  bool operator==(const Payload&) const = default;
};

}  // namespace hone::provider
