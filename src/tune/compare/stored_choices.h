// Choices of a store for its dispatches, and their code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "provider/artifact.h"
#include "store/store.h"
#include "trial/compile_service.h"
#include "tune/compare/compare.h"
#include "tune/compare/paired_kernels.h"

namespace hone::tune {

// A store's last choice for a dispatch.
struct StoredChoice {
  std::string when;
  std::string configuration;  // "default" where nothing beat it
  store::Id candidate = 0;
  std::optional<store::Id> default_candidate;
  problem::Dispatch dispatch;
  bool emulated = false;  // chosen by times of an emulator
};

// Returns the choice for each dispatch that is measured and matches one of `patterns` (none: all).
Result<std::vector<StoredChoice>> stored_choices(store::Store& store,
                                                 const std::vector<std::string>& patterns);

// Flags in the store and configuration of a stored candidate, from which it is compiled.
struct Recipe {
  std::vector<std::string> flags;
  std::optional<provider::Payload> payload;  // none: the compiler's own choice
};
// `dispatch`: the stored one, or the same of another split. Input errors: another provider made the
// candidate, a flag in the store is not safe, the space does not have the configuration.
Result<Recipe> recipe_of(const CompareContext& context, store::Store& store, store::Id candidate,
                         const problem::Dispatch& dispatch);

// Loads code of stores if that is allowed, and compiles it again if not.
class StoredCodes {
 public:
  // References outlive it. `compiler`: null if all code may be loaded.
  StoredCodes(const CompareContext& context, trial::CompileService* compiler)
      : context_(context), compiler_(compiler) {}

  Result<provider::Artifact> of(store::Store& store, store::Id candidate,
                                const problem::Dispatch& dispatch) const;

 private:
  const CompareContext& context_;
  trial::CompileService* compiler_;
};

// Returns code that computes the dispatch for verification: nothing where hone computes it, the
// default's in the store where the device is the host, else a compile of the dispatch for a CPU. A
// failure, or an input error, if there is none.
Result<std::optional<provider::Artifact>> stored_reference(const CompareContext& context,
                                                           const StoredCodes& codes,
                                                           trial::CompileService* compiler,
                                                           store::Store& store,
                                                           const StoredChoice& choice);

// Compiles the dispatch that has the name and bindings of `dispatch` in `other`: the program as it
// is compiled for another CPU, so that the code shares no generation with what is verified.
Result<provider::Artifact> independent_reference(const CompareContext& context,
                                                 trial::CompileService& compiler,
                                                 const problem::Program& other,
                                                 const problem::Dispatch& dispatch);

}  // namespace hone::tune
