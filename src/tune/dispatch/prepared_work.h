// Work that one machine compiles (--compile-only) and another one, without a compiler, measures
// (--measure-only). The store carries it: code as artifacts of candidates, references as artifacts
// of the dispatches that they are compiled from, and two events that say what belongs together.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "device/place.h"
#include "problem/dispatch.h"
#include "problem/target.h"
#include "space/configuration.h"
#include "store/store.h"
#include "tune/services/context.h"

namespace hone::tune {

// A store::BuildRow as an event holds it: ids mean nothing in another store.
struct BuildText {
  std::string compiler, flags, target;

  static void fields(auto& build, auto&& field) {
    field("compiler", build.compiler);
    field("flags", build.flags);
    field("target", build.target);
  }
  static BuildText of(const store::BuildRow& row) { return {row.compiler, row.flags, row.target}; }
  store::BuildRow row() const { return {.compiler = compiler, .flags = flags, .target = target}; }
};

struct PreparedDispatch {
  std::string dispatch;  // its fingerprint
  // Fingerprint of the dispatch that its reference is compiled from, by the reference's build if it
  // is another one. Empty: hone computes the reference, or there is none.
  std::string reference = {};

  static void fields(auto& prepared, auto&& field) {
    field("dispatch", prepared.dispatch);
    field.or_default("reference", prepared.reference);
  }
};

// Outcome of a run that only compiled.
struct PreparedWork {
  std::string input;    // content hash of the file that the user named
  std::string program;  // content hash of what was compiled (store::ProgramRow)
  std::string path;     // of the program
  std::string target;   // --target
  std::vector<std::string> user_flags;
  BuildText build;            // of the candidates
  BuildText reference_build;  // of the references
  // Features that a CPU must have to run the candidates, and the references (code_features.h).
  std::vector<std::string> features = {}, reference_features = {};
  // CPU that the spaces of the candidates are of; none for a GPU.
  std::optional<problem::CpuTarget> cpu = {};
  std::vector<PreparedDispatch> dispatches = {};

  static void fields(auto& work, auto&& field) {
    field("input", work.input);
    field("program", work.program);
    field("path", work.path);
    field("target", work.target);
    field("user_flags", work.user_flags);
    field("build", work.build);
    field("reference_build", work.reference_build);
    field("features", work.features);
    field("reference_features", work.reference_features);
    field("cpu", work.cpu);
    field("dispatches", work.dispatches);
  }
};

// Outcome of a run that only measured.
struct MeasuredWork {
  std::string input;  // PreparedWork's
  std::string target;
  std::vector<std::string> user_flags;
  BuildText build;
  std::string device, driver, protocol;  // store::DeviceRow
  device::Place place;
  store::Id run = 0;  // not in the event

  static void fields(auto& work, auto&& field) {
    field("input", work.input);
    field("target", work.target);
    field("user_flags", work.user_flags);
    field("build", work.build);
    field("device", work.device);
    field("driver", work.driver);
    field("protocol", work.protocol);
    field("place", work.place);
  }
  store::DeviceRow device_row() const {
    return {.name = device, .driver = driver, .protocol = protocol};
  }
};

// Log the outcome in the current run, as its last step.
Status keep_prepared(store::Store& store, const PreparedWork& work);
Status keep_measured(store::Store& store, const MeasuredWork& work);
// Return the newest of the input; nullopt if there is none that this version understands.
Result<std::optional<PreparedWork>> find_prepared(store::Store& store, const std::string& input);
Result<std::optional<MeasuredWork>> find_measured(store::Store& store, const std::string& input);

// Returns the same dispatch of an independent compile; null if there is none.
const problem::Dispatch* find_reference(std::span<const problem::Dispatch> references,
                                        const problem::Dispatch& dispatch);

// Dispatches that the store holds of prepared work, with the code of their references.
struct StoredDispatches {
  std::vector<problem::Dispatch> dispatches;
  std::vector<std::optional<problem::Dispatch>> references;  // of each; none: it needs none
  std::vector<std::optional<provider::Artifact>> reference_code;
};
// Reads the dispatches of `work`, to be measured on a device of this target ("sm_90"). Input
// errors: one that names all that is missing (dispatches, code of defaults and of references), and
// machine code for another GPU. `trust` as for Store::load_artifact.
Result<StoredDispatches> stored_dispatches(store::Store& store, const PreparedWork& work,
                                           std::string_view provider, store::Trust trust,
                                           std::string_view device_target);

// Returns the stored code of the default of the dispatch with this fingerprint; nullopt if the
// store has none, or none that `trust` allows to load.
Result<std::optional<provider::Artifact>> stored_default(store::Store& store,
                                                         const std::string& fingerprint,
                                                         store::Id build, std::string_view provider,
                                                         store::Trust trust);

// Returns the configurations of the space for which the store has code by this provider and build,
// in the order in which they were proposed. Skips code that an emulator found wrong, and says so.
Result<std::vector<space::Configuration>> compiled_configurations(Context& context,
                                                                  const problem::Dispatch& dispatch,
                                                                  std::string_view provider,
                                                                  const space::Space& space);

}  // namespace hone::tune
