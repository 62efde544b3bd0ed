// Input of a command: turns the given file into a program that IREE's compiler takes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "session/toolchain.h"

namespace hone::session {

// Names the files that commands take, for help texts.
inline constexpr char kProgramFiles[] = "program (.mlir, .mlirbc, .onnx) or *_benchmark.mlir";

struct InputProgram {
  std::string path;
  std::string bytes;                    // of the file there
  std::vector<std::string> notes = {};  // what a user should know of it
  // Runtime flags for the weights ("--parameters=model=out/m.irpa").
  std::vector<std::string> runtime_flags = {};
};

// Reads the program in `given`.
// - An ONNX model is imported into `folder`, under the model's name. An earlier import of the same
//   bytes is reused. The weights of a large model go to a parameter file beside the program.
// - A program that was printed without its large constants gets random ones; it is written to
//   `folder` too.
// Without `folder`, the command's temporary folder is used, which lasts as long as the command.
// Errors: those of iree::import_onnx; a file that cannot be read or written.
Result<InputProgram> read_program(const std::string& given, const Toolchain& toolchain,
                                  const std::filesystem::path& folder = {});

// Replaces splat weights (one value each) by parameters of random numbers (program_constants.h): a
// tuned program must read its weights as a model in use does. The program and the parameter file
// are then in `folder`. Flags and specs found for it also work for the given program. Errors: a
// file that cannot be written.
Status make_weights_opaque(InputProgram& program, const std::filesystem::path& folder);

// Prints the notes to stderr, one a line.
void print_notes_of(const InputProgram& program);

}  // namespace hone::session
