// The store: one SQLite file that holds dispatches, candidates, artifacts, verifications,
// measurements and runs. This folder is the only place that knows SQL.
//
// Every function is one transaction: its rows are stored when it returns, and a killed process
// loses only the call in flight. Several processes and threads may work on one file, each through a
// Store of its own. A Store is used by one thread at a time, and never across a fork.
//
// Errors of every function: input when the file is damaged or a reference names no row; environment
// when the disk is full, the file cannot be read or written, or another process held the file for
// longer than the busy timeout.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "store/rows.h"
#include "store/seal.h"
#include "store/views.h"

namespace hone::store {

class Database;

enum class Mode {
  kReadWrite,  // makes the file where there is none
  kReadOnly,
};

struct StoreOptions {
  std::chrono::milliseconds busy_timeout = std::chrono::seconds(30);  // wait for other writers
  std::optional<SealKey> seal_key = {};                               // none: own_seal_key()
};

// Extent of a check: the whole file, or what reading its rows depends on.
enum class Checked { kFile, kRows };

// Whose machine code may be loaded. A store may come from anybody.
enum class Trust {
  kOwn,     // what this user's hone has compiled (seal.h)
  kAnyone,  // whatever the store holds (`--trust`)
};

// Whether results of other builds and devices count (`--reuse any`).
enum class Reuse { kEqualIdentities, kAny };

class Store {
 public:
  // Input errors: no such file (read only) or folder, a folder, not an SQLite file, one of another
  // program, made by a newer hone, damaged; read only also an empty one, and one of an older hone,
  // which would have to be brought up to date. Environment errors: no right to read or write.
  static Result<Store> open(const std::filesystem::path& path, Mode mode,
                            StoreOptions options = {});
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  const std::filesystem::path& path() const;

  // Runs `work` in one transaction: its writes through this Store are kept if it succeeds and
  // dropped if it fails. For many small rows at once: a transaction costs far more than a row.
  Status transaction(const std::function<Status()>& work);

  // -- what is tuned. Each returns the id of the equal row, made where there is none.
  Result<Id> intern(const BuildRow& build);          // equal in all fields
  Result<Id> intern(const DeviceRow& device);        // equal in all fields
  Result<Id> intern(const OperationRow& operation);  // equal fingerprints
  Result<Id> intern(const DispatchRow& dispatch);    // equal fingerprints; the first name is kept
  Result<Id> intern(const ProgramRow& program);      // equal hashes; the path is brought up to date
  Status link_dispatch(
      const ProgramDispatch& place);  // replaces the one of that program and dispatch

  // Return the row; an input error if there is none.
  Result<BuildRow> build(Id id);
  Result<DeviceRow> device(Id id);
  Result<OperationRow> operation(Id id);
  Result<DispatchRow> dispatch(Id id);
  Result<std::optional<Id>> find_dispatch(std::string_view fingerprint);
  Result<ProgramRow> program(Id id);
  Result<std::vector<ProgramRow>> programs();
  Result<std::vector<ProgramDispatch>> program_dispatches(Id program);  // in order

  // -- runs. Rows recorded after begin_run() carry the run's id.
  // Takes command, version, seed and program from `run`. Runs of dead processes of this host that
  // are still called running become interrupted.
  Result<Id> begin_run(const Run& run);
  std::optional<Id> current_run() const { return run_; }
  Status end_run(RunState state);
  Status log_event(std::string_view kind, std::string_view text);
  Result<Run> run(Id id);
  Result<std::vector<Run>> runs();  // oldest first
  Result<std::vector<EventRow>> events(Id run);
  // Returns run and text of every event of this kind, oldest first.
  Result<std::vector<std::pair<Id, std::string>>> event_texts(std::string_view kind);

  // -- candidates
  Result<std::optional<Id>> find_candidate(Id dispatch, Id build, std::string_view provider,
                                           std::string_view configuration);
  // Returns the id of the equal candidate (dispatch, build, provider, configuration), made if there
  // is none.
  Result<Id> add_candidate(const CandidateRow& candidate);
  Result<CandidateRow> candidate(Id id);

  // Returns the results that need not be repeated for a candidate on a device. `device` may be none
  // for a target without one. The measurement is of `phase`.
  Result<KnownResults> known(Id candidate, std::optional<Id> device, Phase phase = Phase::kSearch,
                             Reuse reuse = Reuse::kEqualIdentities);

  // -- results, each written when its step ends
  Status record(const ArtifactRow& artifact);  // replaces the candidate's artifact
  Result<Id> record(const FailureRow& failure);
  Result<Id> record(const VerificationRow& verification);
  Result<Id> record(const Measurement& measurement);
  Result<Id> record(const ProgramMeasurement& measurement);  // replaces that of its id, if any
  Result<Id> record(const SelectionRow& selection);
  Result<Id> record(const DispatchResult& result);
  Status record(const FlagChoiceRow& choice);  // of this run, in place of one before
  Status record(const DeviceFact& fact);

  // Returns the artifact with its code. An input error if the candidate has none, gc() has removed
  // its code, or `trust` forbids loading it.
  Result<ArtifactRow> load_artifact(Id candidate, Trust trust = Trust::kOwn);
  // Whether the candidate has code that this user's hone compiled.
  Result<bool> is_own(Id candidate);
  Result<std::vector<ProgramMeasurement>> program_measurements(Id program);  // oldest first
  Result<std::vector<SelectionRow>> selections(const Filter& filter = {});   // oldest first
  Result<std::vector<DispatchResult>> dispatch_results(Id run);              // in order
  Result<std::optional<FlagChoiceRow>> flag_choice(Id run);  // none where none was recorded
  Result<std::vector<DeviceFact>> device_facts(Id device);   // newest of each name, by name

  // -- leases: work in flight, so that nobody repeats it.
  // Takes or renews the lease on `key` for `ttl`; false while another owner holds it. A lease that
  // has expired or whose owner is gone (host.h) is taken over. Take the lease first and call
  // known() after, to see results that another process wrote in between.
  // Only the machine's monotonic clock counts: setting a clock neither ends nor extends a lease. A
  // lease of this boot expires `ttl` after its last heartbeat. A lease of another machine, whose
  // clock is unknown, expires once this Store has seen no heartbeat for as long.
  Result<bool> try_lease(std::string_view key, std::string_view owner,
                         std::chrono::milliseconds ttl);
  // Renews the lease. False if another owner has taken it over: stop the work.
  Result<bool> heartbeat(std::string_view key, std::string_view owner,
                         std::chrono::milliseconds ttl);
  // Renews all leases that the owner still holds, and returns their number.
  Result<std::int64_t> heartbeat_all(std::string_view owner, std::chrono::milliseconds ttl);
  Status release(std::string_view key, std::string_view owner);  // no error when not held
  Status release_all(std::string_view owner);
  Result<std::vector<Lease>> leases();  // by key

  // -- queries of reports (views.h)
  Result<std::vector<DispatchView>> dispatch_rows(const Filter& filter = {});    // by dispatch
  Result<std::vector<CandidateView>> candidate_rows(const Filter& filter = {});  // by candidate
  Result<CandidateDetails> details(Id candidate);

  // -- care of the file
  // PRAGMA integrity_check and foreign_key_check, missing tables and columns, and every stored blob
  // against its hash. With kRows, all but pages that belong to no table.
  Result<CheckReport> check(Checked checked = Checked::kFile);
  // Copies the readable part of a damaged store into a new one: intact rows with intact references,
  // and code with the right hash.
  // A dispatch whose source is lost keeps its results and an empty source. An artifact whose code
  // is lost is compiled again when needed. Leases are not copied.
  // An input error if `into` exists already, `damaged` is no store, or its first page, which
  // locates the tables, is damaged. (Values in a page that SQLite can still read are taken as they
  // are: rows have no checksums.)
  static Result<RescueReport> rescue(const std::filesystem::path& damaged,
                                     const std::filesystem::path& into);
  // Returns what rescue() would save, without writing anything.
  Result<RescueReport> rescuable();
  // Adds the rows that only the other stores have, and returns their number by table. Idempotent.
  // Leases are not copied. All of `others` are checked before the first is copied, and each is
  // copied as a whole or not at all. Input errors name the store: those of open() and damage, and
  // this store among the others.
  Result<MergeReport> merge(const std::vector<std::filesystem::path>& others);
  // Removes unreferenced blobs and the code of artifacts that no default, finalist or selection
  // needs, and frees the space. Returns the bytes the file shrank by.
  Result<std::int64_t> gc();

 private:
  explicit Store(std::unique_ptr<Database> database);

  struct SeenLease {
    std::string heartbeat;   // its owner's, as text
    std::int64_t since = 0;  // boot_milliseconds() when it was first seen
  };
  bool was_silent(std::string_view key, const std::string& heartbeat, std::int64_t milliseconds);

  std::unique_ptr<Database> database_;
  const SealKey& seal_key();

  std::optional<Id> run_;
  std::optional<SealKey> seal_key_;                            // since it was first needed
  std::map<std::string, SeenLease, std::less<>> seen_leases_;  // of other machines, by key
};

}  // namespace hone::store
