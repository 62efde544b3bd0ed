// A user's own @triton.jit function that computes a GEMM, and its manifest (YAML). The manifest
// states how it is launched and what may be tuned (docs/kernels.md).
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "problem/dispatch.h"
#include "provider/kernel_manifest.h"
#include "provider/triton/gemm_device.h"
#include "space/expression_parser.h"
#include "space/space.h"

namespace hone::triton {

struct UserKernel : provider::KernelManifest {
  // A compile-time parameter that is no knob. `kind`: "value" (`text` is JSON), "expression" or
  // "type" (A.dtype, tl.float32).
  struct Constant {
    std::string name, kind, text;
    int line = 0;
  };
  struct Scratch {
    Text bytes;        // an expression
    std::string type;  // of an element, hone's name
  };

  std::string path, text;                               // of the Python file
  std::vector<std::pair<std::string, Text>> arguments;  // run-time ones by name
  std::vector<Constant> constants;
  std::optional<Scratch> scratch;
};

// A parameter of the function, as its def says it.
struct KernelParameter {
  std::string name;
  bool constant = false;  // tl.constexpr
  bool has_default = false;

  bool operator==(const KernelParameter&) const = default;
};

// Reads a manifest. `path` and `text` are the Python file's. Input errors begin with the manifest's
// path and line: no YAML, a key that is missing, unknown (nearest names) or of another form, an
// expression that cannot be read (column), a name in it that is neither a size nor a knob.
Result<UserKernel> read_user_kernel(const std::string& manifest, const std::string& manifest_text,
                                    std::string path, std::string text);

// Checks the manifest against the function. Each parameter without a default needs exactly one
// value, and each value a parameter. Run-time values are for run-time parameters, and each knob
// must be used. Input errors as above.
Status check_parameters(const UserKernel& kernel, const std::vector<KernelParameter>& parameters);

// Names that expressions may use for `gemm` besides knobs: M, N, K, batch, units, shared_bytes and
// A.stride(0), in elements.
space::Names names_of(const Gemm& gemm, const GemmDevice& device);

// Returns the knobs and rules for `gemm`, without knobs that are options of only the other vendor's
// compiler. An input error if the manifest's default breaks a rule or has no value in a domain.
Result<space::Space> user_kernel_space(const UserKernel& kernel, const Gemm& gemm,
                                       const GemmDevice& device);

// The dispatch of dispatch_of(gemm) as this kernel computes it: the kernel, with the whole file, is
// part of its source and so of its fingerprint.
problem::Dispatch with_kernel(problem::Dispatch dispatch, const UserKernel& kernel);

// JSON form that python/user_kernel.py reads.
void to_json(nlohmann::json& json, const UserKernel& kernel);

// A Python file with a user's kernel, as Python itself reads it; nothing of it is run. Returns the
// parameters of `function` in the file `path`, as the interpreter `python` reads them (0.1 s).
// Input errors, "my_kernel.py:12: ...": a syntax error, no such function at the top level (nearest
// names), a function without @triton.jit. An import from the file's own folder is an error too: a
// kernel is one file, since its content is the key of its results. An environment error if Python
// does not run.
Result<std::vector<KernelParameter>> kernel_parameters(const std::filesystem::path& python,
                                                       const std::string& path,
                                                       const std::string& function);

}  // namespace hone::triton
