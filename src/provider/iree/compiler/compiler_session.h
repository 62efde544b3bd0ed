// A compiler session (one MLIR context and one set of flags) and one run of the compiler in it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/ir.h"
#include "provider/iree/compiler/library.h"

namespace hone::iree {

// Phases of IREE's pipeline, by the compiler's names (--compile-to).
inline constexpr char kStart[] = "start";
inline constexpr char kInput[] = "input";
inline constexpr char kPreprocessing[] = "preprocessing";
inline constexpr char kFlow[] = "flow";
inline constexpr char kStream[] = "stream";
inline constexpr char kExecutableSources[] = "executable-sources";
inline constexpr char kExecutableConfigurations[] = "executable-configurations";
inline constexpr char kExecutableTargets[] = "executable-targets";
inline constexpr char kHal[] = "hal";
inline constexpr char kEnd[] = "end";

// The flag that passes a tuning spec for CUDA (IREE 3.13).
inline constexpr std::string_view kTransformLibraryFlag =
    "--iree-codegen-transform-dialect-library=";
// Makes the compiler substitute files for executables of the program; a flag of the process too.
inline constexpr std::string_view kReplacedFlag = "--iree-hal-substitute-executable-sources-from=";

// Threads of MLIR. A process that forks, such as a server of candidates, must have one thread. kAll
// compiles a whole program with all threads, as iree-compile does. It takes effect only after
// CompilerLibrary::allow_threads() and if no flag names a spec.
enum class Threads { kOne, kAll };

class CompilerSession {
 public:
  // A flag that LLVM keeps per process (--iree-codegen-transform-dialect-library) may be among
  // them, see CompilerLibrary::set_process_flags. Input error with the compiler's words for a flag
  // it does not know and for a pass pipeline that it would leave out.
  static Result<CompilerSession> create(const CompilerLibrary& library,
                                        const std::vector<std::string>& flags,
                                        Threads threads = Threads::kOne);
  CompilerSession(CompilerSession&& other) noexcept;
  CompilerSession& operator=(CompilerSession&& other) noexcept;
  ~CompilerSession();

  const CApi& api() const { return library_.api(); }
  Session_t* get() const { return session_; }
  MlirContext context() const { return api().ireeCompilerSessionBorrowContext(session_); }
  // Copies a source, with a terminating zero, into memory that lives as long as the session.
  const char* keep(std::string_view bytes) const;

 private:
  class Sources;
  CompilerSession(CompilerLibrary library, Session_t* session);
  static Result<CompilerSession> checked(CompilerSession session,
                                         const std::vector<std::string>& flags, Threads threads);
  CompilerLibrary library_;
  Session_t* session_;
  std::unique_ptr<Sources> sources_;
};

// A module on its way through the compiler. The session must outlive it; a session runs one
// invocation at a time. Functions return false on a compiler error; diagnostics() then holds its
// words.
class Invocation {
 public:
  explicit Invocation(const CompilerSession& session);
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;
  ~Invocation();

  // `name` stands for the file in diagnostics.
  bool parse(const std::string& name, std::string_view bytes);
  bool import(OwnedModule module);
  // Runs the passes after phase `from` up to the end of phase `to`, in place: handles to operations
  // outside what the passes rewrite stay valid.
  bool run(const char* from, const char* to);
  // Runs passes on the module by their names: "a,b".
  bool run_passes(const char* pipeline);
  // Whether the IR is verified after each pass, as it is unless told otherwise.
  void verify_passes(bool enable);
  // Takes the module out, for other invocations.
  OwnedModule take_module();

  // The module's serialised forms; the compiler's words as the error text (kInput).
  Result<std::string> vm_bytecode();
  Result<std::string> executable();  // of the only hal.executable, after phase hal
  // MLIR's, after any phase: bytecode, or text where a constant is a dense_resource.
  Result<std::string> ir();

  // Errors with their notes, one per line, with the compiler's words and places, without warnings
  // and remarks.
  std::string diagnostics() const;

 private:
  using OutputFunction = std::function<Error_t*(Invocation_t*, Output_t*)>;
  Result<std::string> output(const OutputFunction& write);

  const CompilerSession& session_;
  Invocation_t* invocation_;
  std::unique_ptr<std::string> diagnostics_;  // the callback holds its address
};

// Why the compiler refused a candidate, in a few words.

// Puts a reason in one line before the compiler's own words `diagnostics`:
//   "stack 49152 B, limit 32768 B", "shared memory 426496 B, limit 166912 B",
//   "vectors of more than 32768 B",
//   "no vector layout: the compiler cannot distribute it over threads".
// For any other reason, returns the compiler's words without the place ("dispatch:16:9: ") in
// hone's own source of a dispatch, which users do not have.
std::string with_reason(std::string_view diagnostics);

// The relevant line of the messages of a whole-program compile: a reason as above, the linker's
// missing symbol ("undefined symbol: log10f"), or the first diagnostic.
std::string reason_in_program(std::string_view message);

}  // namespace hone::iree
