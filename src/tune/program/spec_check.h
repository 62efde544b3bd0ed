// Checks what a tuning spec, or files of replacing kernels, do to a program. Of a spec: which
// dispatches each entry matches, whether it is applied to them, and whether the result compiles.
// Read from the compiler's IR with and without the spec, since its remarks about applied strategies
// are no proof. Of kernels: read from the program that is compiled with them, since the compiler
// takes them by name and reports nothing.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "problem/dispatch.h"
#include "provider/program_provider.h"
#include "provider/spec_writer.h"
#include "trial/compile_service.h"

namespace hone::tune {

enum class SpecEffect {
  kApplied,   // the dispatch is configured with what the entry says
  kShadowed,  // an entry before it matches too and comes first
  kIgnored,   // matched, and the dispatch is configured with something else
  kIllegal,   // the compiler refuses the dispatch with the spec, or dies
};
std::string_view name_of(SpecEffect effect);  // "applied", ...

// Effect of an entry on a dispatch that it matches.
struct SpecUse {
  std::size_t dispatch = 0;  // in CheckedSpec::program
  SpecEffect effect = SpecEffect::kApplied;
  bool changed = true;    // an applied one configures the dispatch otherwise than the compiler does
  std::string note = {};  // why; for an applied one whether anything is different for it
};

struct CheckedEntry {
  provider::jobs::SpecFileEntry entry;
  std::vector<provider::NamedText> says;  // of the configuration; texts are empty where it does not
  std::vector<SpecUse> uses;              // empty: it matches nothing of the program

  bool works() const;  // applied to something, and neither ignored nor illegal anywhere
};

struct CheckedSpec {
  problem::Program program;
  std::vector<CheckedEntry> entries;
  // Class of each dispatch of the program. No matcher of hone's tells the dispatches of a class
  // apart, so an entry for one is for all of them.
  std::vector<std::size_t> spec_class;
};

// `program_bytes` and `spec_bytes`: contents of the files, whose paths are for messages. Input
// error: the compiler does not accept one of them; the message has its words.
struct SpecCheckRequest {
  std::string program_path, program_bytes;
  std::filesystem::path spec_path;
  std::string spec_bytes;
  std::vector<std::string> flags;  // of the compiler
};
Result<CheckedSpec> check_spec(trial::CompileService& compiler, const provider::SpecWriter& specs,
                               const SpecCheckRequest& request);

enum class ReplacedEffect {
  kApplied,    // the compiled program holds the file's code
  kIgnored,    // it holds other code under that name
  kUnused,     // the program has no such executable under these flags
  kMisfit,     // it was made for a kernel that is launched in another way
  kUnreadable  // no file of hone's
};
std::string_view name_of(ReplacedEffect effect);  // "applied", ...

struct CheckedKernel {
  std::filesystem::path file;
  std::string dispatch;  // whose place the file says that it takes; empty where it cannot be read
  ReplacedEffect effect = ReplacedEffect::kApplied;
  std::string note;  // why
};

struct ReplacedCheckRequest {
  std::string program_path, program_bytes;
  std::filesystem::path folder;
  std::vector<std::string> flags;  // of the compiler, without that which names the folder
};

// Returns a row for each file NAME.mlir of the folder, sorted by name. Files that do not fit are
// kept from the compile, which may crash with them. Errors: input for a folder without such files,
// and for a program that the compiler does not accept; failure if it does not compile with the
// other files.
Result<std::vector<CheckedKernel>> check_replaced(trial::CompileService& compiler,
                                                  const provider::ProgramProvider& provider,
                                                  const ReplacedCheckRequest& request);

}  // namespace hone::tune
