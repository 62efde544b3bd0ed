#include "provider/triton/emitted_gemm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "provider/triton/gemm.h"

namespace hone::triton {
namespace {

// Names by the value of STRUCTURE, as in python/structures.py.
constexpr std::array<std::string_view, 5> kStructures{
    "blocked", "split-K, atomic", "split-K, two passes", "stream-K", "persistent"};

constexpr std::string_view kHead = R"(import triton

# (M, N, K, types of A, B, C, A by rows, B by rows, batch, type of the bias or "", tf32):
#   (constants of the kernel, options of the compiler, structure of the kernel, microseconds or None)
_FOUND = {
)";

constexpr std::string_view kTail = R"(}


def lookup(m, n, k, a="fp16", b=None, c=None, a_rows=True, b_rows=True, batch=1, bias="", tf32=False, names=None):
    """The triton.Config for a GEMM, or None for one that was not tuned. `b` and `c`: as `a` where they are not
    given. `names`: what the kernel calls its constants, {"BLOCK_SIZE_M": "BLOCK_M", "SPLIT_K": None} (None: it has
    no such one)."""
    found = _FOUND.get(_key(m, n, k, a, b, c, a_rows, b_rows, batch, bias, tf32))
    return None if found is None else _config(found, names)


def structure(m, n, k, a="fp16", b=None, c=None, a_rows=True, b_rows=True, batch=1, bias="", tf32=False):
    """Which kernel the configuration is for, or None: a persistent kernel's is seldom a blocked one's best."""
    found = _FOUND.get(_key(m, n, k, a, b, c, a_rows, b_rows, batch, bias, tf32))
    return None if found is None else found[2]


def configs(structure=None, names=None):
    """Each configuration once, for triton.autotune(configs=...); only those of kernels of `structure`."""
    wanted = [found for found in _FOUND.values() if structure in (None, found[2])]
    different = {repr(found[:2]): found for found in wanted}
    return [_config(found, names) for found in different.values()]


def _key(m, n, k, a, b, c, a_rows, b_rows, batch, bias, tf32):
    return (m, n, k, a, b or a, c or a, bool(a_rows), bool(b_rows), batch, bias or "", bool(tf32))


def _config(found, names):
    names = names or {}
    constants = {names.get(name, name): value for name, value in found[0].items()}
    constants.pop(None, None)
    return triton.Config(constants, **found[1])
)";

std::string_view truth(bool value) {
  return value ? "True" : "False";
}

std::string key_of(const Gemm& gemm) {
  return fmt::format("({}, {}, {}, \"{}\", \"{}\", \"{}\", {}, {}, {}, \"{}\", {})", gemm.m, gemm.n,
                     gemm.k, tune_gemm_name_of(gemm.a), tune_gemm_name_of(gemm.b),
                     tune_gemm_name_of(gemm.c), truth(gemm.a_rows), truth(gemm.b_rows), gemm.batch,
                     gemm.bias ? tune_gemm_name_of(*gemm.bias) : "", truth(gemm.tf32));
}

std::string dictionary(const EmittedGemm& gemm, std::initializer_list<std::string_view> keys) {
  std::string text;
  for (const std::string_view key : keys)
    if (const auto found = gemm.entry.configuration.find(std::string(key));
        found != gemm.entry.configuration.end())
      text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ", ", key, found->second);
  return "{" + text + "}";
}

std::string_view structure_of(const EmittedGemm& gemm) {
  const auto knobs = knobs_of(gemm.entry.gemm, gemm.entry.configuration);
  const auto index = knobs ? static_cast<std::size_t>(knobs->at("STRUCTURE")) : kStructures.size();
  return index < kStructures.size() ? kStructures[index] : "unknown";
}

}  // namespace

std::string python_module(const std::vector<EmittedGemm>& gemms, std::string_view made) {
  std::string text = fmt::format(
      "\"\"\"GEMM configurations that hone found: {}. Needs Triton and nothing else.\n\n"
      "    config = lookup(M, N, K, \"fp16\")   # a triton.Config, or None\n"
      "    triton.autotune(configs=configs(), key=[\"M\", \"N\", \"K\"])\n\"\"\"\n",
      made);
  text += kHead;
  for (const EmittedGemm& gemm : gemms) {
    const bool amd = gemm.format == "rocm-hsaco";
    const std::string constants =
        amd ? dictionary(gemm, {"BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M",
                                "SPLIT_K", "waves_per_eu", "matrix_instr_nonkdim", "kpack"})
            : dictionary(gemm, {"BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M",
                                "SPLIT_K"});
    text +=
        fmt::format("    {}: (\n        {},\n        {}, \"{}\", {}),\n", key_of(gemm.entry.gemm),
                    constants, dictionary(gemm, {"num_warps", "num_stages"}), structure_of(gemm),
                    gemm.seconds ? fmt::format("{:.2f}", *gemm.seconds * 1e6) : "None");
  }
  text += kTail;
  return text;
}

namespace {

using problem::Launch;
using problem::LaunchArgument;

// Shared memory that a kernel may use without requesting it.
constexpr std::uint32_t kPlainSharedBytes = 48 << 10;

// Names in which the two driver APIs differ; all else is equal.
struct Api {
  std::string_view header, result, success, pointer, stream, module, function;
  std::string_view load, unload, find, launch;
};
constexpr Api kCuda{"#include <cuda.h>",   "CUresult",      "CUDA_SUCCESS",
                    "CUdeviceptr",         "CUstream",      "CUmodule",
                    "CUfunction",          "cuModuleLoad",  "cuModuleUnload",
                    "cuModuleGetFunction", "cuLaunchKernel"};
constexpr Api kHip{
    "#ifndef __HIP_PLATFORM_AMD__\n#define __HIP_PLATFORM_AMD__ 1\n#endif\n"
    "#include <hip/hip_runtime_api.h>",
    "hipError_t",
    "hipSuccess",
    "hipDeviceptr_t",
    "hipStream_t",
    "hipModule_t",
    "hipFunction_t",
    "hipModuleLoad",
    "hipModuleUnload",
    "hipModuleGetFunction",
    "hipModuleLaunchKernel"};

std::vector<std::string> bindings_of(const Gemm& gemm) {
  if (gemm.bias) return {"a", "b", "bias", "c"};
  return {"a", "b", "c"};
}

template <class Values>
std::string list(const Values& values, std::string_view quote = "") {
  std::string text;
  for (const auto& value : values)
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", quote, value, quote);
  return text;
}

// Launch arguments of one kernel: their declarations and addresses.
class Arguments {
 public:
  Arguments(const EmittedGemm& gemm, const Api& api)
      : bindings_(bindings_of(gemm.entry.gemm)), api_(api) {}

  Status add(const LaunchArgument& argument) {
    using Kind = LaunchArgument::Kind;
    const auto binding = static_cast<std::size_t>(argument.binding);
    if (argument.kind != Kind::kInteger && argument.kind != Kind::kScratch &&
        binding >= bindings_.size())
      return input_error("the kernel asks for operand {} of {}", binding, bindings_.size());
    switch (argument.kind) {
      case Kind::kBinding:
        addresses_.push_back("&" + bindings_[binding]);
        break;
      case Kind::kScratch:
        declare(api_.pointer,
                fmt::format("({})((uintptr_t)scratch + {})", api_.pointer, argument.value));
        break;
      case Kind::kInteger:
        declare("int32_t", std::to_string(argument.value));
        break;
      case Kind::kTensorMap:
        if (&api_ != &kCuda) return input_error("tensor maps are NVIDIA's");
        add_map(argument.map, bindings_[binding]);
    }
    return {};
  }
  void add_hidden() { declare(api_.pointer, "0"); }

  const std::string& declarations() const { return declarations_; }
  const std::vector<std::string>& addresses() const { return addresses_; }

 private:
  void declare(std::string_view type, const std::string& value) {
    const std::string name = fmt::format("x{}", addresses_.size());
    declarations_ += fmt::format("    {} {} = {};\n", type, name, value);
    addresses_.push_back("&" + name);
  }

  // Encodes the descriptor as device/gpu/kernel.cc does: the innermost dimension first,
  // L2 promotion to 128 bytes, and zeros outside. Triton's own launcher asks for the same.
  void add_map(const problem::TensorMap& map, const std::string& operand) {
    const std::string name = fmt::format("x{}", addresses_.size());
    const std::vector<std::int64_t> shape(map.shape.rbegin(), map.shape.rend());
    const std::vector<std::int64_t> box(map.box.rbegin(), map.box.rend());
    const std::vector<int> ones(shape.size(), 1);
    std::vector<std::int64_t> strides;
    for (std::size_t i = map.strides.size(); i-- > 1;)
      strides.push_back(map.strides[i - 1] * map.element_bytes);
    declarations_ += fmt::format(
        "    CUtensorMap {0};\n"
        "    const cuuint64_t {0}_shape[] = {{{1}}}, {0}_strides[] = {{{2}}};  /* bytes */\n"
        "    const cuuint32_t {0}_box[] = {{{3}}}, {0}_steps[] = {{{4}}};\n"
        "    code = cuTensorMapEncodeTiled(&{0}, (CUtensorMapDataType){5}, {6}, (void "
        "*)(uintptr_t){7},\n"
        "        {0}_shape, {0}_strides, {0}_box, {0}_steps, CU_TENSOR_MAP_INTERLEAVE_NONE,\n"
        "        (CUtensorMapSwizzle){8}, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, "
        "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);\n"
        "    if (code != CUDA_SUCCESS) return code;\n",
        name, list(shape), list(strides), list(box), list(ones), map.element_type, shape.size(),
        operand, map.swizzle);
    addresses_.push_back("&" + name);
    for (const std::int64_t extent : map.shape) declare("int32_t", std::to_string(extent));
    for (const std::int64_t stride : map.strides) declare("int64_t", std::to_string(stride));
  }

  std::vector<std::string> bindings_;
  const Api& api_;
  std::string declarations_;
  std::vector<std::string> addresses_;
};

Result<std::string> launch_text(const EmittedGemm& gemm, const Api& api, const Launch& launch,
                                std::size_t kernel) {
  if (launch.arguments.empty()) return input_error("its launch is none of a Triton kernel");
  Arguments arguments(gemm, api);
  for (const LaunchArgument& argument : launch.arguments) HONE_TRY(arguments.add(argument));
  for (int i = 0; i < launch.hidden_pointers; ++i) arguments.add_hidden();
  return fmt::format(
      "  {{\n{}    void *arguments[] = {{{}}};\n"
      "    code = {}(gemm->functions[{}], {}, {}, {}, stream, arguments, NULL);\n"
      "    if (code != {}) return code;\n  }}\n",
      arguments.declarations(), list(arguments.addresses()), api.launch, kernel, list(launch.grid),
      list(launch.block), launch.shared_bytes, api.success);
}

std::string describe(const Gemm& gemm, std::int64_t scratch) {
  const auto operand = [&](const char* name, problem::ElementType type, std::int64_t rows,
                           std::int64_t columns, bool by_rows) {
    return fmt::format("     {:5} {} x {}, {}, by {}\n", name, rows, columns,
                       problem::name_of(type), by_rows ? "rows" : "columns");
  };
  std::string text = operand("a", gemm.a, gemm.m, gemm.k, gemm.a_rows) +
                     operand("b", gemm.b, gemm.k, gemm.n, gemm.b_rows);
  if (gemm.bias)
    text += fmt::format("     {:5} {}, {}\n", "bias", gemm.n, problem::name_of(*gemm.bias));
  text += operand("c", gemm.c, gemm.m, gemm.n, gemm.c_rows);
  if (gemm.batch != 1)
    text += fmt::format("     each of {} matrices, one behind the other\n", gemm.batch);
  if (scratch > 0)
    text += fmt::format(
        "     scratch of {} bytes, zero before the first launch; launches that share it "
        "run one after the other\n",
        scratch);
  return text + "   All addresses are multiples of 256.";
}

}  // namespace

std::string kernel_file(const EmittedGemm& gemm, std::size_t kernel) {
  return fmt::format("{}.{}.{}", name_of(gemm.entry.gemm), kernel,
                     gemm.format == "rocm-hsaco" ? "hsaco" : "cubin");
}

Result<std::string> c_launcher(const EmittedGemm& gemm, std::string_view made) {
  const Api& api = gemm.format == "rocm-hsaco" ? kHip : kCuda;
  const std::string name = name_of(gemm.entry.gemm);
  std::vector<std::string> files, entries;
  std::vector<std::uint32_t> shared;
  std::int64_t scratch = 0;
  std::string launches;
  for (const problem::KernelPart& part : problem::kernels_of(gemm.launch, {})) {
    HONE_ASSIGN(const std::string text, launch_text(gemm, api, *part.launch, files.size()));
    launches += text;
    files.push_back(kernel_file(gemm, files.size()));
    entries.push_back(part.launch->entry);
    shared.push_back(part.launch->shared_bytes);
    scratch = std::max(scratch, part.launch->scratch_bytes);
  }
  const bool asks = &api == &kCuda && std::ranges::max(shared) > kPlainSharedBytes;
  const std::string ask =
      asks ? fmt::format(
                 "    if (code == CUDA_SUCCESS && shared[i] > {})\n"
                 "      code = cuFuncSetAttribute(gemm->functions[i],\n"
                 "          CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)shared[i]);\n",
                 kPlainSharedBytes)
           : "";
  const std::string shared_table =
      asks ? fmt::format("  static const unsigned shared[] = {{{}}};\n", list(shared)) : "";
  std::string parameters;
  for (const std::string& binding : bindings_of(gemm.entry.gemm))
    parameters += fmt::format("{} {}, ", api.pointer, binding);

  std::string text = fmt::format(
      "/* {0}: C = A B{1}, by code of {2}; written by hone.\n{3} */\n"
      "#ifndef {0}_H\n#define {0}_H\n\n{4}\n#include <stdint.h>\n#include <stdio.h>\n\n"
      "#define {0}_SCRATCH_BYTES {5}\n\n"
      "typedef struct {{\n  {6} modules[{7}];\n  {8} functions[{7}];\n}} {0}_t;\n\n",
      name, gemm.entry.gemm.bias ? " + bias" : "", made, describe(gemm.entry.gemm, scratch),
      api.header, scratch, api.module, files.size(), api.function);
  text += fmt::format(
      "/* Loads the kernels from their files in `folder`, into the current context. */\n"
      "static inline {1} {0}_load({0}_t *gemm, const char *folder) {{\n"
      "  static const char *const files[] = {{{2}}};\n"
      "  static const char *const entries[] = {{{3}}};\n{4}"
      "  for (int i = 0; i < {5}; ++i) {{\n"
      "    char path[4096];\n"
      "    snprintf(path, sizeof path, \"%s/%s\", folder, files[i]);\n"
      "    {1} code = {6}(&gemm->modules[i], path);\n"
      "    if (code == {7}) code = {8}(&gemm->functions[i], gemm->modules[i], entries[i]);\n{9}"
      "    if (code != {7}) return code;\n  }}\n  return {7};\n}}\n\n",
      name, api.result, list(files, "\""), list(entries, "\""), shared_table, files.size(),
      api.load, api.success, api.find, ask);
  text += fmt::format(
      "static inline {1} {0}_launch(const {0}_t *gemm, {2}{3} scratch, {4} stream) {{\n"
      "  {1} code;\n  (void)scratch;\n{5}  return {6};\n}}\n\n",
      name, api.result, parameters, api.pointer, api.stream, launches, api.success);
  text += fmt::format(
      "static inline void {0}_unload({0}_t *gemm) {{\n"
      "  for (int i = 0; i < {1}; ++i) (void){2}(gemm->modules[i]);\n}}\n\n#endif\n",
      name, files.size(), api.unload);
  return text;
}

}  // namespace hone::triton
