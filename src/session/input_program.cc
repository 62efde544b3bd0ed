#include "session/input_program.h"

#include <fmt/ranges.h>

#include <cstdio>
#include <fstream>

#include "base/file.h"
#include "base/hash.h"
#include "base/say.h"
#include "provider/iree/compiler/onnx_import.h"
#include "provider/iree/compiler/program_constants.h"
#include "session/program_parameters.h"

namespace hone::session {
namespace {

namespace fs = std::filesystem;

// Returns the first line of an imported program. It records the source, so that a later command can
// tell whether an import would give the same program.
std::string mark_of(const Toolchain& toolchain, const std::string& given,
                    const std::string& model) {
  return fmt::format(
      "// hone: imported from {} ({}) with its names by iree-import-onnx of {}, opset {} or later",
      fs::path(given).filename().string(), content_hash(model), toolchain.installation().version,
      iree::kOnnxOpset);
}

std::string first_line_of(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

// Returns whether the model has weights in files beside it. Its own bytes do not show a change of
// those.
bool has_files_beside_it(const std::string& model) {
  return model.find("\x0a\x08location") != std::string::npos;
}

// Size of a model (bytes) above which weights stay out of the program. As text they would take
// twice the room, in each compile.
constexpr std::uintmax_t kLargestWithWeights = std::uintmax_t{256} << 20;

// Returns the model's bytes and those of its external weights: files in its folder whose names the
// model mentions.
std::uintmax_t bytes_with_weights(const fs::path& given, const std::string& model) {
  std::uintmax_t bytes = model.size();
  if (!has_files_beside_it(model)) return bytes;
  std::error_code code;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::absolute(given).parent_path(), code))
    if (entry.is_regular_file(code) && entry.path().filename() != given.filename() &&
        model.find(entry.path().filename().string()) != std::string::npos)
      bytes += entry.file_size(code);
  return bytes;
}

Result<InputProgram> imported(const std::string& given, const Toolchain& toolchain,
                              const fs::path& into) {
  HONE_ASSIGN(const std::string model, read_file(given));
  const std::string mark = mark_of(toolchain, given, model);
  const fs::path stem = into / fs::path(given).stem();
  InputProgram program{stem.string() + ".mlir", {}};
  fs::path weights;
  const std::uintmax_t bytes = bytes_with_weights(given, model);
  if (bytes > kLargestWithWeights) {
    weights = stem.string() + ".irpa";
    program.runtime_flags.push_back(
        fmt::format("--parameters={}={}", iree::kOnnxScope, weights.string()));
  }
  std::error_code code;
  const bool is_there =
      first_line_of(program.path) == mark && (weights.empty() || fs::exists(weights, code));
  if (is_there && !has_files_beside_it(model)) return program;
  fs::remove(program.path, code);  // weights of another import must not be taken for its own
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-import-"));
  const fs::path text = folder.path() / "program.mlir";
  HONE_ASSIGN(const iree::SizeNames names, iree::import_onnx(toolchain.installation(), given, text,
                                                             weights, bytes, toolchain.stop_fd()));
  HONE_ASSIGN(std::string mlir, read_file(text));
  mlir.insert(0, mark + "\n" + iree::comment_of(names));
  HONE_TRY(write_file_atomically(program.path, mlir));
  return program;
}

// MLIR never begins with a bracket, except for "{-#" of its resources.
bool is_json(const std::string& bytes) {
  const auto first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return false;
  return bytes[first] == '[' || (bytes[first] == '{' && bytes.compare(first, 3, "{-#") != 0);
}

constexpr std::uint64_t kSeedOfConstants = 42;

Status fill(InputProgram& program, const fs::path& into) {
  iree::FilledProgram filled = iree::with_contents(
      program.bytes,
      [](const problem::TensorType& type) { return random_content(type, kSeedOfConstants); });
  if (filled.constants == 0) return {};
  const fs::path path = into / (fs::path(program.path).stem().string() + "_with_constants.mlir");
  HONE_TRY(write_file_atomically(path, filled.text));
  program.notes.push_back(fmt::format(
      "'{}' was printed without {} of its constants (dense_resource<__elided__>): random numbers, "
      "zeros for integers, stand for them",
      program.path, filled.constants));
  program.path = path.string();
  program.bytes = std::move(filled.text);
  return {};
}

}  // namespace

Result<InputProgram> read_program(const std::string& given, const Toolchain& toolchain,
                                  const fs::path& folder) {
  const fs::path into = folder.empty() ? fs::temp_directory_path() : folder;
  InputProgram program{given, {}};
  if (fs::path(given).extension() == ".onnx") {
    HONE_ASSIGN(program, imported(given, toolchain, into));
  }
  HONE_ASSIGN(program.bytes, read_file(program.path));
  if (is_json(program.bytes))
    return input_error("'{}' is JSON, and no program; hone takes {}", given, kProgramFiles);
  if (iree::has_elided_constants(program.bytes)) HONE_TRY(fill(program, into));
  if (!folder.empty() && program.path != given)
    program.notes.push_back(fmt::format("the spec and the flags are for {}, which was made of {}",
                                        program.path, given));
  return program;
}

Status make_weights_opaque(InputProgram& program, const fs::path& folder) {
  iree::OpaqueProgram opaque = iree::with_opaque_weights(program.bytes);
  if (opaque.folded > 0)
    program.notes.push_back(
        fmt::format("weights folded: {} constants of integers of '{}' have one value each, which "
                    "the compiler folds into kernels; the times are not those of real weights",
                    opaque.folded, program.path));
  if (opaque.weights == 0) return {};
  const std::string stem = (folder / fs::path(program.path).stem()).string();
  const std::string weights = stem + "_weights.safetensors";
  HONE_TRY(write_random_parameters(iree::parameters_in(opaque.text), weights, kSeedOfConstants));
  program.notes.push_back(fmt::format(
      "{} weights of '{}' have one value each, which the compiler would fold into kernels: random "
      "numbers stand for them",
      opaque.weights, program.path));
  program.runtime_flags.push_back(fmt::format("--parameters={}={}", iree::kWeightScope, weights));
  program.path = stem + "_with_weights.mlir";
  program.bytes = std::move(opaque.text);
  return write_file_atomically(program.path, program.bytes);
}

void print_notes_of(const InputProgram& program) {
  for (const std::string& note : program.notes) say("{}\n", note);
}

}  // namespace hone::session
