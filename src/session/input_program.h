// The file that a command is given as a program, as one that IREE's compiler takes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "session/toolchain.h"

namespace hone::session {

// What commands say of the files they take.
inline constexpr char kProgramFiles[] = "program (.mlir, .mlirbc, .onnx) or *_benchmark.mlir";

struct InputProgram {
  std::string path;
  std::string bytes;                    // of the file there
  std::vector<std::string> notes = {};  // what a user should know of it
  // What the runtime needs for its weights ("--parameters=model=out/m.irpa").
  std::vector<std::string> runtime_flags = {};
};

// The program itself; of an ONNX model the program imported from it, which is in `folder` then,
// under the model's name: one that was imported there from the same bytes is left as it is. The
// weights of a large model become a file of parameters beside it. Of one
// that was printed without its large constants the same with random ones, there too. No folder: the
// command's own temporary one, for as long as it runs. Errors:
// iree::import_onnx's; the file cannot be read or written.
Result<InputProgram> read_program(const std::string& given, const Toolchain& toolchain,
                                  const std::filesystem::path& folder = {});

// Replaces weights that have one value each by parameters of random numbers (splat_weights.h), for
// what is tuned must read its weights as a model in use does. The program and the file of numbers
// are in `folder` then. Flags and specs that are found for it work for the program as given too.
// Errors: a file that cannot be written.
Status make_weights_opaque(InputProgram& program, const std::filesystem::path& folder);

// The notes on stderr, one in each line.
void print_notes_of(const InputProgram& program);

}  // namespace hone::session
