// The real compiler for tests. Without it they fail: a run that skipped them would say nothing.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "provider/iree/compiler/library.h"
#include "provider/iree/program/prepared_dispatch.h"
#include "provider/iree/program/program.h"

namespace hone::iree {

// HONE_IREE, or .venv in the source folder.
inline CompilerLibrary compiler() {
  const bool named = std::getenv("HONE_IREE") != nullptr;
  const auto installation = find_installation(named ? "" : HONE_SOURCE_DIR "/.venv");
  if (!installation) throw std::runtime_error(installation.error().message);
  const auto library = CompilerLibrary::open(*installation);
  if (!library) throw std::runtime_error(library.error().message);
  return *library;
}

inline std::string example(const std::string& name) {
  return read_file(std::string(HONE_SOURCE_DIR "/examples/") + name).value();
}

// For a CPU with 512-bit vectors, whatever this machine has: what tests compile here is looked at
// and not run.
inline std::vector<std::string> avx512_flags() {
  std::vector<std::string> flags = host_cpu_flags();
  flags.back() = "--iree-llvmcpu-target-cpu=skylake-avx512";
  return flags;
}

inline problem::Program load(const std::string& name, const std::string& text,
                             const std::vector<std::string>& flags = avx512_flags()) {
  auto program = load_program(compiler(), name, text, flags);
  if (!program) throw std::runtime_error(program.error().message);
  return std::move(*program);
}

inline PreparedDispatch prepare(const problem::Dispatch& dispatch) {
  auto prepared = PreparedDispatch::create(compiler(), dispatch.source, avx512_flags());
  if (!prepared) throw std::runtime_error(prepared.error().message);
  return std::move(*prepared);
}

inline constexpr char kDoubleTiling[] =
    "#iree_codegen.translation_info<pipeline = #iree_cpu.pipeline<DoubleTilingExpert>>";

}  // namespace hone::iree
