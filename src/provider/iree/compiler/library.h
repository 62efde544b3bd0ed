// Finds IREE's installation, opens its compiler as a shared library, and runs Python beside it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/process.h"
#include "base/result.h"
#include "provider/iree/compiler/c_api.h"

namespace hone::iree {

// Files of one installation of the wheels iree-base-compiler and iree-base-runtime. The tools are
// the native programs inside the wheels, not the Python wrappers, which add 0.1 s to each start.
// The runtime's tools may also lie beside a libIREECompiler.so that was copied without its wheel. A
// tool that is not installed is an empty path.
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

// Searches for an installation, in this order:
// - `given`, if not empty: libIREECompiler.so itself, a virtual environment or a site-packages
//   folder;
// - the environment variable HONE_IREE (likewise);
// - python_environments(): hone's own environment, `.venv`;
// - the site-packages of the `python3` on PATH;
// - the user's site-packages in ~/.local.
// The first two must name an installation if they are set. Environment errors: no installation (the
// error says how to get one), or one older than 3.13.
Result<Installation> find_installation(const std::string& given = {});

// Searches the same places, but those of `given`, for the runtime's tools alone. Its paths are empty
// where there are none.
Installation find_runtime();

// libIREECompiler, opened once per process and never closed: LLVM cannot be unloaded. Copies share
// it. Not thread-safe: two sessions started at the same time in two threads race inside the
// compiler, so hone uses one thread per process that compiles.
class CompilerLibrary {
 public:
  // Environment errors: the file cannot be opened, a symbol is missing (named), too old.
  static Result<CompilerLibrary> open(const Installation& installation);

  const CApi& api() const { return *api_; }
  const Installation& installation() const { return *installation_; }
  // The compiler's own name for itself: "3.13.0rc20261016 @ 89ece87..."; part of the build
  // identity.
  const std::string& revision() const { return *revision_; }
  // Sets flags that a session refuses because LLVM keeps one value of them per process. Every
  // session of the process then compiles with them. Setting equal flags again is accepted. Failure
  // if the process already has others: use one process per set. The compiler ends the process over
  // an unknown flag.
  Status set_process_flags(const std::vector<std::string>& flags) const;
  const std::vector<std::string>& process_flags() const { return *process_flags_; }
  // Whether the compiler has an option of this name ("iree-opt-level"), of a session or of the
  // process. It searches the library for the name as terminated text.
  bool has_option(std::string_view name) const;
  // Allows several threads in later sessions of this copy that may have them (Threads). The
  // compiler's threads outlive a session. A fork of their process lacks them, so a compile there
  // would wait for ever.
  void allow_threads() { allows_threads_ = true; }
  bool allows_threads() const { return allows_threads_; }
  // Whether the compiler's linker runs in a fork of this process (in_process_linker.h).
  bool links_in_process() const { return links_in_process_; }

 private:
  CompilerLibrary() = default;
  std::shared_ptr<const CApi> api_;
  std::shared_ptr<const Installation> installation_;
  std::shared_ptr<const std::string> revision_;
  std::shared_ptr<std::vector<std::string>> process_flags_;
  bool links_in_process_ = false;
  bool allows_threads_ = false;
};

// Runs Python with `arguments` so that it finds what lies in the site-packages folder `packages`:
// the interpreter of the environment that the folder is of (<prefix>/lib/python3.*/site-packages),
// or, where the folder is of none, `python3` of PATH with the folder on its path.
Command python_of(const std::filesystem::path& packages, std::vector<std::string> arguments);

// Likewise runs the file of this name in python_sources(), which must have it.
Command python_of(const std::filesystem::path& packages, std::string_view file,
                  std::vector<std::string> arguments);

// The Python that hone runs with IREE's wheels, part of the binary. The files of
// src/provider/iree/compiler/python: import_onnx.py, resident_programs.py.
std::span<const EmbeddedFile> python_sources();

}  // namespace hone::iree
