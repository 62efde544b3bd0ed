// Finds IREE's installation, and opens its compiler as a shared library.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "provider/iree/compiler/c_api.h"

namespace hone::iree {

// Files of one installation of the wheels iree-base-compiler and iree-base-runtime. The tools are
// the native programs inside the wheels, not the Python wrappers (which add 0.1 s each start); the
// runtime's may also lie beside libIREECompiler.so, where that was copied without its wheel. A tool
// that is not installed is an empty path.
struct Installation {
  std::filesystem::path compiler_library;      // libIREECompiler.so
  std::filesystem::path iree_compile;          // beside it
  std::filesystem::path iree_lld;              // beside it
  std::filesystem::path benchmark_module;      // iree-benchmark-module
  std::filesystem::path benchmark_executable;  // iree-benchmark-executable
  std::filesystem::path run_module;            // iree-run-module
  std::filesystem::path dump_module;           // iree-dump-module
  std::string version;                         // "3.13.0rc20261016", from the wheel's version.py
};

// Looks, in this order, at: `given` (when not empty: libIREECompiler.so itself, a virtual
// environment or a site-packages folder); the environment variable HONE_IREE (the same); what
// python_environments() lists (where hone itself is installed, `.venv`); the site-packages of the
// `python3` on PATH; those of the user in ~/.local. The first two must name an installation when
// they are set. Environment errors: nothing found (says how to get it), older than 3.13.
Result<Installation> find_installation(const std::string& given = {});

// libIREECompiler, opened once per process and never closed: LLVM cannot be unloaded. Copies share
// it. Not thread-safe: two sessions started at the same time in two threads race inside the
// compiler, so hone uses one thread per process that compiles.
class Library {
 public:
  // Environment errors: the file cannot be opened, a symbol is missing (named), too old.
  static Result<Library> open(const Installation& installation);

  const CApi& api() const { return *api_; }
  const Installation& installation() const { return *installation_; }
  // The compiler's own name for itself: "3.13.0rc20261016 @ 89ece87..."; part of the build
  // identity.
  const std::string& revision() const { return *revision_; }
  // Sets flags that a session refuses since LLVM keeps one value of them per process; every session
  // of the process then compiles with them, and none can without. Setting equal flags again is
  // accepted. Failure when the process has others already: use one process per set. The compiler
  // ends the process over a flag that it does not know.
  Status set_process_flags(const std::vector<std::string>& flags) const;
  const std::vector<std::string>& process_flags() const { return *process_flags_; }
  // Whether the compiler has an option of this name ("iree-opt-level"), of a session or of the
  // process: its library holds the name, as text that ends there.
  bool has_option(std::string_view name) const;
  // From now on sessions of this copy that may have several threads (Threads) have them. The
  // compiler's threads stay when a session ends, and a fork of their process lacks them: a compile
  // there would wait for ever.
  void allow_threads() { allows_threads_ = true; }
  bool allows_threads() const { return allows_threads_; }
  // Whether the compiler's linker runs in a fork of this process (in_process_linker.h).
  bool links_in_process() const { return links_in_process_; }

 private:
  Library() = default;
  std::shared_ptr<const CApi> api_;
  std::shared_ptr<const Installation> installation_;
  std::shared_ptr<const std::string> revision_;
  std::shared_ptr<std::vector<std::string>> process_flags_;
  bool links_in_process_ = false;
  bool allows_threads_ = false;
};

}  // namespace hone::iree
