#include <fmt/format.h>

#include <array>

#include "provider/triton/configuration_keys.h"
#include "provider/triton/emitted_gemm.h"
#include "provider/triton/type_names.h"

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

}  // namespace hone::triton
