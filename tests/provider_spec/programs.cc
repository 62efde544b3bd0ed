#include "tests/provider_spec/programs.h"

#include <algorithm>
#include <array>
#include <regex>

#include "base/file.h"
#include "base/process.h"
#include "provider/iree/compiler/library.h"
#include "tests/provider/contractions.h"

namespace hone::iree {
namespace {

using problem::ElementType;
using problem::LoopRole;

ElementType element(const std::string& name) {
  return *problem::element_type_from(name);
}

std::string tensor(std::initializer_list<std::int64_t> shape, const std::string& type) {
  return fmt::format("tensor<{}x{}>", fmt::join(shape, "x"), type);
}

problem::Operation matmul_operation(std::int64_t m, std::int64_t n, std::int64_t k, ElementType in,
                                    ElementType out, bool ta, bool tb) {
  using Shape = std::vector<std::int64_t>;
  using Loops = std::vector<int>;
  problem::Operation root;
  root.kind = problem::OperationKind::kMatmul;
  root.name = "linalg.matmul";
  root.loops = {{false, m, LoopRole::kM}, {false, n, LoopRole::kN}, {true, k, LoopRole::kK}};
  root.operands = {{{in, ta ? Shape{k, m} : Shape{m, k}}, ta ? Loops{2, 0} : Loops{0, 2}, false},
                   {{in, tb ? Shape{n, k} : Shape{k, n}}, tb ? Loops{1, 2} : Loops{2, 1}, false},
                   {{out, {m, n}}, {0, 1}, true}};
  return root;
}

std::string zero_fill(const std::string& type, const std::string& out) {
  return fmt::format(
      "  %zero = arith.constant 0.0 : {1}\n"
      "  %empty = tensor.empty() : {0}\n"
      "  %fill = linalg.fill ins(%zero : {1}) outs(%empty : {0}) -> {0}\n",
      out, type);
}

// A function that fills, multiplies and adds up over loops called `loops`, each operand indexed by
// some of them, the last loop summed.
std::string generic_product(const std::string& loops, const std::array<std::string, 3>& indices,
                            const std::array<std::string, 3>& types) {
  std::string maps, iterators;
  for (const std::string& index : indices)
    maps += fmt::format("{}affine_map<({}) -> ({})>", maps.empty() ? "" : ", ", loops, index);
  for (auto parallel = std::ranges::count(loops, ','); parallel > 0; --parallel)
    iterators += "\"parallel\", ";
  return fmt::format(
      "func.func @main(%a: {0}, %b: {1}) -> {2} {{\n"
      "{3}"
      "  %c = linalg.generic {{indexing_maps = [{4}],\n"
      "      iterator_types = [{5}\"reduction\"]}}\n"
      "      ins(%a, %b : {0}, {1}) outs(%fill : {2}) {{\n"
      "  ^bb0(%x: f32, %y: f32, %z: f32):\n"
      "    %1 = arith.mulf %x, %y : f32\n"
      "    %2 = arith.addf %z, %1 : f32\n"
      "    linalg.yield %2 : f32 }} -> {2}\n"
      "  return %c : {2}\n}}\n",
      types[0], types[1], types[2], zero_fill("f32", types[2]), maps, iterators);
}

}  // namespace

ContractionProgram matmul_program(std::int64_t m, std::int64_t n, std::int64_t k,
                                  const std::string& input, const std::string& output) {
  const std::string a = tensor({m, k}, input), b = tensor({k, n}, input),
                    c = tensor({m, n}, output);
  return {fmt::format("matmul_{}x{}x{}_{}", m, n, k, input),
          fmt::format("func.func @main(%a: {0}, %b: {1}) -> {2} {{\n"
                      "{3}"
                      "  %c = linalg.matmul ins(%a, %b : {0}, {1}) outs(%fill : {2}) -> {2}\n"
                      "  return %c : {2}\n}}\n",
                      a, b, c, zero_fill(output, c)),
          matmul_operation(m, n, k, element(input), element(output), false, false)};
}

ContractionProgram transposed_program(std::int64_t m, std::int64_t n, std::int64_t k,
                                      bool transposed_a, bool transposed_b) {
  const std::string a = transposed_a ? tensor({k, m}, "f32") : tensor({m, k}, "f32"),
                    b = transposed_b ? tensor({n, k}, "f32") : tensor({k, n}, "f32"),
                    c = tensor({m, n}, "f32");
  return {
      fmt::format("matmul_{}{}", transposed_a ? "t" : "n", transposed_b ? "t" : "n"),
      fmt::format("func.func @main(%a: {0}, %b: {1}) -> {2} {{\n"
                  "{3}"
                  "  %c = linalg.matmul indexing_maps = [\n"
                  "    affine_map<(m, n, k) -> ({4})>, affine_map<(m, n, k) -> ({5})>,\n"
                  "    affine_map<(m, n, k) -> (m, n)>]\n"
                  "    ins(%a, %b : {0}, {1}) outs(%fill : {2}) -> {2}\n"
                  "  return %c : {2}\n}}\n",
                  a, b, c, zero_fill("f32", c), transposed_a ? "k, m" : "m, k",
                  transposed_b ? "n, k" : "k, n"),
      matmul_operation(m, n, k, ElementType::kF32, ElementType::kF32, transposed_a, transposed_b)};
}

ContractionProgram bias_gelu_program(std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::string a = tensor({m, k}, "f32"), b = tensor({k, n}, "f32"), c = tensor({m, n}, "f32"),
                    bias = tensor({n}, "f32");
  return {fmt::format("bias_gelu_{}x{}x{}", m, n, k),
          fmt::format("func.func @main(%a: {0}, %b: {1}, %bias: {4}) -> {2} {{\n"
                      "{3}"
                      "  %c = linalg.matmul ins(%a, %b : {0}, {1}) outs(%fill : {2}) -> {2}\n"
                      "  %half = arith.constant 0.5 : f32\n"
                      "  %one = arith.constant 1.0 : f32\n"
                      "  %rsqrt2 = arith.constant 0.70710678 : f32\n"
                      "  %d = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>,\n"
                      "      affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],\n"
                      "      iterator_types = [\"parallel\", \"parallel\"]}}\n"
                      "      ins(%c, %bias : {2}, {4}) outs(%empty : {2}) {{\n"
                      "  ^bb0(%x: f32, %y: f32, %z: f32):\n"
                      "    %1 = arith.addf %x, %y : f32\n"
                      "    %2 = arith.mulf %1, %rsqrt2 : f32\n"
                      "    %3 = math.erf %2 : f32\n"
                      "    %4 = arith.addf %3, %one : f32\n"
                      "    %5 = arith.mulf %1, %4 : f32\n"
                      "    %6 = arith.mulf %5, %half : f32\n"
                      "    linalg.yield %6 : f32 }} -> {2}\n"
                      "  return %d : {2}\n}}\n",
                      a, b, c, zero_fill("f32", c), bias),
          matmul_operation(m, n, k, ElementType::kF32, ElementType::kF32, false, false), true};
}

ContractionProgram batch_program(std::int64_t batch, std::int64_t m, std::int64_t n,
                                 std::int64_t k) {
  const std::string a = tensor({batch, m, k}, "f32"), b = tensor({batch, k, n}, "f32"),
                    c = tensor({batch, m, n}, "f32");
  problem::Operation root;
  root.kind = problem::OperationKind::kBatchMatmul;
  root.name = "linalg.generic";
  root.loops = {{false, batch, LoopRole::kBatch},
                {false, m, LoopRole::kM},
                {false, n, LoopRole::kN},
                {true, k, LoopRole::kK}};
  root.operands = {{{ElementType::kF32, {batch, m, k}}, {0, 1, 3}, false},
                   {{ElementType::kF32, {batch, k, n}}, {0, 3, 2}, false},
                   {{ElementType::kF32, {batch, m, n}}, {0, 1, 2}, true}};
  return {fmt::format("batch_{}x{}x{}x{}", batch, m, n, k),
          generic_product("b, m, n, k", {"b, m, k", "b, k, n", "b, m, n"}, {a, b, c}),
          std::move(root)};
}

ContractionProgram swapped_program(std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::string a = tensor({k, m}, "f32"), b = tensor({n, k}, "f32"), c = tensor({n, m}, "f32");
  return {fmt::format("swapped_{}x{}x{}", m, n, k),
          generic_product("n, m, k", {"k, m", "n, k", "n, m"}, {a, b, c}), swapped_matmul(m, n, k)};
}

ContractionProgram accumulating_program(std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::string a = tensor({m, k}, "f32"), b = tensor({k, n}, "f32"), c = tensor({m, n}, "f32");
  return {"accumulating",
          fmt::format("func.func @main(%a: {0}, %b: {1}, %c: {2}) -> {2} {{\n"
                      "  %d = linalg.matmul ins(%a, %b : {0}, {1}) outs(%c : {2}) -> {2}\n"
                      "  return %d : {2}\n}}\n",
                      a, b, c),
          matmul_operation(m, n, k, ElementType::kF32, ElementType::kF32, false, false)};
}

problem::CpuTarget avx512_target() {
  problem::CpuTarget target;
  target.cpu = "hand-filled";
  target.vector_bits = 512;
  target.vector_registers = 32;
  target.l1d_bytes = 48 * 1024;
  target.l2_bytes = 2048 * 1024;
  target.cores = 2;
  return target;
}

Result<Compiled> compile_with_spec(const std::string& program, const std::string& spec,
                                   const std::vector<std::string>& flags) {
  HONE_ASSIGN(const Installation installation, find_installation());
  HONE_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("hone-spec-test-"));
  const std::filesystem::path input = folder.path() / "program.mlir";
  HONE_TRY(write_file_atomically(input, program));
  Command command;
  command.arguments = {installation.iree_compile.string(),
                       input.string(),
                       "--iree-hal-target-device=local",
                       "--iree-hal-local-target-device-backends=llvm-cpu",
                       "--iree-llvmcpu-target-cpu=skylake-avx512",
                       "--compile-to=executable-targets",
                       "--iree-hal-dump-executable-configurations-to=" + folder.path().string(),
                       "-o",
                       (folder.path() / "out.mlir").string()};
  if (!spec.empty()) {
    HONE_TRY(write_file_atomically(folder.path() / "spec.mlir", spec));
    command.arguments.push_back("--iree-codegen-tuning-spec-path=" +
                                (folder.path() / "spec.mlir").string());
  }
  command.arguments.insert(command.arguments.end(), flags.begin(), flags.end());
  HONE_ASSIGN(ProcessResult ran, run_process(command, {.seconds = 60}));
  // iree-compile hung once in a thousand runs; the same command ends in two seconds.
  if (ran.timed_out) {
    HONE_ASSIGN(ran, run_process(command, {.seconds = 60}));
  }

  Compiled compiled;
  compiled.succeeded = ran.succeeded();
  compiled.words = ran.standard_error.text().substr(0, 2000);
  std::vector<std::filesystem::path> dumps;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (entry.path().filename().string().starts_with("configured_")) dumps.push_back(entry.path());
  std::sort(dumps.begin(), dumps.end());
  static const std::regex kLine(
      "((?:iree_linalg_ext|linalg)\\.\\w+).*lowering_config = "
      "(#iree_cpu\\.lowering_config<[^>]*>)");
  static const std::regex kInfo("translation_info = (#iree_codegen\\.translation_info<.*\\}?>)\\}");
  for (const std::filesystem::path& dump : dumps) {
    HONE_ASSIGN(const std::string text, read_file(dump));
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::string line = text.substr(begin, end - begin);
      begin = end + 1;
      if (line.size() > 4000) continue;  // target attributes; std::regex recurses per character
      std::smatch match;
      if (std::regex_search(line, match, kLine)) {
        const std::string config = match[2];
        if (match[1] == "linalg.fill") compiled.fill_configs.push_back(config);
        if (config.find("distribution") != std::string::npos)
          compiled.root_configs.push_back(config);
      }
      if (line.find("func.func") != std::string::npos && std::regex_search(line, match, kInfo))
        compiled.translation_infos.push_back(match[1]);
    }
  }
  return compiled;
}

}  // namespace hone::iree
