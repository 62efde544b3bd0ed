// Verifies and measures the dispatches of a tree: each against what its operation's name says that
// it computes, beside the other configurations of the operation and what vendors' libraries make of
// it. What the store knows of this build and device is not done again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/selection.h"
#include "provider/resources.h"
#include "tune/services/context.h"

namespace hone::profiler {

inline constexpr std::string_view kCompilersProvider = "IREE Codegen";

struct ProfileOptions {
  std::filesystem::path generated_dir = ".";
  bool verify = true, measure = true;
  bool own_kernels = true, libraries = true;  // --providers
  int repetitions = 5;                        // samples of each kernel, at least
  std::size_t ahead = 64;                     // dispatches that are compiled before one is measured
  std::size_t processes = 1;                  // of the compiler, 1 at least
  int threads = 1;                            // for expected results
};

enum class Verified { kNot, kSuccess, kFailed };

// A dispatch by one provider.
struct ProfileRow {
  Operation operation;
  std::string configuration;  // of a library: its algorithm
  std::string provider;       // kCompilersProvider, "OpenBLAS", "cuBLASLt"
  Verified verified = Verified::kNot;
  std::string message;  // why it failed, with its first bad element; of a library how it differs
  // Seconds of one call of the function: of all its kernels together. None where it was not
  // measured.
  std::optional<store::Timing> timing;
  std::size_t kernels = 1;
  std::optional<provider::KernelResources> resources;  // of its first kernel, where they are known
  bool known = false;                                  // from the store
};

struct ProfileSpent {
  double load = 0, compile = 0, expected = 0, verify = 0, measure = 0, libraries = 0;  // seconds
};

// Each row is handed to `row` once it is known and stored, those of an operation in the file's
// order and its libraries' last. The context's build and device are set. Errors: the session was
// told to stop, or the machine fails; a dispatch that does not compile or run is a row.
Result<ProfileSpent> profile_dispatches(tune::Context& context, const ProfileOptions& options,
                                        const std::vector<SelectedOperation>& plan,
                                        const std::function<Status(const ProfileRow&)>& row);

}  // namespace hone::profiler
