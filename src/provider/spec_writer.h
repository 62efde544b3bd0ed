// Files that make a provider's compiler use what was found: tuning specs with configurations, and
// other providers' kernels.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "problem/launch.h"
#include "provider/artifact.h"

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

// A file that makes the compiler use another provider's kernel instead of generating its own.
struct ReplacedExecutable {
  std::string executable;  // the symbol of the dispatch's (problem::Dispatch::executable)
  std::string text;        // of the file, which must be called `executable` + ".mlir"

  bool operator==(const ReplacedExecutable&) const = default;
};

// Content of a file that SpecWriter::replaced() has written.
struct ReplacingKernel {
  std::string dispatch;  // whose kernel's place it takes
  std::string launch;    // its bindings and constants, in the form of problem::Statement::layout
  std::string code;      // empty where the file holds what code is made of
};

// Facts about a compiler's spec files, the same for all of them.
struct SpecFacts {
  // Flags that apply a spec, and the kernels of a folder, up to the path. The second is empty if
  // programs cannot hold the kernels of others.
  std::string spec_flag = {}, kernels_flag = {};
  // Names in the IR of Dispatch::default_configuration and Dispatch::default_translation.
  std::string default_configuration = {}, default_translation = {};
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
  // Returns `flags` and all that a compiler outside of hone needs to compile a whole program with
  // the spec.
  virtual std::vector<std::string> with_spec(std::vector<std::string> flags,
                                             const std::filesystem::path& file) const = 0;

  // Replaces the dispatch's own kernel by `code`, which has the form and the launch convention of
  // the compiler's kernels and was made of `payload`. Fails if its programs cannot hold such a
  // kernel.
  virtual Result<ReplacedExecutable> replaced(const problem::Dispatch& dispatch,
                                              const Payload& payload, const std::string& code,
                                              const problem::Launch& launch) const = 0;
  // Reads a file that replaced() has written. Returns an input error for any other file.
  virtual Result<ReplacingKernel> read_replaced(const std::string& text) const = 0;

  // The compiler's default configuration of a dispatch in the form of texts_in_ir(), as far as the
  // dispatch states it.
  std::vector<NamedText> default_texts(const problem::Dispatch& dispatch) const {
    return {{facts_.default_configuration, dispatch.default_configuration},
            {facts_.default_translation, dispatch.default_translation}};
  }
  // The compiler flag that applies the spec in `file`.
  std::string flag_of(const std::filesystem::path& file) const {
    return facts_.spec_flag + file.string();
  }
  bool replaces_kernels() const { return !facts_.kernels_flag.empty(); }
  // Adds the flag that makes the compiler use the files of replaced() in `folder`.
  std::vector<std::string> with_replaced(std::vector<std::string> flags,
                                         const std::filesystem::path& folder) const {
    flags.push_back(facts_.kernels_flag + folder.string());
    return flags;
  }

 protected:
  explicit SpecWriter(SpecFacts facts) : facts_(std::move(facts)) {}

 private:
  SpecFacts facts_;
};

}  // namespace hone::provider
