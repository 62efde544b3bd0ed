// Rows of the store, one struct per table. Ids are row ids of one store (above 0) and mean nothing
// in another one. `id`, `when` and `run` are filled by the store on reading, never by the caller.
// Times are UTC, ISO 8601 with milliseconds ("2026-01-31T12:00:00.123Z"). Fields called JSON hold a
// JSON text; anything else in them is an input error. Every field has an initialiser, so that a
// designated initialiser may omit it without a warning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::store {

using Id = std::int64_t;

// Keys artifacts: code compiled under equal build identities is the same code.
struct BuildRow {
  Id id = 0;
  std::string hash{};      // over the fields below; computed by the store
  std::string compiler{};  // name and version, with its revision: "iree-compile 3.13.0 @ 4bd2ca1"
  std::string flags{};     // JSON array, in the order given
  std::string target{};    // JSON, resolved: `host` expanded to CPU and features

  bool operator==(const BuildRow&) const = default;
};

// Keys measurements: the device that code ran on, and hone's measurement protocol there.
struct DeviceRow {
  Id id = 0;
  std::string hash{};    // over the fields below; computed by the store
  std::string name{};    // "AMD EPYC 9554", "NVIDIA H200"
  std::string driver{};  // version; the kernel's on a CPU
  std::string
      protocol{};  // JSON: threads, affinity, cold or warm cache, clocks, version of the loop

  bool operator==(const DeviceRow&) const = default;
};

struct OperationRow {
  Id id = 0;
  std::string fingerprint{};
  std::string kind{};         // "matmul"
  std::string description{};  // "matmul 512x512x512 f32,f32->f32"
  std::string json{};         // JSON: problem::Operation
  double flops = 0;           // of one execution; 0 where unknown
  double bytes = 0;           // of one execution; 0 where unknown

  bool operator==(const OperationRow&) const = default;
};

struct DispatchRow {
  Id id = 0;
  std::string fingerprint{};
  std::string name{};             // the export's symbol
  std::optional<Id> operation{};  // none where the dispatch has no root
  std::string source{};           // MLIR; kept once by hash, compressed
  std::string json{};  // JSON: problem::Dispatch without its source (bindings, fused, ...)

  bool operator==(const DispatchRow&) const = default;
};

struct ProgramRow {
  Id id = 0;
  std::string hash{};  // content hash of the file
  std::string path{};  // where it was last read from
  std::string json{};  // JSON: functions and what else a report needs

  bool operator==(const ProgramRow&) const = default;
};

// A dispatch's place in a program.
struct ProgramDispatch {
  Id program = 0;
  Id dispatch = 0;
  std::int64_t ordinal = 0;            // in the program's order
  std::int64_t launches_per_call = 0;  // that one call of the program makes

  bool operator==(const ProgramDispatch&) const = default;
};

enum class RunState { kRunning, kFinished, kInterrupted, kFailed };
std::string_view name_of(RunState state);  // "running", ...

struct Run {
  Id id = 0;
  std::string command{};  // command line
  std::string task{};     // that without its budget: a run goes on from others of its task
  std::string version{};  // hone's
  std::int64_t seed = 0;
  std::optional<Id> program{};  // that it tunes
  std::string process{};        // host.h: host, boot, pid, start
  std::string started{};
  std::string ended{};  // empty while it runs
  RunState state = RunState::kRunning;

  bool operator==(const Run&) const = default;
};

struct EventRow {
  std::int64_t sequence = 0;  // from 1, in its run
  std::string when{};
  std::string kind{};  // "repeat", "left out", ...
  std::string text{};

  bool operator==(const EventRow&) const = default;
};

// Kind of the event that holds a run's time as it passed (trial::Timeline), up to the event's own
// time. It is long; reports skip it.
inline constexpr std::string_view kTimelineEvent = "timeline";

// Configuration of the compiler's own choice: the default of a dispatch.
inline constexpr std::string_view kDefaultConfiguration = "{}";

// Whether the provider's kernels replace the compiler's, judged by its name. Such names carry the
// version of their generator behind "@" ("triton@3.6.0"). A user's own kernel without knobs has the
// configuration {} too, and is no default.
inline bool takes_anothers_place(std::string_view provider) {
  return provider.find('@') != std::string_view::npos;
}

struct CandidateRow {
  Id id = 0;
  Id dispatch = 0;
  Id build = 0;
  std::string provider{};        // a compiler's, or a library beside the candidates: its name
  std::string configuration{};   // JSON; the store sorts its keys, so that equal ones are one row
  std::string constraint_set{};  // that proposed it first; empty when given by hand
  std::string when{};
  std::optional<Id> run{};

  bool operator==(const CandidateRow&) const = default;
};

// Format of an artifact without code: a library call measured beside the candidates. Its identity
// begins with the library's title, one word.
inline constexpr std::string_view kLibraryFormat = "library";

struct ArtifactRow {
  Id candidate = 0;
  std::string
      identity{};        // names what is executed (provider::identity); equal code is measured once
  std::string format{};  // "embedded-elf-x86_64"
  std::string launch{};  // JSON: provider::Launch
  std::string code{};    // the binary; only load_artifact() fills it
  bool has_code = true;  // false once gc() has removed it: compile again if it is needed
  std::string configured{};  // lowering configuration read back from the compiler's IR
  double compile_seconds = 0;
  std::string when{};
  std::optional<Id> run{};

  bool operator==(const ArtifactRow&) const = default;
};

struct FailureRow {
  Id id = 0;
  Id candidate = 0;
  std::optional<Id> device{};  // where it failed to run; none for a failed compile
  std::string identity{};      // of the artifact that failed to run; empty for a failed compile
  std::string kind{};     // provider::name_of(FailureKind): "compile error", "kernel crash", ...
  std::string message{};  // the compiler's or the system's own words
  double seconds = 0;     // until it failed
  std::string when{};
  std::optional<Id> run{};

  bool operator==(const FailureRow&) const = default;
};

// VerificationRow::reference without an independent compile: the output of the candidates' own code
// generator under the same flags, which makes the same mistakes.
inline constexpr std::string_view kOwnFlagsReference = "own flags";

struct VerificationRow {
  Id id = 0;
  Id dispatch = 0;
  std::string identity{};  // of the artifact
  Id device = 0;
  bool right = false;
  std::optional<std::int64_t> bad_binding{};  // of the first bad element; none when right
  std::optional<std::int64_t> bad_index{};    // of the first bad element, row-major
  std::string expected{};  // value of that element as text: it may be NaN or a 64-bit integer
  std::string got{};
  double share_bad = 0;     // 0 to 1
  std::string tolerance{};  // what right means here, and where the numbers come from
  // Its numbers for the first output, on exact operands: right is |got - expected| <= absolute +
  // relative x |expected|. None: a row of an older hone whose text does not say them.
  std::optional<double> absolute_tolerance{}, relative_tolerance{};
  std::string basis{};      // when wrong: how, in words; empty when right
  std::int64_t rules = 1;   // version of the rules it was judged by (measure::kVerificationRules)
  std::string reference{};  // what it was compared with: "exact" (computed by hone), "artifact" (an
                            // independent compile), kOwnFlagsReference; empty: not recorded
  std::string when{};
  std::optional<Id> run{};

  bool operator==(const VerificationRow&) const = default;
};

enum class Phase {
  kSearch,      // beside other candidates, once
  kSentinel,    // the default, again and again between candidates
  kFinalist,    // interleaved with the other finalists
  kOwnRuntime,  // as users run it: by the compiler's own runtime
  kProgram,     // inside the whole program
};
std::string_view name_of(Phase phase);  // "search", "sentinel", "finalist", "iree_runtime", ...

// Samples and their statistics. Times are seconds of one launch (of one call for a program).
struct Timing {
  std::vector<double> samples{};  // in the order taken, dropped ones left out
  std::int64_t launches_per_sample = 1;
  std::int64_t dropped = 0;  // samples taken under throttling
  double min = 0;
  double median = 0;
  double spread = 0;  // relative: interquartile range / median
  double low = 0;     // 95 % confidence interval of the median
  double high = 0;

  bool operator==(const Timing&) const = default;
};

struct Measurement {
  Id id = 0;
  Id dispatch = 0;
  std::string identity{};  // of the artifact
  Id device = 0;
  Phase phase = Phase::kSearch;
  Timing timing{};
  std::optional<double> sentinel_ratio{};  // median / the default's at the same time; < 1 is faster
  std::string machine = "{}";              // JSON: clocks, load, throttling, temperature
  std::string when{};
  std::optional<Id> run{};

  bool operator==(const Measurement&) const = default;
};

enum class Purpose { kProof, kFlags };      // the search of flags
std::string_view name_of(Purpose purpose);  // "proof", "flags"

// Build of a whole program, with its flags, spec and result.
struct ProgramMeasurement {
  Id id = 0;
  Id program = 0;
  Id build = 0;  // compiler and target; its flags are those of this variant
  Id device = 0;
  Purpose purpose = Purpose::kProof;
  std::string variant{};  // for people: "default", "data tiling", "data tiling + spec"
  std::string spec{};     // text of the tuning spec; empty without one. Kept once by hash
  Timing timing{};
  std::optional<double> ratio{};      // median / the default variant's, interleaved; < 1 is faster
  std::optional<double> ratio_low{};  // 95 % confidence interval
  std::optional<double> ratio_high{};
  std::optional<bool> right{};  // outputs agree with the default variant's; none if not compared
  std::string same_as{};        // the variant that has the same module, and is timed for it
  std::string verdict{};        // "faster", "no different", "slower", or why it was left out
  std::string machine = "{}";   // JSON
  std::string when{};
  std::optional<Id> run{};

  bool operator==(const ProgramMeasurement&) const = default;
};

// Choice of a run for a dispatch.
struct SelectionRow {
  Id id = 0;
  Id dispatch = 0;
  Id build = 0;
  Id device = 0;
  std::optional<Id> winner{};       // candidate; none where nothing right was found
  std::vector<Id> ties{};           // candidates not told apart from the winner, itself included
  std::optional<double> speedup{};  // default's time / winner's
  std::optional<double> speedup_low{};  // 95 % confidence interval
  std::optional<double> speedup_high{};
  bool shipped = false;  // an entry of the emitted spec
  std::string reason{};  // how it was picked from the tie set, or why it is left out
  std::string when{};
  std::optional<Id> run{};

  bool operator==(const SelectionRow&) const = default;
};

// State of a dispatch for a later run to resume from: DispatchResult, with its near ties.
struct NearTieRow {
  Id candidate = 0;
  std::string payload{};  // JSON
  std::string replacing{};

  bool operator==(const NearTieRow&) const = default;
};
struct DispatchResult {
  Id id = 0;
  Id dispatch = 0;
  std::optional<std::string> payload{};  // JSON; none: it keeps its default
  std::string replacing{};  // the provider whose kernel takes the compiler's place; empty: none
  std::string code{};       // that ships where it is other code than what was measured
  std::optional<std::string> launch{}, accuracy{};  // JSON
  bool default_is_wrong = false;
  std::optional<double> budget{};  // seconds of its run
  std::vector<NearTieRow> near_ties{};
  std::string when{};
  std::optional<Id> run{};

  bool operator==(const DispatchResult&) const = default;
};

// Flag set with its label. FlagChoice: the choice of a run's flag search.
struct Flags {
  std::string label{};
  std::string flags = "[]";  // JSON

  bool operator==(const Flags&) const = default;
};
struct FlagChoiceRow {
  Flags best{};
  std::vector<Flags> bases{};  // that dispatches are tuned with
  std::vector<Flags> tried{};  // without labels

  bool operator==(const FlagChoiceRow&) const = default;
};

// Names of facts that reports look for. Each covers all cores that the device's protocol names
// together.
inline constexpr std::string_view kPeakFact = "peak f32";           // flop/s
inline constexpr std::string_view kMatrixPeakFact = "matrix peak";  // of f16 on matrix units
// Product of a GPU's matrix units, their f16 operations per clock and its highest clock.
inline constexpr std::string_view kStatedMatrixPeakFact = "stated matrix peak";
inline constexpr std::string_view kBandwidthFact = "memory bandwidth";  // byte/s

// Measured fact of a device that results are compared with.
struct DeviceFact {
  Id device = 0;
  std::string name{};  // "peak f32 1 thread"
  double value = 0;
  std::string unit{};  // "flop/s", "byte/s"
  std::string when{};
  std::optional<Id> run{};

  bool operator==(const DeviceFact&) const = default;
};

// Exclusive right to one piece of work, until it expires.
struct Lease {
  std::string key{};    // "compile/17"
  std::string owner{};  // host.h
  std::string taken{};
  std::string heartbeat{};
  std::string expires{};

  bool operator==(const Lease&) const = default;
};

}  // namespace hone::store
