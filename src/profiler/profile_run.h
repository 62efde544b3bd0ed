// Verifies and measures the dispatches of a tree. Each is checked against its operation's name, and
// measured beside the operation's other configurations and vendors' libraries. Results that the
// store has for this build and device are not repeated.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "profiler/dispatch_choice.h"
#include "provider/resources.h"
#include "tune/services/context.h"

namespace hone::profiler {

inline constexpr std::string_view kCompilersProvider = "IREE Codegen";

struct ProfileOptions {
  std::filesystem::path generated_dir = ".";
  bool verify = true, measure = true;
  bool libraries = true;      // --providers
  int repetitions = 5;        // samples of each kernel, at least
  std::size_t ahead = 64;     // dispatches that are compiled before one is measured
  std::size_t processes = 1;  // of the compiler, 1 at least
  int threads = 1;            // for expected results
};

enum class Verified { kNot, kSuccess, kFailed };

// Result of a dispatch by one provider.
struct ProfileRow {
  NamedOperation operation;
  std::string configuration;  // of a library: its algorithm
  std::string provider;       // kCompilersProvider, "OpenBLAS", "cuBLASLt"
  Verified verified = Verified::kNot;
  std::string message;  // why it failed, with its first bad element; of a library how it differs
  // Seconds of a call of the function, over all its kernels. None if it was not measured.
  std::optional<store::Timing> timing;
  std::size_t kernels = 1;
  std::optional<provider::KernelResources> resources;  // of its first kernel, where they are known
  bool known = false;                                  // from the store
};

struct ProfileSpent {
  double load = 0, compile = 0, expected = 0, verify = 0, measure = 0, libraries = 0;  // seconds
};

// Calls `row` for each row once it is known and stored: an operation's in the file's order, its
// libraries' last. The context's build and device are set. Errors: the session was told to stop, or
// the machine fails. A dispatch that does not compile or run is a row.
Result<ProfileSpent> profile_dispatches(tune::Context& context, const ProfileOptions& options,
                                        const std::vector<SelectedOperation>& plan,
                                        const std::function<Status(const ProfileRow&)>& row);

}  // namespace hone::profiler
