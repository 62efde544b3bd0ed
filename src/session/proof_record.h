// Record of a proof: proof.json in the folder of --out. It says what was compared, where, at which
// error rate, and has a hash of every file that takes part. `hone recheck` repeats it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "measure/verification.h"
#include "problem/dispatch.h"
#include "session/session_options.h"
#include "tune/tuning_run.h"

namespace hone::session {

inline constexpr char kProofName[] = "proof.json";
inline constexpr int kProofFormat = 1;

// A file as it was when the proof was made. The hash (base/hash.h) finds accidents, no forgery.
struct ProvedFile {
  std::string path;  // from the folder; absolute if it lies elsewhere
  std::string hash;

  bool operator==(const ProvedFile&) const = default;

  static void fields(auto& file, auto&& field) {
    field("path", file.path);
    field("hash", file.hash);
  }
};

// The claim: how much faster the shipped program is than the default.
struct ProvedSpeed {
  double speedup = 1, low = 1, high = 1;  // estimate and interval
  std::uint64_t rounds = 0;
  double alpha = 0;  // the rate at which such a claim is made in error

  static void fields(auto& speed, auto&& field) {
    field.number("speedup", speed.speedup);
    field.number("low", speed.low);
    field.number("high", speed.high);
    field("rounds", speed.rounds);
    field("alpha", speed.alpha);
  }
};

// The device that the times are of.
struct ProvedDevice {
  std::string kind;                  // device::Address::kind
  bool on_cores = true;              // the host's cores are the device
  std::string name, driver, target;  // device::Facts
  std::uint64_t threads = 0;         // on these cores
  problem::CpuTarget host_cpu;

  static void fields(auto& device, auto&& field) {
    field("kind", device.kind);
    field("on_cores", device.on_cores);
    field("name", device.name);
    field("driver", device.driver);
    field("target", device.target);
    field("threads", device.threads);
    field("host_cpu", device.host_cpu);
  }
};

struct ProofRecord {
  int format = kProofFormat;
  std::string hone;                        // version
  std::string compiler;                    // name and version
  std::string compiler_hash;               // of its library; empty: not known
  std::string target;                      // as --target takes it
  std::vector<std::string> default_flags;  // of the compiler
  std::string shipped;                     // label of the build that ships
  std::vector<std::string> repairs;        // dispatches whose default is wrong
  std::optional<ProvedSpeed> speed;        // none: it was not proved to be faster
  ProvedDevice device;
  problem::Function function;
  std::vector<std::string> runtime_flags;
  std::uint64_t seed = 0;  // of generated inputs
  ProvedFile program;
  std::optional<ProvedFile> model;  // that the program was imported from
  // Files that the compiler takes: spec, transform spec, objects, kernels. Then the flags without
  // those that name files.
  std::vector<ProvedFile> applied;
  std::vector<std::string> flags;
  ProvedFile baseline_module, shipped_module;
  std::vector<ProvedFile> inputs, references;
  std::vector<measure::Tolerance> tolerances;  // of the outputs, by reference

  static void fields(auto& proof, auto&& field) {
    field("format", proof.format);
    field("hone", proof.hone);
    field("compiler", proof.compiler);
    field("compiler_hash", proof.compiler_hash);
    field("target", proof.target);
    field("default_flags", proof.default_flags);
    field("shipped", proof.shipped);
    field("repairs", proof.repairs);
    field("speed", proof.speed);
    field("device", proof.device);
    field("function", proof.function);
    field("runtime_flags", proof.runtime_flags);
    field("seed", proof.seed);
    field("program", proof.program);
    field("model", proof.model);
    field("applied", proof.applied);
    field("flags", proof.flags);
    field("baseline_module", proof.baseline_module);
    field("shipped_module", proof.shipped_module);
    field("inputs", proof.inputs);
    field("references", proof.references);
    field("tolerances", proof.tolerances);
  }
};

// Writes proof.json of a tuning, after all other files of the folder; nothing if it has no
// ProofFiles. `compiler`: the row of the build. Errors: a file cannot be read or written.
Status write_proof(const SessionOptions& options, const std::string& compiler,
                   const tune::TuningResult& result);

// Reads proof.json. Input errors: there is none, it is of another format, or damaged.
Result<ProofRecord> read_proof(const std::filesystem::path& folder);

// Whether times on the place can be compared with the record's: the same model of GPU, or of CPU
// with as many threads.
bool is_same_kind(const ProvedDevice& device, const device::Place& place);

// Where a file of the record lies now.
std::filesystem::path path_of(const ProvedFile& file, const std::filesystem::path& folder);

// Returns the paths of recorded files that are missing or have other contents now.
std::vector<std::string> changed_files(const std::vector<ProvedFile>& files,
                                       const std::filesystem::path& folder);

// Compares what the compiler takes with the record: files in the folder that were changed, removed
// or added, and "compile_flags.txt" if its flags differ. Errors: those of read_out_folder.
Result<std::vector<std::string>> changed_applied(const ProofRecord& proof,
                                                 const std::filesystem::path& folder);

}  // namespace hone::session
