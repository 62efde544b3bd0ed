// Tuning specs: files that make a provider's compiler use configurations that were found.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "provider/artifact.h"
#include "provider/payload.h"

namespace hone::provider {

// Spec entry for one dispatch.
struct SpecEntry {
  std::string name;  // of the dispatch
  problem::Operation root;
  Payload payload;
  std::vector<problem::SurroundingOperation> surrounding = {};  // of the dispatch
  // Dispatches, by name, that it is for, where what a matcher sees is not enough; empty: all.
  std::vector<std::string> only = {};
};

// Part of a dispatch's configuration in the compiler's IR.
struct NamedText {
  std::string name;  // as the IR has it; in documents a key
  std::string text;
};

class SpecWriter {
 public:
  virtual ~SpecWriter() = default;

  // The text of a spec that gives each entry's root operation its configuration. Entries that one
  // matcher cannot tell apart (same_class) must be given once.
  virtual Result<std::string> text_of(const std::vector<SpecEntry>& entries) const = 0;
  virtual bool same_class(const problem::Operation& a, const problem::Operation& b) const = 0;
  // Why no spec can have an entry for the dispatch, however it is configured; empty where one can.
  virtual std::string why_no_entry(const problem::Dispatch&) const { return {}; }
  // Whether a spec says the same for both, whatever else they hold.
  virtual bool same_in_spec(const Payload& a, const Payload& b) const { return a == b; }
  // Returns `payload` in the words that the compiler used when it made `artifact` of it, if a spec
  // needs those.
  virtual Result<Payload> as_compiled(const Payload& payload, const Artifact&) const {
    return payload;
  }
  // Returns the configuration of a dispatch as parts of the IR, always in the same order. Parts
  // that every configuration has are present even if empty. A part from the compiler
  // (jobs::kConfigured) is as it prints it; any other is as jobs::kCanonical makes it. Fails for a
  // payload of another provider.
  virtual Result<std::vector<NamedText>> texts_in_ir(const Payload& configured) const = 0;
  // The compiler's default configuration of a dispatch, as far as the dispatch states it.
  virtual Payload default_of(const problem::Dispatch& dispatch) const = 0;
  // The compiler flag that applies the spec in `file`.
  virtual std::string flag_of(const std::filesystem::path& file) const = 0;
  // `flags` and all that a compiler outside of hone needs to compile a whole program with the spec.
  virtual std::vector<std::string> with_spec(std::vector<std::string> flags,
                                             const std::filesystem::path& file) const = 0;
};

}  // namespace hone::provider
