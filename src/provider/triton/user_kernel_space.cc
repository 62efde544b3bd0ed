#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "provider/triton/user_kernel.h"

namespace hone::triton {
namespace {

// Options of Triton's compilers, as python/user_kernel.py passes them.
constexpr std::array<std::string_view, 3> kCudaOptions{"num_warps", "num_stages", "maxnreg"};
constexpr std::array<std::string_view, 5> kHipOptions{"num_warps", "num_stages", "waves_per_eu",
                                                      "matrix_instr_nonkdim", "kpack"};

template <class Options>
bool is_in(const Options& options, const std::string& name) {
  return std::ranges::count(options, name) > 0;
}

bool is_option(const std::string& name) {
  return is_in(kCudaOptions, name) || is_in(kHipOptions, name);
}
bool is_knob_of(const std::string& name, const GemmDevice& device) {
  return !is_option(name) ||
         (device.is_cuda() ? is_in(kCudaOptions, name) : is_in(kHipOptions, name));
}

// The knobs that launches depend on.
std::set<std::string> knobs_in_expressions(const UserKernel& kernel) {
  space::Names names = names_of(Gemm(), {});
  for (std::size_t i = 0; i < kernel.knobs.size(); ++i)
    names.insert_or_assign(kernel.knobs[i].name,
                           space::Expression::variable(i, kernel.knobs[i].name));
  std::set<std::string> used;
  const auto add = [&](const std::string& text) {
    const auto expression = space::parse_expression(text, names);
    if (!expression) return;  // an operand's name
    for (const std::size_t i : space::variables_of(*expression)) used.insert(kernel.knobs[i].name);
  };
  for (const auto& argument : kernel.arguments) add(argument.second.text);
  for (const UserKernel::Constant& constant : kernel.constants) add(constant.text);
  for (const UserKernel::Text& extent : kernel.grid) add(extent.text);
  if (kernel.scratch) add(kernel.scratch->bytes.text);
  return used;
}

}  // namespace

space::Names names_of(const Gemm& gemm, const GemmDevice& device) {
  space::Names names{{"M", gemm.m},           {"N", gemm.n},
                     {"K", gemm.k},           {"batch", gemm.batch},
                     {"units", device.units}, {"shared_bytes", device.shared_bytes},
                     {"bias.stride(0)", 1}};
  const auto add = [&](const std::string& operand, std::int64_t rows, std::int64_t columns,
                       bool by_rows) {
    names.emplace(operand + ".stride(0)", by_rows ? columns : 1);
    names.emplace(operand + ".stride(1)", by_rows ? 1 : rows);
    names.emplace(operand + ".stride(batch)", rows * columns);
  };
  add("A", gemm.m, gemm.k, gemm.a_rows);
  add("B", gemm.k, gemm.n, gemm.b_rows);
  add("C", gemm.m, gemm.n, gemm.c_rows);
  return names;
}

Status check_parameters(const UserKernel& kernel, const std::vector<KernelParameter>& parameters) {
  std::vector<std::string> known;
  for (const KernelParameter& parameter : parameters) known.push_back(parameter.name);
  const auto find = [&](const std::string& name) {
    return std::ranges::find(parameters, name, &KernelParameter::name);
  };
  const auto at = [&](int line) { return provider::Place(kernel.manifest, line); };
  std::map<std::string, int> given;  // line by parameter
  const auto give = [&](const std::string& key, const std::string& name, int line) -> Status {
    if (find(name) == parameters.end())
      return at(line).error("{}: {} has no parameter '{}'{}; it has {}", key, kernel.function.text,
                            name, did_you_mean(name, known), fmt::join(known, ", "));
    if (const auto [other, fresh] = given.emplace(name, line); !fresh)
      return at(line).error("{}: {} is given in line {} too", key, name, other->second);
    return {};
  };
  for (const auto& [name, text] : kernel.arguments) {
    HONE_TRY(give("arguments", name, text.line));
    if (find(name)->constant)
      return at(text.line).error(
          "arguments: {} is a tl.constexpr; it belongs to constants or knobs", name);
  }
  for (const UserKernel::Constant& constant : kernel.constants)
    HONE_TRY(give("constants", constant.name, constant.line));
  const std::set<std::string> used = knobs_in_expressions(kernel);
  for (const UserKernel::Knob& knob : kernel.knobs) {
    if (find(knob.name) != parameters.end()) {
      HONE_TRY(give("knobs", knob.name, knob.line));
    } else if (!is_option(knob.name) && !used.contains(knob.name)) {
      known.insert(known.end(), kHipOptions.begin(), kHipOptions.end());
      known.emplace_back("maxnreg");
      return at(knob.line).error(
          "knobs: {} changes nothing: it is no parameter of {}, no option of the compiler and in "
          "no "
          "argument, constant, grid or scratch{}",
          knob.name, kernel.function.text, did_you_mean(knob.name, known));
    }
  }
  for (const KernelParameter& parameter : parameters)
    if (!parameter.has_default && !given.contains(parameter.name))
      return at(kernel.function.line)
          .error("kernel: the parameter {} of {} is given nowhere; it belongs to {}",
                 parameter.name, kernel.function.text,
                 parameter.constant ? "constants or knobs" : "arguments");
  return {};
}

Result<space::Space> user_kernel_space(const UserKernel& kernel, const Gemm& gemm,
                                       const GemmDevice& device) {
  const auto at = [&](int line) { return provider::Place(kernel.manifest, line); };
  const bool takes_bias = std::ranges::any_of(
      kernel.arguments, [](const auto& argument) { return argument.second.text == "bias"; });
  if (gemm.bias && !takes_bias)
    return at(kernel.function.line)
        .error("kernel: {} takes no bias, and {} has one", kernel.function.text, name_of(gemm));
  return provider::manifest_space(
      kernel, names_of(gemm, device),
      [&](const std::string& name) { return is_knob_of(name, device); }, name_of(gemm));
}

problem::Dispatch with_kernel(problem::Dispatch dispatch, const UserKernel& kernel) {
  nlohmann::json source = nlohmann::json::parse(dispatch.source, nullptr, false);
  source["kernel"] = kernel;
  // Replaces invalid UTF-8 of the manifest; the Python file is UTF-8.
  dispatch.source = source.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  dispatch.name += "_" + kernel.function.text;
  dispatch.executable = dispatch.name;
  return dispatch;
}

void to_json(nlohmann::json& json, const UserKernel& kernel) {
  // The folder is omitted, so that results hold wherever the kernel lies.
  json = {{"path", std::filesystem::path(kernel.path).filename().string()},
          {"text", kernel.text},
          {"function", kernel.function.text},
          {"arguments", nlohmann::json::array()},
          {"constants", nlohmann::json::array()},
          {"grid", nlohmann::json::array()},
          {"default", kernel.defaults}};
  for (const auto& [name, text] : kernel.arguments)
    json["arguments"].push_back(nlohmann::json::array({name, text.text}));
  for (const UserKernel::Constant& constant : kernel.constants) {
    nlohmann::json value = constant.text;
    if (constant.kind == "value") value = nlohmann::json::parse(constant.text, nullptr, false);
    json["constants"].push_back(
        nlohmann::json::array({constant.name, nlohmann::json{{constant.kind, value}}}));
  }
  for (const UserKernel::Text& extent : kernel.grid) json["grid"].push_back(extent.text);
  if (kernel.scratch)
    json["scratch"] = {{"bytes", kernel.scratch->bytes.text}, {"type", kernel.scratch->type}};
}

}  // namespace hone::triton
